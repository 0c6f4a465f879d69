"""From a bare clone to verdicts: python -m tests.bench.bench_first_minutes [COMMIT].

Clones the repository into an empty folder with an empty environment (no kernels, no
virtual environment, no MLflow) and times what a new user does there, one after the
other: wall and CPU (user plus system of all processes) of every command, and the wall
from its start until its first comparison and its first figure stand on the disk.
It takes as long as a new user needs, some 20 minutes on two cores.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MILESTONES = {
    "first comparison": "results/runs/*/comparison.csv",
    "first figure": "results/runs/*/*.pdf",
}
STAR = "morphtrack simulate case=star_robot"
OWN_FOLD = "case=fold_file case.pattern.path=own.fold"
OWN_CREASES = """{
 "file_spec": 1.1, "frame_classes": ["creasePattern"],
 "vertices_coords": [[0,0],[1,0],[2,0],[0,1],[1,1],[2,1]],
 "edges_vertices": [[0,1],[1,2],[2,5],[5,4],[4,3],[3,0],[1,4]],
 "edges_assignment": ["B","B","B","B","B","B","M"],
 "faces_vertices": [[0,1,4,3],[1,2,5,4]]
}"""
# What is measured, in this order, each in the state that the ones before it left.
COMMANDS = {
    "set-up": "make setup",
    "demo: comparisons, control, page": "make demo",
    "no-op demo": "make demo",
    "first own rod, cold": STAR,
    "the same, known": STAR,
    "an own rod, warm": f"{STAR} case.material.density=1913",
    "first own FOLD file, cold": f"morphtrack simulate {OWN_FOLD}",
    "all figures": "make figures",
    "no-op figures": "make figures",
    "plan": "morphtrack plan",
    "trace": "morphtrack trace results/figure/{figure}/{figure}.pdf",
}


@dataclass(frozen=True)
class Reading:
    """What one command took, s, and when its milestones were there."""

    what: str
    wall: float
    cpu: float
    reached: dict[str, float]

    def row(self) -> str:
        reached = "; ".join(f"{name} {at:.1f}" for name, at in self.reached.items())
        return f"| {self.what} | {self.wall:.1f} | {self.cpu:.1f} | {reached} |"


def empty_environment(clone: Path) -> dict[str, str]:
    """What a login shell has, and the commands of the clone; nothing of ours."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    return {**kept, "PATH": f"{clone / '.venv' / 'bin'}:{outer_path()}"}


def outer_path() -> str:
    """PATH without the environment that runs this."""
    own = str(Path(sys.prefix) / "bin")
    return os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p != own)


def measured(what: str, command: str, clone: Path) -> Reading:
    """Run one command in the clone to its end; stop all where it fails."""
    known = {name: set(clone.glob(where)) for name, where in MILESTONES.items()}
    reached: dict[str, float] = {}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    log = clone.parent / "log.txt"
    with log.open("w") as out:
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=clone, env=empty_environment(clone), stdout=out, stderr=out,
        )  # fmt: skip
        while process.poll() is None:
            for name, where in MILESTONES.items():
                if name not in reached and set(clone.glob(where)) - known[name]:
                    reached[name] = time.perf_counter() - start
            time.sleep(0.1)
    wall, after = (
        time.perf_counter() - start,
        resource.getrusage(resource.RUSAGE_CHILDREN),
    )
    if process.returncode:
        sys.exit(
            f"{command}: exit status {process.returncode}\n{log.read_text()[-3000:]}"
        )
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Reading(what, wall, cpu, reached)


def readings(clone: Path) -> Iterator[Reading]:
    """All commands in their order."""
    (clone / "own.fold").write_text(OWN_CREASES)
    for what, command in COMMANDS.items():
        figure = next((f.name for f in sorted(clone.glob("results/figure/*"))), "")
        yield measured(what, command.format(figure=figure), clone)


def main() -> None:
    commit = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    folder = Path(tempfile.mkdtemp())
    clone = folder / "clone"
    for words in (
        ["git", "clone", "--quiet", "--no-local", str(ROOT), str(clone)],
        ["git", "-C", str(clone), "checkout", "--quiet", "--detach", commit],
    ):
        subprocess.run(words, check=True)
    try:
        print("| what | wall, s | CPU, s | from its start, s |\n|---|---|---|---|")
        for reading in readings(clone):
            print(reading.row(), flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
