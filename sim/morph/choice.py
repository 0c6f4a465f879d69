"""Options that are words."""

from enum import Enum
from typing import NoReturn


class Choice(Enum):
    """An option with a few values; a wrong word tells which there are."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        words = ", ".join(str(member.value) for member in cls)
        raise ValueError(
            f"{cls.__name__.lower()} is {value!r}: choose one of {words}"
        ) from None
