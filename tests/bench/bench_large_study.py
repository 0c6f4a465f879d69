"""A study of N cheap runs, whole: python -m tests.bench.bench_large_study [N].

Wall time, the peak memory of each kind of process, files and bytes left behind, and
how fast MLflow's pages answer afterwards.
"""

import contextlib
import json
import sqlite3
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

from pipeline.tracking.ports import free_port
from tests.bench.bench_studies import cpu_and_wall, environment, furnish

# What stands in the command line of each kind of process.
KINDS = {
    "study": "-m pipeline study ",
    "Snakemake": "-m snakemake ",
    "job": "morphtrack run ",
    "tracker": "-m pipeline track ",
    "table": "-m pipeline study_table ",
    "MLflow's pages, a worker": "multiprocessing.spawn",
}
TABLES = ("runs", "params", "metrics", "latest_metrics", "tags", "inputs")
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
            for kind, words in KINDS.items():
                if words in line and "VmHWM" in status:
                    kilobytes = int(status.split("VmHWM:")[1].split()[0])
                    most[kind] = max(most[kind], kilobytes / 1e6)
    return most


def rows_of(database: Path) -> dict[str, int]:
    """Rows of MLflow's tables."""
    with contextlib.closing(sqlite3.connect(database)) as store:
        counted = (store.execute(f"select count(*) from {t}") for t in TABLES)
        return {t: row.fetchone()[0] for t, row in zip(TABLES, counted, strict=True)}


def answers(port: int, runs: int) -> dict[str, float]:
    """Seconds, median, for what MLflow's pages ask of the runs of an experiment."""

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
    found = ask("runs/search", filtered)["runs"]
    assert len(found) == min(runs, 100)
    (parent,) = {
        tag["value"]
        for run in found
        for tag in run["data"]["tags"]
        if tag["key"] == "mlflow.parentRunId"
    }
    children = {**newest, "filter": f"tags.`mlflow.parentRunId` = '{parent}'"}
    seconds = {}
    for name, body in (
        ("newest 100", newest),
        ("sorted by a metric", sorted_by),
        ("filtered", filtered),
        ("children of the study", children),
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
    words = [sys.executable, "-m", "pipeline", "ui", "--port", str(port)]
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


def used(folder: Path, of: str) -> int:
    """What du counts below a folder: --inodes, or kB."""
    words = ["du", "-s", of, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[0])


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        furnish(folder, runs)
        stop = threading.Event()
        seen: dict[str, float] = {}

        def watch() -> None:
            for kind, peak in peaks(folder, stop).items():
                seen[kind] = max(peak, seen.get(kind, 0.0))

        watcher = threading.Thread(target=watch)
        watcher.start()
        study = [sys.executable, "-m", "pipeline", "study", "trivial"]
        cpu, wall = cpu_and_wall(study, folder)
        stop.set()
        watcher.join()
        results = folder / "results"
        files = sum(path.is_file() for path in results.rglob("*"))
        database = results / "mlflow" / "mlflow.db"
        store, rows = database.stat().st_size, rows_of(database)
        inodes, blocks = used(results, "--inodes"), used(results, "-k")
        of_runs = used(results / "runs", "--inodes"), used(results / "runs", "-k")
        _, again = cpu_and_wall(study, folder)
        stop.clear()
        watcher = threading.Thread(target=watch)
        watcher.start()
        pages = ask_pages(folder, runs)
        stop.set()
        watcher.join()
    print(f"{runs} runs: wall {wall:.0f} s, CPU {cpu:.0f} s; again {again:.1f} s")
    print("  peak GB: " + ", ".join(f"{k} {v:.2f}" for k, v in seen.items()))
    print(f"  {files} files, {inodes} inodes, {blocks / 1e6:.3f} GB on disk")
    print(f"  of these in results/runs: {of_runs[0]} inodes, {of_runs[1] / 1e6:.3f} GB")
    print(
        f"  MLflow's database: {store / 1e6:.1f} MB, {store / runs / 1e3:.2f} kB a run"
    )
    print("  its rows: " + ", ".join(f"{k} {v}" for k, v in rows.items()))
    for question, seconds in pages.items():
        print(f"  pages, {question}: {seconds:.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
