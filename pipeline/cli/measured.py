"""morphtrack measured: fit, prediction and comparison of a measured set."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pipeline.measured.prediction_file import (
    POSTERIOR,
    RECORD,
    TABLE,
    all_committed,
    committed_files,
    committed_fit,
    record_files,
    shipped_files,
)
from pipeline.measured.set_file import MeasuredSet
from pipeline.runs.atomic_files import read_json
from pipeline.runs.run_directory import RESULTS
from pipeline.runs.run_keys import file_digest, identity
from pipeline.runs.step_jobs import link_files
from pipeline.terminal import by_reason
from pipeline.workflow.make_step import finished_step


def set_config(of: MeasuredSet) -> dict[str, Any]:
    """The set as plain data, as a run has it."""
    return {"set": of.model_dump(mode="json")}


def by_hand(
    step: str,
    of: MeasuredSet,
    folder: Path,
    paths: Sequence[str],
    needs: Mapping[str, Path],
    planned: str = "",
) -> Path:
    """The finished run of one step, made now if it is not there.

    Of a file in another folder than the set's, the name counts too: it is a record's. A
    shipped file's does not: runs of the workflow have the same key.

    Parameters
    ----------
    needs : finished runs that it reads, by role
    planned : digest of configuration and code that the caller counts on, or ""
    """

    def digest(path: Path) -> str:
        own = folder != Path(of.records.folder) and path.is_relative_to(folder)
        name = f" {path.relative_to(folder)}" if own else ""
        return f"{file_digest(path)}{name}"

    return finished_step(
        step,
        of.name,
        set_config(of),
        reads=needs,
        paths=paths,
        tags={"measured_set": of.name, "folder": str(folder)},
        digest=digest,
        planned=planned,
    )


def fitted_by_hand(of: MeasuredSet, planned: str = "") -> Path:
    """The run of the fit."""
    folder = Path(of.records.folder)
    return by_hand("fit_measured", of, folder, shipped_files(of), {}, planned)


def predicted_by_hand(
    of: MeasuredSet,
    folder: Path | None,
    planned: str = "",
    fit: Path | None = None,
) -> Path:
    """The run that predicts a folder's records; of the shipped ones, with their fit.

    Records of another folder are predicted with the fit that was committed, if any.
    """
    shipped = shipped_files(of)
    if folder is None:
        needs = {"fit": fit or fitted_by_hand(of)}
        place = Path(of.records.folder)
        return by_hand("predict", of, place, shipped, needs, planned)
    files = (*shipped, *record_files(of, folder))
    before = committed_fit(of)
    if before:
        return by_hand("predict", of, folder, (*files, *before), {})
    return by_hand("predict", of, folder, files, {"fit": fitted_by_hand(of)})


def code_of_prediction(of: MeasuredSet) -> str:
    """Digest of the modules that would predict a set now."""
    return str(identity("predict", set_config(of))["code"])


def measured_by_hand(
    of: MeasuredSet, folder: Path | None, planned: str = "", **given: Path
) -> Path:
    """The run that compares a folder's records.

    A committed prediction is taken where it holds all of them; else what is missing is
    predicted first.

    Parameters
    ----------
    given : folders of a fit and of a prediction to use, by role: fit, predicted
    """
    place = Path(of.records.folder) if folder is None else folder
    shipped, before = shipped_files(of), committed_files(of)
    needs = dict(given)
    if "predicted" not in needs and not all_committed(of, place):
        needs["predicted"] = predicted_by_hand(of, folder)
    if "fit" not in needs and not before:
        needs["fit"] = fitted_by_hand(of)
    own = () if folder is None else record_files(of, folder)
    files = (*shipped, *before, *own)
    return by_hand("measured", of, place, files, needs, planned)


OF_FIT = (POSTERIOR, "left_out.csv", "parameters.csv")


def fit(of: MeasuredSet, out: Path | None, planned: str) -> None:
    """Fit once."""
    run = fitted_by_hand(of, planned)
    link_files(run, out or RESULTS / "fit_measured" / of.name)


def predict(
    of: MeasuredSet,
    records: Path | None,
    out: Path | None,
    fit: Path | None,
    planned: str,
) -> None:
    """Predict once and print which records; see predicted_by_hand."""
    run = predicted_by_hand(of, records, planned, fit)
    if records is None:
        link_files(run, out or RESULTS / "predict" / of.name)
    if out is not None and not planned:
        link_files(run, out)
        for path in map(fitted_by_hand(of).joinpath, OF_FIT):
            if path.is_file():
                shutil.copyfile(path, out / path.name)
    about = read_json(run / RECORD)
    for names, reason in by_reason(about["refused"]):
        print(f"{names} cannot be predicted: {reason}")
    count = len(about["records"])
    print(
        f"{count} record{'s' * (count != 1)} of {of.name} predicted "
        f"(run {about['key']})"
    )
    print(f"prediction  {(out or run) / TABLE}  SHA-256 {about['sha256'][:16]}")


def compare(
    of: MeasuredSet,
    records: Path | None,
    out: Path | None,
    given: Mapping[str, Path | None],
    planned: str,
) -> None:
    """Compare once and print the verdicts; see measured_by_hand."""
    folders = {role: path for role, path in given.items() if path}
    run = measured_by_hand(of, records, planned, **folders)
    if out is None:
        out = run if records else RESULTS / "measured" / of.name
    if out != run:
        link_files(run, out)
    found = read_json(run / "verdict.json")
    for names, reason in by_reason(found["refused"]):
        print(f"no rows of {names}: {reason}")
    for name, shipped in found["values_of"].items():
        if name != shipped:
            print(
                f"fitted      {name} repeats {shipped}, which the fit used: "
                "it does not test the prediction"
            )
    for name, other in found["nearer"].items():
        print(
            f"warning     {name} is closer to the prediction for {other}: are the two "
            "records exchanged?"
        )
    for row in found["verdicts"]:
        print(_verdict(row))
    print(_which(found, of))
    print(f"tables      {out}")


def _verdict(row: dict[str, Any]) -> str:
    """A verdict on one line."""
    within = f"{row['records_within_aim']} of {row['records']} records within the aim"
    inside = f"{row['coverage']:.0%} inside 95 %"
    return (
        f"{row['quantity']} ({row['part']}): {row['verdict']}; {row['why']}; {within}; "
        f"{inside} ({row['coverage_low']:.0%} to {row['coverage_high']:.0%})"
    )


def _which(found: dict[str, Any], of: MeasuredSet) -> str:
    """Which prediction was compared, and whether code has changed since it was made."""
    by = found["prediction"]
    how = "committed" if by["committed"] else "made in this run"
    lines = [
        f"prediction  {of.name}, {how} (run {by['key']}, SHA-256 {by['sha256'][:16]})"
    ]
    others = {n: k for n, k in found["compared_with"].items() if k != by["key"]}
    if others:
        lines.append(
            "            records that it does not cover, predicted in this run: "
            f"{', '.join(others)} (run {', '.join(sorted(set(others.values())))})"
        )
    made, now = by["code"], code_of_prediction(of)
    if made != now:
        lines.append(
            f"code        was {made[:16] or 'unknown'} when the prediction was made, "
            f"is now {now[:16]}; the prediction was not recomputed"
        )
    return "\n".join(lines)
