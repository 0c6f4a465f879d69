"""A study of N cheap runs, whole: python -m tests.bench.bench_large_study [N].

Wall time, the peak memory of each kind of process, files and bytes left behind, and
how fast MLflow's pages answer afterwards.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from pipeline.index.ports import free_port
from tests.bench.bench_studies import cpu_and_wall, environment, furnish

KINDS = ("pipeline.study", "snakemake", "pipeline.run", "pipeline.track")
ASKED = 7  # times each question is put to MLflow


def peaks(folder: Path, stop: threading.Event) -> dict[str, float]:
    """Peak resident memory of each kind of process that works in `folder`, in GB."""
    most = dict.fromkeys(KINDS, 0.0)
    while not stop.wait(0.5):
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").resolve() != folder.resolve():
                    continue
                line = (process / "cmdline").read_text().replace("\0", " ")
                status = (process / "status").read_text()
            except OSError:
                continue
            for kind in KINDS:
                if f"-m {kind}" in line and "VmHWM" in status:
                    kilobytes = int(status.split("VmHWM:")[1].split()[0])
                    most[kind] = max(most[kind], kilobytes / 1e6)
    return most


def answers(port: int, runs: int) -> dict[str, float]:
    """Seconds, median, for what MLflow's pages ask: runs, children, one history."""

    def ask(path: str, body: dict[str, Any]) -> Any:
        data = json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        address = f"http://127.0.0.1:{port}/api/2.0/mlflow/{path}"
        request = urllib.request.Request(address, data, headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    found = ask("experiments/search", {"max_results": 10})["experiments"]
    (experiment,) = (e["experiment_id"] for e in found if e["name"] == "morphtrack")
    newest = {"experiment_ids": [experiment], "max_results": 100}
    sorted_by = {**newest, "order_by": ["metrics.`final.E` DESC"]}
    filtered = {**newest, "filter": "metrics.`final.E` > 0 and tags.step = 'simulate'"}
    assert len(ask("runs/search", filtered)["runs"]) == min(runs, 100)
    seconds = {}
    for name, body in (
        ("newest 100", newest),
        ("sorted by a metric", sorted_by),
        ("filtered", filtered),
    ):
        walls = []
        for _ in range(ASKED):
            start = time.perf_counter()
            ask("runs/search", body)
            walls.append(time.perf_counter() - start)
        seconds[name] = statistics.median(walls)
    return seconds


def ask_pages(folder: Path, runs: int) -> dict[str, float]:
    """Start the pages on the study's store and put the questions."""
    port = free_port()
    words = [sys.executable, "-m", "pipeline.ui", "--port", str(port)]
    quiet = subprocess.DEVNULL
    server = subprocess.Popen(
        words, cwd=folder, env=environment(), stdout=quiet, stderr=quiet
    )
    try:
        for _ in range(240):
            try:
                return answers(port, runs)
            except urllib.error.URLError:
                time.sleep(0.5)
        sys.exit("MLflow's pages did not answer within two minutes")
    finally:
        server.terminate()
        server.wait()


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        furnish(folder, runs)
        stop = threading.Event()
        seen: dict[str, float] = {}
        watcher = threading.Thread(target=lambda: seen.update(peaks(folder, stop)))
        watcher.start()
        study = [sys.executable, "-m", "pipeline.study", "trivial"]
        cpu, wall = cpu_and_wall(study, folder)
        stop.set()
        watcher.join()
        results = folder / "results"
        files = [p for p in results.rglob("*") if p.is_file()]
        store = (results / "mlflow" / "mlflow.db").stat().st_size
        used = subprocess.run(
            ["du", "-sk", str(results)], capture_output=True, text=True, check=True
        )
        pages = ask_pages(folder, runs)
    print(f"{runs} runs: wall {wall:.0f} s, CPU {cpu:.0f} s")
    print("  peak GB: " + ", ".join(f"{k} {v:.2f}" for k, v in seen.items()))
    print(f"  {len(files)} files, {int(used.stdout.split()[0]) / 1e6:.2f} GB on disk")
    print(
        f"  MLflow's database: {store / 1e6:.1f} MB, {store / runs / 1e3:.2f} kB a run"
    )
    for question, seconds in pages.items():
        print(f"  pages, {question}: {seconds:.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
