"""The runs of a measured set: fit, prediction, comparison; planned, or by hand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.config.measured_file import MeasuredSet
from pipeline.steps.measured_files import (
    all_committed,
    committed_files,
    committed_fit,
    record_files,
    shipped_files,
)
from pipeline.store.attempts import run_once
from pipeline.store.keys import file_digest, identity
from pipeline.store.receipts import content_digest
from pipeline.store.runs import Job
from pipeline.workflow.steps_table import STEPS


def set_config(of: MeasuredSet) -> dict[str, Any]:
    """The set as plain data, as a run has it."""
    return {"set": of.model_dump(mode="json")}


def tags_of(of: MeasuredSet, folder: Path) -> dict[str, str]:
    """What a run of a set is found by."""
    return {"measured_set": of.name, "folder": str(folder)}


def by_hand(
    step: str,
    of: MeasuredSet,
    folder: Path,
    paths: Sequence[str],
    needs: Mapping[str, Path],
) -> Path:
    """The finished run of one step, made now if it is not there.

    Parameters
    ----------
    needs : finished runs that it reads, by role
    """
    config = set_config(of)
    known = identity(
        step,
        config,
        upstream={role: content_digest(place) for role, place in needs.items()},
        files=[_told(Path(path), folder, of) for path in paths],
    )
    keys = {role: place.name for role, place in needs.items()}
    job = Job(step, of.name, known, config, keys, tuple(paths), tags_of(of, folder))
    return run_once(job, lambda out: STEPS[step].perform(job, needs, out))


def _told(path: Path, folder: Path, of: MeasuredSet) -> str:
    """The digest of a file; of one in another folder its name too, which is a record's.

    A shipped file's is left out: planned runs have the same key.
    """
    digest = file_digest(path)
    own = folder != Path(of.records.folder) and path.is_relative_to(folder)
    return f"{digest} {path.relative_to(folder)}" if own else digest


def fitted_by_hand(of: MeasuredSet) -> Path:
    """The run of the fit."""
    folder = Path(of.records.folder)
    return by_hand("fit_measured", of, folder, shipped_files(of), {})


def predicted_by_hand(of: MeasuredSet, folder: Path | None) -> Path:
    """The run that predicts a folder's records; of the shipped ones, with their fit.

    Records of another folder are predicted with the fit that was committed, if any.
    """
    shipped = shipped_files(of)
    if folder is None:
        needs = {"fit": fitted_by_hand(of)}
        return by_hand("predict", of, Path(of.records.folder), shipped, needs)
    files = (*shipped, *record_files(of, folder))
    before = committed_fit(of)
    if before:
        return by_hand("predict", of, folder, (*files, *before), {})
    return by_hand("predict", of, folder, files, {"fit": fitted_by_hand(of)})


def code_of_prediction(of: MeasuredSet) -> str:
    """Digest of the modules that would predict a set now."""
    return str(identity("predict", set_config(of))["code"])


def measured_by_hand(of: MeasuredSet, folder: Path | None) -> Path:
    """The run that compares a folder's records.

    A committed prediction is taken where it holds all of them; else what is missing is
    predicted first.
    """
    place = Path(of.records.folder) if folder is None else folder
    shipped, before = shipped_files(of), committed_files(of)
    needs: dict[str, Path] = {}
    if not all_committed(of, place):
        needs["predicted"] = predicted_by_hand(of, folder)
    if not before:
        needs["fit"] = fitted_by_hand(of)
    own = () if folder is None else record_files(of, folder)
    return by_hand("measured", of, place, (*shipped, *before, *own), needs)
