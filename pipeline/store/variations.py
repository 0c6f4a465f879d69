"""What tells a run from the others of its case: the values that are its own."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.config.hydra import Composer
from pipeline.store.files import read_json
from pipeline.store.leaves import flat
from pipeline.terminal.errors import InputError, lacks_machine

LONGEST_VALUE = 30
MOST_VALUES = 8


class Variations:
    """Reads the points of each study, and composes each case, once.

    Parameters
    ----------
    results : holds study/<study>/members.json
    """

    def __init__(self, results: Path) -> None:
        self._results = results
        self._points: dict[tuple[str, int], dict[str, Mapping[str, Any]]] = {}
        self._cases: dict[str, dict[str, Any]] = {}

    def of(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """The values by dotted name: of its point in a study, else unlike its case."""
        point = self.of_member(record.get("tags", {}).get("study"), record["key"])
        if point:
            return point
        return self._unlike_case(record) if record["step"] == "simulate" else {}

    def of_member(self, study: str | None, key: str) -> dict[str, Any]:
        """The point of a run in its study; empty where it is in none."""
        return dict(self._members(study).get(key) or {}) if study else {}

    def beside(self, name: str, study: str | None, key: str) -> str:
        """What a run is called, and after it the values of its point in a study."""
        return f"{name} {said(self.of_member(study, key), short=True)}".strip()

    def _members(self, study: str) -> dict[str, Mapping[str, Any]]:
        path = self._results / "study" / study / "members.json"
        try:
            known = (study, path.stat().st_mtime_ns)  # a search adds to it
            if known not in self._points:
                rows = read_json(path)["members"]
                self._points[known] = {row["key"]: row["point"] for row in rows}
        except (OSError, InputError, KeyError, TypeError) as error:
            if lacks_machine(error):  # else a run would be called by other values
                raise
            return {}
        return self._points[known]

    def _unlike_case(self, record: Mapping[str, Any]) -> dict[str, Any]:
        case = str(record.get("tags", {}).get("case") or record["name"])
        if case not in self._cases:
            self._cases[case] = _plain(case)
        plain = self._cases[case]
        if not plain:
            return {}
        own = flat(record["config"])
        return {k: v for k, v in own if k not in plain or plain[k] != v}


def _plain(case: str) -> dict[str, Any]:
    """The leaves of the case as conf has it now; none where conf has it no more."""
    try:
        with Composer() as composer:
            return dict(flat(composer.outline("simulate", [f"case={case}"])))
    except InputError:
        return {}


def said(values: Mapping[str, Any], *, short: bool = False) -> str:
    """The values on one line.

    Parameters
    ----------
    short : name each by its last part, where no other has the same
    """
    last = [name.rpartition(".")[2] for name in values]
    words = [
        f"{end if short and last.count(end) == 1 else name}={_cut(value)}"
        for (name, value), end in zip(values.items(), last, strict=True)
    ]
    more = len(words) - MOST_VALUES
    return " ".join(words[:MOST_VALUES] + [f"and {more} more"] * (more > 0))


def _cut(value: Any) -> str:
    text = str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"
