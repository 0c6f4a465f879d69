"""A case is simulated once, its run read back and compared with a scan."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.api.cases import described
from pipeline.config.config_files import folder_name
from pipeline.runs.case_job import planned
from pipeline.runs.checkpoints import read_arrays
from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import (
    RESULTS,
    RunRecord,
    found_run,
    keep_own,
    run_record,
)
from pipeline.runs.summary import comparison_summary, summary_lines
from pipeline.steps.simulate import Case, run_case
from pipeline.terminal import InputError
from pipeline.tracking.logging_process import logged
from pipeline.workflow.make_step import finished_step

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Run:
    """A finished run.

    Parameters
    ----------
    path : its folder
    """

    path: Path

    @cached_property
    def record(self) -> RunRecord:
        """run.json: what ran, when, with which code and versions, and its result."""
        return run_record(self.path)

    @property
    def key(self) -> str:
        """The hash of all that decides its numbers."""
        return str(self.record["key"])

    @property
    def result(self) -> dict[str, Any]:
        """The numbers it ended with."""
        return dict(self.record["result"])

    @cached_property
    def steps(self) -> "pd.DataFrame":
        """steps.csv: numbers, a row a step."""
        return self._table("steps.csv")

    @cached_property
    def arrays(self) -> dict[str, Any]:
        """steps.npz: arrays by name, with the step as first axis where they move."""
        return dict(read_arrays(self.path / "steps.npz"))

    def _table(self, name: str) -> "pd.DataFrame":
        import pandas as pd

        return pd.read_csv(self.path / name)

    def _repr_png_(self) -> bytes:
        """What a notebook shows of it."""
        png = io.BytesIO()
        plot(self).savefig(png, format="png")
        return png.getvalue()

    def __repr__(self) -> str:
        first = "; ".join(summary_lines(self.record)[:2])
        return f"<{type(self).__name__} {self.record['name']} {self.key}: {first}>"


def simulate(case: Case, *, name: str = "", results: Path | str = RESULTS) -> Run:
    """The run of a case; one that is there already is not computed again.

    Parameters
    ----------
    case : such as `Morph`, `Fold` or a robot
    name : to find the run by; results/own/<name> leads to it
    results : folder of all runs

    Raises
    ------
    RunFailedError
        if the solver finds no solution; the steps it made stay below `results`
    """
    if not hasattr(case, "steps"):
        raise InputError(
            f"{type(case).__name__} is not a case: give one, such as "
            "Morph(structure, target=...), Fold(pattern) or a robot"
        )
    kind = re.sub("(?<=[a-z])(?=[A-Z])", "_", type(case).__name__).lower()
    config = {"case": described(case, "case"), "record_every": 1}
    job = planned(name or kind.removesuffix("_case"), config)
    results = Path(results)
    if name:
        folder_name(name, "the name of a run")
    with logged(results):
        directory = run_once(job, lambda out: run_case(case, job, out), results)
    if name:
        keep_own(name, directory, results)
    return Run(directory)


def _made(
    step: str, name: str, config: Mapping[str, Any], results: Path | str, **inputs: Any
) -> Path:
    """The folder of the finished run of a step, which MLflow has or will get."""
    results = Path(results)
    with logged(results):
        return finished_step(step, name, config, results=results, **inputs)


def plot(run: Run) -> "Figure":
    """The shape at the end of a run, and two of its numbers by step."""
    from pipeline.report.one_run import run_figure

    if run.record["step"] != "simulate":
        raise InputError(
            f"{run.path} is not a simulation, and plot draws simulations only: open "
            "the pictures of the run"
        )
    return run_figure(run.path)


class Spheres(Run):
    """Spheres that were found in a scan."""

    @cached_property
    def table(self) -> "pd.DataFrame":
        """spheres.csv: centre, covariance, radius and quality, a row a sphere."""
        return self._table("spheres.csv")

    def _repr_png_(self) -> bytes:
        return (self.path / "picture.png").read_bytes()

    def __repr__(self) -> str:
        found = self.result
        return (
            f"<Spheres {self.key}: {found['spheres']} of radius "
            f"{found['radius_mm']:g} mm in {found['points']} points>"
        )


class Comparison(Run):
    """A scan compared with a simulation."""

    @cached_property
    def row(self) -> dict[str, Any]:
        """comparison.csv: verdict, S, E, node distances and their uncertainties."""
        row = self._table("comparison.csv").iloc[0]
        return {str(name): value for name, value in row.items()}

    @property
    def verdict(self) -> str:
        """Whether simulation and scan agree, differ, or nothing can be concluded."""
        return str(self.row["verdict"])

    @cached_property
    def nodes(self) -> "pd.DataFrame":
        """nodes.csv: every node as simulated and as scanned, mm."""
        return self._table("nodes.csv")

    def _repr_png_(self) -> bytes:
        return (self.path / "labels.png").read_bytes()

    def __repr__(self) -> str:
        return f"<Comparison {self.key}: {comparison_summary(self.path)}>"


KINDS = {"ingest": Spheres, "compare": Comparison}


def load_run(name: str | Path, results: Path | str = RESULTS) -> Run:
    """A finished run by its name, its key or its folder."""
    path = found_run(str(name), Path(results))
    return KINDS.get(str(run_record(path)["step"]), Run)(path)


def find_spheres(
    scans: str | Path | Sequence[str | Path],
    *,
    radius_mm: float,
    unit: str,
    results: Path | str = RESULTS,
    **options: Any,
) -> Spheres:
    """The spheres of a scan.

    Parameters
    ----------
    scans : files of points, each one view, registered; a single file is a merged cloud
    radius_mm : of the printed spheres
    unit : of the files' numbers: mm, cm, m or inch
    options : see `pipeline.steps.settings.Ingest`, such as registration_mm
    """
    from pipeline.steps.settings import Ingest

    paths = [str(scans)] if isinstance(scans, str | Path) else list(map(str, scans))
    if not paths:
        raise InputError("no scan is named: give one or more files of points")
    config = asdict(Ingest(radius_mm, unit, **options))
    return Spheres(_made("ingest", Path(paths[0]).stem, config, results, paths=paths))


def compare(
    run: Run,
    spheres: Spheres,
    *,
    scale_mm: float,
    results: Path | str = RESULTS,
    **settings: float,
) -> Comparison:
    """Compare the end of a run with the spheres of a scan.

    Parameters
    ----------
    scale_mm : mm of the print per unit of the case
    settings : see `pipeline.steps.settings.ComparisonSettings`, such as S_margin
    """
    from pipeline.steps.settings import ComparisonSettings

    config = asdict(ComparisonSettings(scale_mm, **settings))
    reads = {"spheres": spheres.path, "simulated": run.path}
    name = str(run.record["name"])
    return Comparison(_made("compare", name, config, results, reads=reads))
