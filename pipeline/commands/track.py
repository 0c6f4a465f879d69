"""Bring every run that is not in MLflow yet into it: morphtrack track.

Reads results/runs and results/failed, writes to the store that conf/tracking.yaml or
MLFLOW_TRACKING_URI names. A second pass adds nothing; a lost database is refilled.
With --follow, go on: steps of runs that are still going appear within seconds, until
Ctrl-C or the end of standard input.
"""

from pipeline.store.leases import sweep_dead
from pipeline.store.runs import RESULTS
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import (
    FAILED,
    RunFailedError,
    command,
)
from pipeline.tracking.options import read_options, without_secrets
from pipeline.tracking.store import Store, only_writer
from pipeline.tracking.track import Tracker, attempted, follow


def arguments() -> OneLineParser:
    parser = OneLineParser("track", __doc__)
    parser.add_argument(
        "--follow", action="store_true", help="go on until told to stop"
    )
    parser.add_argument(
        "--patience",
        type=float,
        default=60.0,
        help="seconds to wait for another tracker",
    )
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Bring the missing runs into MLflow and say how many there were."""
    options = arguments().parse_args(argv)
    place = RESULTS / "mlflow"
    with only_writer(place, options.patience):
        sweep_dead(RESULTS)
        store = Store(read_options(), place)
        tracker = Tracker(store)
        if options.follow:
            follow(tracker)
        trouble = attempted(tracker, tracker.conclude)
    print(f"MLflow: {tracker.written} runs added to {without_secrets(store.uri)}")
    if trouble:
        raise RunFailedError(f"{trouble} (nothing is lost: run it again later)")
    return 0 if tracker.sound else FAILED
