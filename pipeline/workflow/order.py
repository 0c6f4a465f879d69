"""What of a plan is asked for, and what of it is made first."""

from collections.abc import Collection, Mapping
from typing import Any

from pipeline.store.plan_file import TABLE, closure
from pipeline.terminal.errors import InputError
from pipeline.terminal.names import no_such

COMPARISONS = "comparisons"  # in place of the name of a figure


def check_figure(figure: str, known: Collection[str]) -> None:
    """Refuse a figure that conf/workflow.yaml does not have."""
    if figure and figure != COMPARISONS and figure not in known:
        raise no_such("conf/workflow.yaml has no figure", figure, known)


def goal_of(figure: str) -> str:
    """The one figure that is asked for; "" where it is more than one."""
    return "" if figure == COMPARISONS else figure


def asked(plan: Mapping[str, Any], figure: str) -> list[str]:
    """Every name of the plan; those of one figure, or of the comparisons.

    A figure comes with the tables of its studies, the comparisons with the figures
    that show them.
    """
    names: Mapping[str, Any] = plan["names"]
    if not figure:
        return list(names)
    check_figure(figure, plan["figures"])
    if figure == COMPARISONS and COMPARISONS not in plan["figures"]:
        return _of_comparisons(plan)
    below = closure(plan, [f"figure/{figure}"])
    studies = {names[name]["study"] for name in below} - {""}
    return [f"figure/{figure}", *(f"{TABLE}/{study}" for study in sorted(studies))]


def _of_comparisons(plan: Mapping[str, Any]) -> list[str]:
    compared = [f"compare/{name}" for name in plan["comparisons"]]
    if not compared:
        raise InputError("conf/workflow.yaml has no comparisons: add one")
    drawn = [f"figure/{figure}" for figure in plan["figures"]]
    return compared + [
        name for name in drawn if plan["names"][name]["reads"].get("comparisons")
    ]


def in_order(plan: Mapping[str, Any]) -> list[str]:
    """Every name, the first to be made first: as conf/workflow.yaml lists them.

    The comparisons and the figures of them, then each figure and what it shows, then
    what is left, such as measured series.
    """
    if "comparisons" not in plan:  # the plan of a study
        return list(plan["names"])
    first = _of_comparisons(plan) if plan["comparisons"] else []
    wanted = [*first, *(f"figure/{figure}" for figure in plan["figures"])]
    ordered: dict[str, None] = {}
    for name in wanted:
        ordered.update(dict.fromkeys(closure(plan, [name])))
    return [*ordered, *(name for name in plan["names"] if name not in ordered)]


def ranks(plan: Mapping[str, Any]) -> dict[str, int]:
    """A number a name, greater where it is made earlier."""
    ordered = in_order(plan)
    return {name: len(ordered) - i for i, name in enumerate(ordered)}
