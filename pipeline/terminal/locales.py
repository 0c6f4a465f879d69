"""The locale of the process, which libraries change behind one's back."""

import contextlib
import locale
from collections.abc import Iterator


@contextlib.contextmanager
def kept_locale() -> Iterator[None]:
    """Undo what lib3mf does when it writes or reads: it sets the locale to C."""
    held = locale.setlocale(locale.LC_ALL)
    try:
        yield
    finally:
        locale.setlocale(locale.LC_ALL, held)
