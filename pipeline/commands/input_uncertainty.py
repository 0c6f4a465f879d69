"""What printing errors do to a simulated shape: morphtrack input_uncertainty.

Runs the case of a finished simulation again with other link lengths, as often as
asked, and writes the covariance of the last configurations, and that of their nodes'
distances from the target, to input_covariance.npz, which morphtrack compare takes
into the budget.
"""

from dataclasses import fields
from pathlib import Path

from pipeline.formats.printed_scale import SCALE_HELP, scale_mm
from pipeline.steps.input_uncertainty import InputUncertainty, run_step
from pipeline.store.named_runs import RUN_HELP, printable_run
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import command


def arguments() -> OneLineParser:
    parser = OneLineParser("input_uncertainty", __doc__)
    parser.add_argument(
        "--simulated", type=printable_run, required=True, metavar="RUN", help=RUN_HELP
    )
    parser.add_argument("--out", type=Path, required=True, help="folder to write into")
    parser.add_argument("--scale-mm", type=float, help=SCALE_HELP)
    for field in fields(InputUncertainty)[1:]:
        flag = "--" + field.name.replace("_", "-")
        parser.add_argument(flag, type=type(field.default), default=field.default)
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Write the covariance and say how large it is."""
    given = arguments().parse_args(argv)
    given.scale_mm = scale_mm(given.scale_mm, given.simulated)
    config = InputUncertainty(
        **{f.name: getattr(given, f.name) for f in fields(InputUncertainty)}
    )
    numbers = run_step(config, given.simulated, given.out)
    print(
        f"{numbers['node_u_mm']:.3f} mm a node (rms) from {numbers['draws']} prints, "
        f"{numbers['not_converged']} of which did not converge"
    )
    return 0
