"""A mechanism as built, from scans of several poses: morphtrack calibrate.

POSE is the folder of a finished comparison; two poses or more tell joint play from
lengths. Or one file of conf/calibration, which describes synthetic poses. Writes
deviations.csv, spread.csv, covariance.npz, as_built.json (a structure file) and, after
every pose was simulated and compared again with it, again.csv.
"""

from argparse import BooleanOptionalAction, Namespace
from dataclasses import fields
from pathlib import Path

from pipeline.steps.calibrate import SyntheticPoses, run_synthetic
from pipeline.steps.calibration.file import composed
from pipeline.steps.calibration.poses import PoseFolders, by_hand, folders_of
from pipeline.steps.calibration.run import run_step
from pipeline.steps.calibration.settings import PAIR, PLACE, Settings
from pipeline.terminal.arguments import OneLineParser, output_directory
from pipeline.terminal.errors import InputError, command

LISTS = {"references": ("--reference", PAIR), "leave_out": ("--leave-out", PLACE)}

HELP = {
    "links": "own, equal (alike by nominal length) or nominal",
    "bodies": "the same, of edges of bodies",
    "joints": "the same, of offsets of joints",
    "link_play": "links have play, anew in each pose",
    "joint_play": "so have joints",
    "scatter": "centres scatter more than their scans say",
    "scale": "estimate the scanner's scale, from a --reference",
    "scan_scale_sd": "its relative uncertainty otherwise",
    "again": "simulate and compare every pose again",
}


def arguments() -> OneLineParser:
    parser = OneLineParser("calibrate", __doc__)
    parser.add_argument("poses", nargs="*", type=Path, metavar="POSE")
    parser.add_argument(
        "--pose", nargs=3, action="append", default=[], type=Path,
        metavar=("COMPARISON", "SPHERES", "SIMULATED"),
        help="a pose whose comparison was made by hand",
    )  # fmt: skip
    parser.add_argument("--out", type=output_directory, required=True)
    for field in fields(Settings):
        flag = "--" + field.name.replace("_", "-")
        if field.type is bool:
            switch = BooleanOptionalAction
            parser.add_argument(
                flag, action=switch, default=field.default, help=HELP[field.name]
            )
        elif field.name in LISTS:
            flag, what = LISTS[field.name]
            parser.add_argument(
                flag, dest=field.name, action="append", default=[], help=what
            )
        else:
            what = f"{HELP[field.name]} ({field.default})"
            kind = type(field.default)
            parser.add_argument(flag, type=kind, default=field.default, help=what)
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Calibrate once and print what was found."""
    given = arguments().parse_args(argv)
    if len(given.poses) == 1 and given.poses[0].suffix == ".yaml":
        _refuse_beside_a_file(given)
        numbers = run_synthetic(SyntheticPoses(**composed(given.poses[0])), given.out)
    else:
        folders = [folders_of(path) for path in given.poses]
        folders += by_hand([PoseFolders(one[0].name, *one) for one in given.pose])
        values = {f.name: getattr(given, f.name) for f in fields(Settings)}
        values |= {name: tuple(values[name]) for name in LISTS}
        numbers = run_step(Settings(**values), folders, given.out)
    for name, value in numbers.items():
        print(f"{name}: {value}")
    if (sd := numbers.get("printing_sd_mm")) and not numbers["synthetic"]:
        print(f"for comparisons of this printer: --printing-sd-mm {sd:.2g}")
    return 0


def _refuse_beside_a_file(given: Namespace) -> None:
    """A file says everything: an option would have no effect."""
    heeded = ("poses", "out")
    plain = vars(arguments().parse_args(["--out", str(given.out)]))
    for name, value in vars(given).items():
        if name not in heeded and value != plain[name]:
            flag = LISTS[name][0] if name in LISTS else "--" + name.replace("_", "-")
            raise InputError(
                f"{flag} is not heeded beside a file: write it into "
                f"{given.poses[0]}, under settings"
            )
