"""What a new user waits for: python3 -m tests.bench.bench_first_minutes [PART ...].

Clones the repository into an empty folder with an empty environment (no kernels, no
virtual environment, no MLflow) and reads wall and CPU (user plus system of all
processes) of every command there, one after the other, and the wall from its start
until its first comparison and its first figure stand on the disk; prints the table
as it grows, and on standard errors what goes on.

PART is one of those that `--help` lists; what it needs is made first, and read too.
Without any, all of them: half an hour on two idle cores. `--keep FOLDER` makes the
clone there and leaves it, or goes on in one that is there; `--commit` checks out
another. `env -i HOME=$HOME PATH=/usr/bin:/bin python3 -m ...` will do: no package is
needed.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MILESTONES = {
    "first comparison": "results/runs/*/comparison.csv",
    "first figure": "results/runs/*/*.pdf",
}
OWN_CREASES = """{
 "file_spec": 1.1, "frame_classes": ["creasePattern"],
 "vertices_coords": [[0,0],[1,0],[2,0],[0,1],[1,1],[2,1]],
 "edges_vertices": [[0,1],[1,2],[2,5],[5,4],[4,3],[3,0],[1,4]],
 "edges_assignment": ["B","B","B","B","B","B","M"],
 "faces_vertices": [[0,1,4,3],[1,2,5,4]]
}"""
ROBOT = "morphtrack simulate case=rod_file case.path=conf/robot/arch.yaml"
OWN_FOLD = "morphtrack simulate case=fold_file case.pattern.path=own.fold"
EMPTY = "NUMBA_CACHE_DIR=$PWD/.kernels_of"  # a cache of a part's own, empty at first


@dataclass(frozen=True)
class Part:
    """What is read: its command, and the part that must have been before it."""

    command: str
    after: str = "setup"


# In this order, each in the state that the ones before it left.
PARTS = {
    "setup": Part("make setup", ""),
    "demo": Part("make demo"),
    "demo-again": Part("make demo", "demo"),
    "trace": Part("morphtrack trace results/figure/chain/chain.pdf", "demo"),
    "morph": Part("morphtrack simulate case=triangles_circle"),
    "morph-again": Part("morphtrack simulate case=triangles_circle", "morph"),
    "robot-cold": Part(f"{EMPTY}_robot {ROBOT}"),
    "robot-warm": Part(f"{EMPTY}_robot {ROBOT} case.friction=0.7", "robot-cold"),
    "rod-cold": Part(f"{EMPTY}_rod morphtrack simulate case=own_rod"),
    "fold-cold": Part(f"{EMPTY}_fold {OWN_FOLD}"),
    "single-fold-cold": Part(f"{EMPTY}_single morphtrack simulate case=single_fold"),
    "solid-cold": Part(f"{EMPTY}_solid morphtrack simulate case=triangles_solid"),
    "figures": Part("make figures"),
    "figures-again": Part("make figures", "figures"),
    "plan": Part("morphtrack plan", "figures"),
}


@dataclass(frozen=True)
class Reading:
    """What one command took, s, and when its milestones were there."""

    name: str
    wall: float
    cpu: float
    reached: dict[str, float]

    def row(self) -> str:
        reached = "; ".join(f"{name} {at:.1f}" for name, at in self.reached.items())
        command = PARTS[self.name].command
        said = f"{self.name}: `{command}`"
        return f"| {said} | {self.wall:.1f} | {self.cpu:.1f} | {reached} |"


def empty_environment(clone: Path) -> dict[str, str]:
    """What a login shell has, and the commands of the clone; nothing of ours."""
    kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    return {**kept, "PATH": f"{clone / '.venv' / 'bin'}:{outer_path()}"}


def outer_path() -> str:
    """PATH without the environment that runs this."""
    own = str(Path(sys.prefix) / "bin") if sys.prefix != sys.base_prefix else ""
    return os.pathsep.join(p for p in os.environ["PATH"].split(os.pathsep) if p != own)


def _cpu() -> float:
    """Of all processes that ended, s."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(name: str, clone: Path) -> Reading:
    """Run one command in the clone to its end; stop all where it fails."""
    known = {what: set(clone.glob(where)) for what, where in MILESTONES.items()}
    reached: dict[str, float] = {}
    before, start = _cpu(), time.perf_counter()
    log = clone.parent / f"{clone.name}.{name}.txt"
    with log.open("w") as out:
        process = subprocess.Popen(
            ["bash", "-c", PARTS[name].command],
            cwd=clone, env=empty_environment(clone), stdout=out, stderr=out,
        )  # fmt: skip
        while process.poll() is None:
            for what, where in MILESTONES.items():
                if what not in reached and set(clone.glob(where)) - known[what]:
                    reached[what] = time.perf_counter() - start
            time.sleep(0.05)
    wall = time.perf_counter() - start
    if process.returncode:
        sys.exit(
            f"{PARTS[name].command}: exit status {process.returncode}\n"
            f"{log.read_text()[-3000:]}"
        )
    log.unlink()
    return Reading(name, wall, _cpu() - before, reached)


def with_needed(chosen: Sequence[str], clone: Path) -> list[str]:
    """The parts asked for and those before them, in order; all where none is asked."""
    wanted = {*chosen} or {*PARTS}
    for name in reversed(PARTS):
        if name in wanted:
            wanted |= {PARTS[name].after} - {""}
    if "setup" not in chosen and (clone / ".venv" / ".ready").exists():
        wanted.discard("setup")
    return [name for name in PARTS if name in wanted]


def readings(names: Sequence[str], clone: Path) -> Iterator[Reading]:
    """The parts in their order."""
    (clone / "own.fold").write_text(OWN_CREASES)
    for i, name in enumerate(names, 1):
        told = f"[{i}/{len(names)}] {name}: {PARTS[name].command}"
        print(told, file=sys.stderr, flush=True)
        yield measured(name, clone)


def cloned(clone: Path, commit: str) -> None:
    for words in (
        ["git", "clone", "--quiet", "--no-local", str(ROOT), str(clone)],
        ["git", "-C", str(clone), "checkout", "--quiet", "--detach", commit],
    ):
        subprocess.run(words, check=True)


def arguments() -> argparse.ArgumentParser:
    what, _, rest = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(description=what, epilog=rest)
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--keep", type=Path, metavar="FOLDER")
    return parser


def main() -> None:
    parser = arguments()
    given = parser.parse_args()
    unknown = [part for part in given.parts if part not in PARTS]
    if unknown:
        parser.error(f"no part {', '.join(unknown)}: choose of {', '.join(PARTS)}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        clone = (given.keep or Path(folder) / "clone").absolute()
        if not clone.exists():
            cloned(clone, given.commit)
        print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)
        head = "| part | wall, s | CPU, s | from its start, s |\n|---|---|---|---|"
        print(head, flush=True)
        for reading in readings(with_needed(given.parts, clone), clone):
            print(reading.row(), flush=True)
        print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)


if __name__ == "__main__":
    main()
