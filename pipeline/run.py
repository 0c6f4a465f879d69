"""Perform a batch of the plan: python -m pipeline.run BATCH.

A batch is a list of jobs that one process runs, one after the other; a job whose run
is there already is skipped. The Snakefile calls this, and so may a person.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pipeline.arguments import OneLineParser
from pipeline.errors import FAILED, InputError, RunFailedError, command, one_line
from pipeline.files import write_text
from pipeline.keys import file_digest, identity
from pipeline.plan_file import read_batch, stamp
from pipeline.runs import (
    Job,
    Numbers,
    failed_attempts,
    finished,
    run_once,
    run_record,
)

Needs = dict[str, Any]  # directories of finished runs, by role
Perform = Callable[[Job, Needs, Path], Numbers]


def _scanner_config() -> type:
    from pipeline.scanner.lab import VirtualScan

    return VirtualScan


def _ingest_config() -> type:
    from pipeline.ingest import Ingest

    return Ingest


def _comparison_config() -> type:
    from pipeline.compare import Comparison

    return Comparison


def _deviation_config() -> type:
    from pipeline.deviation import Deviation

    return Deviation


def _series_config() -> type:
    from pipeline.compare_series import SeriesComparison

    return SeriesComparison


def _printing_config() -> type:
    from pipeline.input_uncertainty import InputUncertainty

    return InputUncertainty


# What the configuration of a step becomes; imported only where the step is at hand.
CONFIGS: Mapping[str, Callable[[], type]] = {
    "virtual_scan": _scanner_config,
    "ingest": _ingest_config,
    "compare": _comparison_config,
    "input_uncertainty": _printing_config,
    "deviation": _deviation_config,
    "compare_series": _series_config,
}


def _simulate(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.simulate import perform_job

    return perform_job(job, needs, out)


def _virtual_scan(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.virtual_scan import run_step

    return run_step(_scanner_config()(**job.config), needs["simulated"], out)


def _ingest(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.ingest import run_step
    from pipeline.readers.source import ScanFileError

    scan = needs.get("scan")
    views = [Path(p) for p in job.paths] if scan is None else sorted(scan.glob("*.ply"))
    try:
        return run_step(_ingest_config()(**job.config), views, out)
    except ScanFileError as error:
        raise InputError(one_line(error)) from error


def _input_uncertainty(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.input_uncertainty import run_step

    return run_step(_printing_config()(**job.config), needs["simulated"], out)


def _deviation(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.deviation import measure_or_say_why

    config = _deviation_config()(**job.config)
    return measure_or_say_why(config, needs["spheres"], needs["simulated"], out)


def _compare(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.compare import Measured, run_step

    return run_step(
        _comparison_config()(**job.config),
        needs["spheres"],
        needs["simulated"],
        out,
        Measured(needs.get("input_uncertainty"), needs.get("deviation")),
    )


def _compare_series(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.compare_series import run_step

    config = _series_config()(**job.config)
    return run_step(config, Path(job.paths[0]), needs["simulated"], out)


def _calibrate(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.calibration.scans import SyntheticPoses, run_synthetic

    del needs  # it makes its poses itself
    return run_synthetic(SyntheticPoses(**job.config), out)


def _parts(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.parts import case_of_run, parts_of, run_step

    return run_step(parts_of(dict(job.config)), case_of_run(needs["simulated"]), out)


def _search(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.studies.search import perform_job

    return perform_job(job, needs, out)


def _figure(job: Job, needs: Needs, out: Path) -> Numbers:
    from pipeline.figure import perform_figure

    return perform_figure(job, needs, out)


PERFORM: Mapping[str, Perform] = {
    "simulate": _simulate,
    "virtual_scan": _virtual_scan,
    "ingest": _ingest,
    "input_uncertainty": _input_uncertainty,
    "deviation": _deviation,
    "compare": _compare,
    "compare_series": _compare_series,
    "calibrate": _calibrate,
    "parts": _parts,
    "figure": _figure,
    "search": _search,
}


def _check_key(job: Job) -> None:
    """Refuse a job whose code or files changed since it was planned."""
    now = identity(
        job.step,
        job.config,
        upstream=job.needs,
        files=[file_digest(Path(p)) for p in job.paths],
    )
    if now != job.identity:
        changed = [k for k in now if now[k] != job.identity.get(k)]
        raise InputError(
            f"{job.step} {job.name}: {', '.join(changed)} changed since the plan was "
            "made: run make figures again"
        )


def _directory(key: str) -> Path:
    directory = finished(key)
    if directory is not None:
        return directory
    failed = failed_attempts(key)
    if failed:
        record = run_record(failed[-1])
        raise RunFailedError(f"the run {key} that it needs failed: {record['reason']}")
    raise InputError(f"the run {key} is not there yet: run make figures")


def _needs(job: Job) -> Needs:
    return {
        role: _directory(key) if isinstance(key, str) else [*map(_directory, key)]
        for role, key in job.needs.items()
    }


def perform_planned(job: Job) -> Path:
    """Run one job of the plan, unless its run is there."""
    _check_key(job)
    return run_once(job, lambda out: PERFORM[job.step](job, _needs(job), out))


def perform_batch(batch: str) -> int:
    """Run every job of a batch; the stamp is left when none of them failed."""
    failures = 0
    for job in read_batch(batch):
        try:
            perform_planned(job)
        except RunFailedError as error:
            print(f"error: {job.step} {job.name}: {one_line(error)}", file=sys.stderr)
            failures += "study" not in job.tags  # in a study, it is a row of the table
    if failures:
        return FAILED
    write_text(stamp(job.step, batch), "")
    return 0


@command
def main(argv: list[str] | None = None) -> int:
    """Run the batch that the command line names."""
    parser = OneLineParser(prog="python -m pipeline.run", description=__doc__)
    parser.add_argument("batch", help="a file name in results/plan, without .json")
    return perform_batch(parser.parse_args(argv).batch)


if __name__ == "__main__":
    sys.exit(main())
