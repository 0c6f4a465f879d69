"""Where a structure can go: morphtrack branches case=<case> [case.key=value].

Of a case of branches (four_bar_branches, toggle_branches, ...) or of morphing: whether
paths of the mechanism cross at its initial configuration, and where each of them leads;
with --at rest, whether the morph of the case rests at a configuration from which E
falls further, and where it ends on either side. Writes branches.csv, steps.csv,
steps.npz and run.json into results/branches/<case>.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.cases.branches import BranchCase, SaddleCase
from pipeline.cases.morph import MorphCase
from pipeline.commands.case_command import OVERRIDES, named_case, record_aside
from pipeline.config.building import build
from pipeline.config.hydra import Composer
from pipeline.terminal.arguments import OneLineParser, output_directory
from pipeline.terminal.errors import DONE, InputError, command, one_line
from sim.morph.morphing.branches import CrossingKind

SAID = {
    CrossingKind.RIGID: "nothing moves: there are no first-order motions but rigid "
    "ones",
    CrossingKind.REGULAR: "regular: one smooth set of configurations, dimension "
    "{dimension}",
    CrossingKind.ISOLATED: "isolated: {null_space} first-order motions that lead "
    "nowhere",
    CrossingKind.BRANCHES: "{branches} branches of dimension {dimension} meet",
    CrossingKind.CONE: "no simple bifurcation: a null space of {null_space} "
    "dimensions, directions of {dimension}; samples of them are followed",
}


def branches_of(case: Any, at: str) -> BranchCase | SaddleCase:
    """The case itself, or what becomes of a morph's start or rest."""
    if isinstance(case, BranchCase) and at == "rest":
        raise InputError(
            "--at rest is for morphs, and this case is of branches at its start: leave "
            "it out, or choose a case of morphing"
        )
    if isinstance(case, BranchCase | SaddleCase):
        return case
    if not isinstance(case, MorphCase):
        raise InputError(
            "this case has no constraints that could branch: choose one of branches, "
            "or of morphing"
        )
    if at == "rest":
        tolerance = 1e-9 if case.tolerance is None else case.tolerance
        return SaddleCase(
            case.solid, case.shape, tolerance, case.max_steps, case.residual
        )
    try:
        return BranchCase(case.structure, residual=case.residual)
    except ValueError as error:
        raise InputError(one_line(error)) from error


def said(case: BranchCase | SaddleCase, found: Mapping[str, Any]) -> str:
    """What the configuration is, in one line."""
    if isinstance(case, BranchCase):
        return SAID[CrossingKind(found["configuration"])].format(**found)
    if not found["negative_motions"]:
        return "a minimum: no motion lowers E from where the morph rests"
    motions = found["negative_motions"]
    return f"a saddle: E falls along {motions} motion{'s' * (motions > 1)}, both ways"


def arguments() -> OneLineParser:
    parser = OneLineParser("branches", __doc__)
    parser.add_argument("overrides", **OVERRIDES)
    parser.add_argument(
        "--at",
        choices=("start", "rest"),
        default="start",
        help="of a morph: where it begins, or where it comes to rest",
    )
    parser.add_argument(
        "--out",
        type=output_directory,
        help="folder to write into (default: results/branches/<case>)",
    )
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Follow the branches of the case that the command line names."""
    asked = arguments().parse_args(argv)
    name = named_case(asked.overrides)
    with Composer() as composer:
        config = composer.compose("simulate", asked.overrides)
    case = branches_of(build(config["case"], "case"), asked.at)
    out = asked.out or Path("results/branches") / name
    found = record_aside(case, name, config, out)
    print(said(case, found))
    return DONE
