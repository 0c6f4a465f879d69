"""What to drive: morphtrack actuation case=<case> [case.key=value ...].

Of a case of actuation (drive_four_bar, drive_miura, ...), a morph or a folding with
single hinges: which coordinates to drive so that the end of its run is reached and
held, how well they are placed, and the forces that they need; of a case of a structure
that snaps: its stable states and the barriers between them. Writes actuation.csv,
steps.csv, steps.npz and run.json into results/actuation/<case>.
"""

from pathlib import Path
from typing import Any

from pipeline.cases.actuation import ActuationCase
from pipeline.cases.driven_paths import DrivenFold, DrivenMorph
from pipeline.cases.fold_snap import FoldSnapCase
from pipeline.cases.morph import MorphCase
from pipeline.cases.origami import OrigamiCase
from pipeline.cases.snap import SnapCase
from pipeline.commands.case_command import OVERRIDES, record_aside
from pipeline.config.building import build
from pipeline.config.hydra import Composer
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, InputError, command


def actuation_of(case: Any) -> ActuationCase | FoldSnapCase | SnapCase:
    """The case itself, or what drives along its run."""
    if isinstance(case, ActuationCase | FoldSnapCase | SnapCase):
        return case
    try:
        if isinstance(case, MorphCase):
            return ActuationCase(DrivenMorph(case))
        if isinstance(case, OrigamiCase):
            return ActuationCase(DrivenFold(case))
    except ValueError as error:
        raise InputError(str(error)) from error
    raise InputError(
        "nothing here tells what may be driven: choose a case of actuation, of "
        "morphing, or of folding"
    )


def arguments() -> OneLineParser:
    parser = OneLineParser("actuation", __doc__)
    parser.add_argument("overrides", **OVERRIDES)
    parser.add_argument("--out", type=Path, help="folder to write into")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Judge the drivers of the case that the command line names."""
    asked = arguments().parse_args(argv)
    with Composer() as composer:
        config = composer.compose("simulate", asked.overrides)
    case = actuation_of(build(config["case"], "case"))
    named = [o.removeprefix("case=") for o in asked.overrides if o[:5] == "case="]
    name = named[0] if named else "case"
    out = asked.out or Path("results/actuation") / name
    record_aside(case, name, config, out)
    return DONE
