"""Open MLflow's pages on the runs: python -m pipeline.ui [--port 5000].

The server answers on the loopback address only.
"""

import os
import sys

from pipeline.arguments import OneLineParser, port_number
from pipeline.errors import command
from pipeline.index.ports import LOOPBACK, check_port
from pipeline.index.tracking import tracking_uri
from pipeline.track import read_options


@command
def main(argv: list[str] | None = None) -> int:
    """Replace this process by MLflow's server."""
    parser = OneLineParser(prog="python -m pipeline.ui", description=__doc__)
    parser.add_argument("--port", type=port_number, default=5000)
    port = parser.parse_args(argv).port
    check_port(LOOPBACK, port)
    print(f"MLflow on http://{LOOPBACK}:{port} (this machine only); Ctrl-C ends it")
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    words = ["--backend-store-uri", tracking_uri(read_options())]
    words += ["--host", LOOPBACK, "--port", str(port)]
    line = [sys.executable, "-m", "mlflow", "ui", *words]
    os.execve(sys.executable, line, environment)


if __name__ == "__main__":
    sys.exit(main())
