"""The bench in the record of a run: tags, each named by the place of its value.

Tags are none of a run's identity: who scanned changes no number.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from pipeline.store.bench import Lab
from pipeline.store.leaves import flat

TAG = "lab."


def bench_tags(lab: Lab) -> dict[str, str]:
    """Each value that a bench states, by its place."""
    stated = lab.model_dump(exclude_none=True)
    return {f"{TAG}{name}": str(value) for name, value in flat(stated) if value != ""}


def bench_in(tags: Mapping[str, str]) -> Lab:
    """The bench that the tags of a run hold."""
    stated: dict[str, Any] = {}
    for name, value in tags.items():
        if name.startswith(TAG):
            *places, last = name.removeprefix(TAG).split(".")
            inner = stated
            for place in places:
                inner = inner.setdefault(place, {})
            inner[last] = value
    return Lab.model_validate(stated, strict=False)


class Called(Protocol):
    """A part of the bench that has a name."""

    @property
    def called(self) -> str:
        """What a person calls it."""


def said_of(lab: Lab) -> list[str]:
    """What a bench states: a line each of scanner, print, operator and ball bar."""
    parts: dict[str, tuple[Called | None, ...]] = {
        "scanner": (lab.scanner, lab.certificate),
        "print": (lab.print_job, lab.material, lab.printer),
        "operator": (lab.operator,),
        "ball bar": (lab.ball_bar,),
    }
    said = {
        name: ", ".join(one.called for one in several if one is not None)
        for name, several in parts.items()
    }
    return [f"{name} {text}" for name, text in said.items() if text]
