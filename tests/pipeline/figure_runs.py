"""Runs behind the figures of conf/workflow.yaml, made where a test wants them."""

from itertools import chain
from pathlib import Path

import numpy as np

from pipeline.config.hydra import Composer
from pipeline.config.workflow_file import read_workflow
from pipeline.figures.read_runs import Row
from pipeline.measured.compare import run_step as measured
from pipeline.measured.prediction_file import FOLDER as PREDICTION
from pipeline.measured.records import at_hand
from pipeline.measured.set_file import read_set
from pipeline.runs.atomic_files import write_json
from pipeline.runs.case_job import sound_case
from pipeline.runs.study_members import read_study
from pipeline.steps.calibrate import run_synthetic
from pipeline.steps.compare import run_step as compare
from pipeline.steps.parts import parts_of, parts_settings
from pipeline.steps.parts import run_step as make_parts
from pipeline.steps.settings import ComparisonSettings
from pipeline.steps.simulate import record_steps
from pipeline.steps.synthetic_poses import FOLDER, SyntheticPoses, composed
from tests.analysis.mechanisms import random_mechanism, scanned
from tests.pipeline.comparison_files import SCALE_MM, write_ingest, write_run
from tests.pipeline.conftest import ROOT

AS_DRAWN = {"folding_sequence": ["case.imperfections=null"]}
SHORT = {
    "star_robot": ["case.duration=2.5"],
    "jumper": ["case.duration=0.1"],
    **AS_DRAWN,
}
WORKFLOW = read_workflow(ROOT / "conf" / "workflow.yaml")


def run_of(label: str, words: tuple[str, ...], out: Path) -> Row:
    """A run of a case as morphtrack simulate leaves it."""
    out.mkdir(parents=True)
    composer = Composer()
    config = composer.compose("simulate", [*words])
    result = record_steps(sound_case(config), label, out)
    record = {"key": "0123456789abcdef", "status": "finished", "config": config}
    write_json(out / "run.json", record | {"result": result})
    return Row(label, out)


def study_rows(name: str, folder: Path) -> list[Row]:
    """A row for each run of a study that is not adaptive."""
    study = read_study(name)
    rows = []
    for number, point in enumerate(study.points()):
        values = {**study.fixed, **point}.items()
        words = [f"case={study.case}", *(f"{key}={value}" for key, value in values)]
        words += AS_DRAWN.get(study.case, [])
        rows.append(run_of(f"{name}-{number}", tuple(words), folder / str(number)))
    return rows


def calibration_row(name: str, out: Path) -> Row:
    """A calibration from synthetic poses."""
    config = composed(ROOT / FOLDER / f"{name}.yaml")
    result = run_synthetic(SyntheticPoses(**config), out)
    record = {"key": "0123456789abcdef", "status": "finished", "result": result}
    write_json(out / "run.json", record)
    return Row(name, out)


def parts_row(label: str, words: tuple[str, ...], out: Path) -> Row:
    """The printed parts of a case."""
    composer = Composer()
    case = sound_case(composer.compose("simulate", [*words]))
    result = make_parts(parts_of(parts_settings() | {"sides": 12}), case, out)
    record = {"key": "0123456789abcdef", "status": "finished", "result": result}
    write_json(out / "run.json", record)
    return Row(label, out)


def measured_row(name: str, out: Path) -> Row:
    """The records of a measured set beside the prediction committed of them."""
    config = {"set": read_set(name).model_dump(mode="json")}
    at = at_hand(config["set"])
    result = measured(at, at.folder, None, out, at.folder / PREDICTION)
    record = {"key": "0123456789abcdef", "status": "finished", "config": config}
    write_json(out / "run.json", record | {"result": result})
    return Row(name, out)


def cut_short(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a run, with those that make it short."""
    more = [m for case, m in SHORT.items() if f"case={case}" in words]
    return (*words, *chain.from_iterable(more))


def rows_of(name: str, folder: Path) -> list[Row]:
    """The rows that conf/workflow.yaml gives a figure, the longest runs cut short."""
    drawn = WORKFLOW.figures[name]
    if drawn.sets:
        return [measured_row(one, folder / one) for one in drawn.sets]
    if not drawn.comparisons:
        cases = {k: cut_short(words) for k, words in drawn.cases.items()}
        rows = [run_of(k, words, folder / k) for k, words in cases.items()]
        rows += study_rows(drawn.study, folder) if drawn.study else []
        rows += [calibration_row(name, folder / name) for name in drawn.calibrations]
        return rows + [parts_row(k, w, folder / k) for k, w in drawn.parts.items()]
    rng = np.random.default_rng(0)
    mechanism, other = random_mechanism(12, rng)
    run = write_run(folder / "run", mechanism, other, key="0123456789abcdef")
    ingest = write_ingest(folder / "ingest", scanned(mechanism.nodes_mm, rng))
    compare(ComparisonSettings(SCALE_MM), ingest, run, folder / "compared")
    return [Row(c, run, folder / "compared", ingest) for c in drawn.comparisons]
