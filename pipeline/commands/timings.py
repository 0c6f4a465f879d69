"""Measure times on this machine: morphtrack timings CASE [--anew].

CASE is a file of conf/case that measures times, such as computing_time. Its repeats are
added to those in results/timings/MACHINE/CASE.csv, and make figures draws the figures
that show them again. Measure while nothing else runs.
"""

from pipeline.config.hydra import Composer
from pipeline.config.project import project_folder
from pipeline.results.timings_file import read_kept, repeats_of_each
from pipeline.steps.timings import measure, timing_of
from pipeline.store.timings_place import kept_path
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import command
from pipeline.terminal.progress import progress


def arguments() -> OneLineParser:
    parser = OneLineParser("timings", __doc__)
    parser.add_argument("case", help="a file of conf/case, without .yaml")
    parser.add_argument(
        "--anew", action="store_true", help="forget what was measured here before"
    )
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Measure once more and say what is kept."""
    with project_folder(arguments().parse_args(argv)) as given:
        return _measured(given.case, anew=given.anew)


def _measured(name: str, *, anew: bool) -> int:
    with Composer() as composer:
        config = timing_of(name, composer)
    path = kept_path(name)
    with progress(f"timing {name}", "step lengths") as advance:
        for h in measure(config, path, anew=anew):
            advance(f"h {1e3 * h:g} ms")
    kept = read_kept(path, config["case"])
    sessions, each = kept["taken"].nunique(), repeats_of_each(kept)
    print(f"{each} repeats of each, sessions: {sessions}: {path}")
    return 0
