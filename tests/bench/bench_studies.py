"""What tracking and orchestration cost a run: python -m tests.bench.bench_studies [N].

A study of N runs of a trivial case (one link, closed form) through the pipeline,
against the naive way: a process a run, Hydra and MLflow's fluent interface in it.
CPU is user plus system time of all processes, less the solver's own share.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NAIVE_RUNS = 4

STRUCTURE = {
    "nodes": [[0, 0, 0], [1, 0, 0]],
    "dist": [[0, 1, 1.0]],
    "leading": [0, 1],
    "goals": [[0.2, 0.1, 0.3], [1.5, 1.0, -0.4]],
}

NAIVE = """
import hydra, mlflow, sys
from hydra.utils import instantiate
@hydra.main(version_base="1.3", config_path=sys.argv.pop(), config_name="simulate")
def main(config):
    case = instantiate(config.case, _convert_="object")
    mlflow.set_tracking_uri("sqlite:///naive.db")
    with mlflow.start_run():
        mlflow.log_params({"tolerance": case.tolerance})
        recorder = case.recorder()
        for step in case.steps():
            recorder.see(step)
            numbers = recorder.row(step)
            mlflow.log_metrics(numbers, step=int(numbers["step"]))
main()
"""


def environment() -> dict[str, str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path}


def cpu_and_wall(words: list[str], folder: Path) -> tuple[float, float]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    with (folder / "log.txt").open("a") as log:
        done = subprocess.run(
            words, cwd=folder, env=environment(), stdout=log, stderr=log, check=False
        )
    if done.returncode:
        sys.exit((folder / "log.txt").read_text()[-2000:])
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return user + system, wall


def furnish(folder: Path, runs: int) -> None:
    shutil.copytree(ROOT / "conf", folder / "conf")
    shutil.copy(ROOT / "Snakefile", folder)
    (folder / "link.json").write_text(json.dumps(STRUCTURE))
    study = {
        "case": "structure_file",
        "design": "list",
        "fixed": {"case.structure.path": "link.json"},
        "runs": [{"case.tolerance": 1e-7 * (i + 1)} for i in range(runs)],
    }
    (folder / "conf" / "study" / "trivial.yaml").write_text(json.dumps(study))


def solver_cpu(folder: Path) -> float:
    records = [
        json.loads(p.read_text()) for p in folder.glob("results/runs/*/run.json")
    ]
    return sum(record["cpu_s"] for record in records)


def main(runs: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        furnish(folder, runs)
        study = [sys.executable, "-m", "pipeline", "study", "trivial"]
        cpu, wall = cpu_and_wall(study, folder)
        solved = solver_cpu(folder)
        again_cpu, again_wall = cpu_and_wall(study, folder)
        script = folder / "naive.py"
        script.write_text(NAIVE)
        words = ["case=structure_file", "case.structure.path=link.json"]
        naive_words = [sys.executable, str(script), *words, str(folder / "conf")]
        cpu_and_wall(naive_words, folder)  # makes the database
        naive = [cpu_and_wall(naive_words, folder)[0] for _ in range(NAIVE_RUNS)]
    ours = 1e3 * (cpu - solved) / runs
    per_naive = 1e3 * (sum(naive) / NAIVE_RUNS - solved / runs)
    print(f"{runs} runs: {ours:.0f} ms CPU a run for tracking and orchestration")
    print(f"  wall {wall:.1f} s, solver {1e3 * solved / runs:.1f} ms CPU a run")
    print(
        f"  naive: {per_naive:.0f} ms CPU a run, {per_naive / ours:.0f} times as much"
    )
    print(f"  rerun with nothing changed: {again_wall:.1f} s, {again_cpu:.1f} s CPU")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
