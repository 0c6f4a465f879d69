"""Open MLflow's pages on the runs: morphtrack ui [--port 5000].

The server answers on the loopback address only.
"""

import os
import sys

from pipeline.commands.server import bounded
from pipeline.terminal.arguments import OneLineParser, port_number
from pipeline.terminal.errors import command
from pipeline.tracking.database import prepare
from pipeline.tracking.options import read_options, tracking_uri
from pipeline.tracking.ports import LOOPBACK, check_port


def arguments() -> OneLineParser:
    parser = OneLineParser("ui", __doc__)
    parser.add_argument("--port", type=port_number, default=5000)
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Replace this process by MLflow's server."""
    port = arguments().parse_args(argv).port
    check_port(LOOPBACK, port)
    print(f"MLflow on http://{LOOPBACK}:{port} (this machine only); Ctrl-C ends it")
    uri = tracking_uri(read_options())
    prepare(uri, thorough=True)
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    words = ["--backend-store-uri", uri]
    words += [*bounded(), "--host", LOOPBACK, "--port", str(port)]
    line = [sys.executable, "-m", "mlflow", "ui", *words]
    os.execve(sys.executable, line, environment)
