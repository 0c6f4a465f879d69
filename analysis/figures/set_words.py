"""What captions say of a measured set."""

from collections.abc import Iterable, Sequence

from analysis.figures.shown_set import ShownSet

NAMED = 6  # tests, or inputs, that are named one by one in the caption


def roles(of: ShownSet) -> str:
    """What was fitted, on which tests, and what was predicted, for the caption."""
    there = {r for f in of.families for r in f.measured["record"]}
    fitted = [r for r in of.records if r in of.fitted]
    others = [r for r in of.records if r not in of.fitted]
    awaited = [r for r in others if r not in there]
    said = []
    if fitted:
        said.append(f"Fitted: {_counted(of.inputs, 'inputs')} on {_whose(of, fitted)}")
    else:
        said.append("Nothing fitted")
    if seen := [r for r in others if r in there]:
        said.append(f"Predicted: {_whose(of, seen)}")
    if awaited:
        said.append(f"Predicted, not yet measured: {_whose(of, awaited)}")
    return ". ".join(said)


def _whose(of: ShownSet, records: Sequence[str]) -> str:
    """Tests of some records, and how many there are."""
    names = list(dict.fromkeys(of.names[record] for record in records))
    many = f"{len(records)} record{'s' * (len(records) > 1)}"
    return f"{', '.join(names)} ({many})" if len(names) <= NAMED else many


def _counted(names: Sequence[str], what: str) -> str:
    """Names of a few; how many there are of more."""
    shown = ", ".join(name.replace("_", " ") for name in names)
    return shown if 0 < len(names) <= NAMED else f"{len(names)} {what}"


def verdicts_in_words(given: Iterable[tuple[str, str, str]]) -> str:
    """What the verdicts are of: of each, quantities whose parts are alike together.

    Parameters
    ----------
    given : quantity, part (fitted, left out, predicted) and verdict
    """
    parts: dict[tuple[str, str], list[str]] = {}
    for quantity, part, verdict in given:
        parts.setdefault((verdict, quantity.replace("_", " ")), []).append(part)
    alike: dict[str, dict[str, list[str]]] = {}
    for (verdict, quantity), own in parts.items():
        alike.setdefault(verdict, {}).setdefault(", ".join(own), []).append(quantity)
    return (
        "; ".join(
            f"{verdict}: " + ", ".join(f"{', '.join(q)} ({of})" for of, q in by.items())
            for verdict, by in alike.items()
        )
        or "none yet"
    )


def foot(of: ShownSet) -> str:
    """What stands below the panels."""
    more = (
        "$E$ = predicted \N{MINUS SIGN} measured. Validation agrees where rms $E$ and "
        rf"{of.k:g}$u_\mathrm{{val}}$, what chance may add, are together within the "
        "aim, differs where rms $E$ is larger than that chance, and else cannot tell. "
    )
    if any(family.about for family in of.families):
        more += "Lines about a mean: both branches; loop: half their difference. "
    return more + of.caption
