"""Options that are words."""

import re
from enum import Enum
from typing import NoReturn


class Choice(Enum):
    """An option with a few values; a wrong word tells which there are."""

    @classmethod
    def _missing_(cls, value: object) -> NoReturn:
        option = re.sub("(?<=[a-z])(?=[A-Z])", " ", cls.__name__).lower()
        words = ", ".join(str(member.value) for member in cls)
        raise ValueError(f"{option} is {value!r}: choose one of {words}") from None
