"""What is made again and again: a small study, and a small workflow.

The commands are the real ones. In place of Snakemake their jobs run here, in the order
of the plan and where a receipt is older than what it is made of; processes that a
command would start are called as functions; the page is left out.
"""

import hashlib
import os
import pickle
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock
from urllib import request

import numpy as np
import yaml
from matplotlib import mathtext
from matplotlib.backends import _backend_pdf_ps as fonts
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.figure import Figure
from mlflow.store.db import utils as database_files
from PIL import ImageFile
from requests import utils

from pipeline.commands import run as run_command
from pipeline.commands import study as study_command
from pipeline.commands import study_table as table_command
from pipeline.commands import track as track_command
from pipeline.config.workflow_file import read_workflow
from pipeline.results import saved_figure
from pipeline.steps import compare_series
from pipeline.store import case_job, variations
from pipeline.store.plan_file import plan_path, read_by, read_document
from pipeline.store.receipts import receipt_path
from pipeline.terminal.errors import DONE, FAILED, command
from pipeline.workflow import fresh, plan, study, workflow
from tests.faults.simulated.calls import REAL, Calls

SHEET = {"case.structure.rows": 1, "case.structure.columns": 1}
DOOMED = {"case.max_steps": 1}  # a run that fails by itself
MAINS = {
    "track": track_command.main,
    "study_table": table_command.main,
    "run": run_command.main,
}
SERIES = """quantity,at,value,u,part
E,1,0.5,0.5,held out
E,2,0.4,0.5,held out
E,3,0.3,0.5,held out
"""


def _process(calls: Calls, name: str, *words: str) -> int:
    """What a process of a command of ours would do, and its exit status."""
    try:
        calls.call("start", name, lambda: None)
    except BlockingIOError as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED
    try:
        return int(MAINS[name](list(words)))
    except Exception:
        traceback.print_exc()
        return FAILED


def _age(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_mtime_ns
    return 0


def _is_made(name: str) -> bool:
    """As Snakemake sees it: the receipt is there and no older than what is read."""
    receipt = receipt_path(name)
    needed = [n for ns in read_by(read_document(name)).values() for n in ns]
    inputs = [plan_path(name), *map(receipt_path, needed)]
    return receipt.exists() and _age(receipt) >= max(map(_age, inputs))


def _fan_out(calls: Calls) -> Callable[..., list[tuple[str, str]]]:
    def fanned(plan: Mapping[str, Any], *_: Any) -> list[tuple[str, str]]:
        for name in plan["names"]:
            needed = [n for ns in plan["names"][name]["reads"].values() for n in ns]
            ready = all(receipt_path(n).exists() for n in needed)
            if ready and not _is_made(name):
                with suppress(FileNotFoundError):  # so does Snakemake
                    REAL["unlink"](receipt_path(name))
                _process(calls, "run", "--planned", name)
        return []

    return fanned


def _followed(calls: Calls, *, tracks: bool) -> Callable[[], Any]:
    @contextmanager
    def followed() -> Iterator[SimpleNamespace]:
        tracker = SimpleNamespace(returncode=0)
        yield tracker
        if tracks:
            tracker.returncode = _process(calls, "track")

    return followed


_KNOWN: dict[Any, Any] = {}


def _plain(*given: Any) -> str:
    return given[0] if given and isinstance(given[0], str) else ""


def _whole(*given: Any) -> str:
    return hashlib.sha256(pickle.dumps(given)).hexdigest()


def _once(
    name: str, act: Callable[..., Any], told: Callable[..., str] = _plain
) -> Callable[..., Any]:
    """What is made of conf, packages or arguments alone: the same every time.

    Parameters
    ----------
    told : what of the arguments it depends on
    """

    def known(*given: Any, **how: Any) -> Any:
        place = f"{name} {told(*given)}"
        if place not in _KNOWN:
            _KNOWN[place] = act(*given, **how)
        return _KNOWN[place]

    return known


_draw = Figure.draw
_parse = mathtext.MathTextParser._parse_cached.__wrapped__
_encode_tile = ImageFile._encode_tile
_glyphs_subset, _font_as_file = fonts.get_glyphs_subset, fonts.font_as_file


def _drawn(figure: Any, renderer: Any) -> None:
    """Pixels are copied where the same figure was drawn; a PDF is drawn each time."""
    raster = isinstance(renderer, RendererAgg)
    told = (id(figure), raster and (renderer.width, renderer.height, renderer.dpi))
    settled = f"{saved_figure.__name__}.settle {id(figure)}" in _KNOWN
    if settled and "draw_path" in vars(renderer):
        return  # a look for the layout, which is settled
    if not raster or not settled:
        _draw(figure, renderer)
    elif told in _KNOWN:
        np.asarray(renderer.buffer_rgba())[:] = _KNOWN[told]
    else:
        _draw(figure, renderer)
        _KNOWN[told] = np.asarray(renderer.buffer_rgba()).copy()


def _formula(parser: Any, *given: Any) -> Any:
    """A formula set once for all drawings; matplotlib keeps fifty for one of them."""
    told = (parser._output_type, *given)
    if told not in _KNOWN:
        _KNOWN[told] = _parse(parser, *given)
    return _KNOWN[told]


def _glyphs(file: Any, glyphs: Any) -> str:
    return f"{file} {file.face_index} {list(glyphs)}"


def _subset(file: Any, glyphs: Any) -> Any:
    """What of a font a PDF embeds, as bytes; matplotlib cuts it anew each time."""
    with _glyphs_subset(file, glyphs) as cut:
        font = _font_as_file(cut.font).getvalue()
    return nullcontext(SimpleNamespace(font=font, glyph_index_map=cut.glyph_index_map))


def _compressed(image: Any, fp: Any, tile: Any, size: int, *how: Any) -> None:
    """Pixels that were compressed before, in the same pieces."""
    told = f"{hashlib.sha256(image.tobytes()).hexdigest()} {tile} {size}"
    if how[0] is not None:  # straight into a file
        _encode_tile(image, fp, tile, size, *how)
        return
    if told not in _KNOWN:
        pieces: list[bytes] = []
        _encode_tile(image, SimpleNamespace(write=pieces.append), tile, size, *how)
        _KNOWN[told] = pieces
    for piece in _KNOWN[told]:
        fp.write(piece)


def _read_once() -> Iterator[tuple[Any, str, Any]]:
    """What makes no call below `results`, and would cost most of a trial."""
    for place, name, told in (
        (study_command, "read_study", _plain),
        (sys.modules[__name__], "read_workflow", _plain),
        (fresh, "read_workflow", _plain),
        (fresh, "state_of_inputs", lambda files: str(sorted(files))),
        (plan, "planned", _plain),
        (study, "members", _plain),
        (track_command, "read_options", _plain),
        (variations, "_plain", _plain),
        (case_job, "build", lambda config, _: str(config)),
        (compare_series, "measured_series", _whole),
        (saved_figure, "settle", lambda figure: str(id(figure))),
        (utils, "getproxies", _plain),
        (request, "getproxies_environment", _plain),
        (database_files, "_get_latest_schema_revision", _plain),
    ):
        yield place, name, _once(f"{place.__name__}.{name}", getattr(place, name), told)
    yield Figure, "draw", _drawn
    yield mathtext.MathTextParser, "_parse_cached", _formula
    yield fonts, "get_glyphs_subset", _once("subset", _subset, _glyphs)
    yield fonts, "font_as_file", BytesIO
    yield ImageFile, "_encode_tile", _compressed


@contextmanager
def in_one_process(calls: Calls, *, tracks: bool = True) -> Iterator[None]:
    """Let commands call what they would start."""

    def called(name: str, *words: str) -> int:
        return _process(calls, name, *words) if name != "track" or tracks else DONE

    page = SimpleNamespace(follow=lambda: None, finish=lambda: DONE)
    parts: list[tuple[Any, str, Any]] = [
        (study, "fan_out", _fan_out(calls)),
        (study, "followed", _followed(calls, tracks=tracks)),
        (study, "call", called),
        (workflow, "fan_out", _fan_out(calls)),
        (workflow, "followed", _followed(calls, tracks=tracks)),
        (workflow, "call", called),
        (workflow, "call_silently", called),
        (workflow, "plan_without_compiling", lambda **words: fresh.fresh_plan(**words)),
        (workflow, "Page", lambda: page),
    ]
    with ExitStack() as stack:
        for place, name, act in [*parts, *_read_once()]:
            stack.enter_context(mock.patch.object(place, name, act))
        yield


@command
def _make() -> int:
    return workflow.make(read_workflow(), "", workflow.Running())[0]


def make_study() -> int:
    """The study: three runs, of which one fails by itself, table, MLflow."""
    return study_command.main(["mine"])


def make_workflow() -> int:
    """The workflow: a case, its comparison with a series, MLflow."""
    return _make()


def plan_study() -> int:
    """The plan of the study, and nothing made."""
    found = study_command.read_study("mine")
    study.written_plan(found, study.planned_runs(found), retry=False)
    return DONE


def furnish_study(conf: Path) -> None:
    """Three points of a small sheet."""
    points: list[dict[str, Any]] = [{"case.target.radius": r} for r in (1.8, 1.9, 2.0)]
    points[1] |= DOOMED
    points = [point | SHEET for point in points]
    wanted = {"case": "triangles_cylinder", "design": "list", "runs": points}
    wanted |= {"response": [], "batches": 2}
    (conf / "study").mkdir(exist_ok=True)
    (conf / "study" / "mine.yaml").write_text(yaml.safe_dump(wanted))


def furnish_workflow(conf: Path) -> None:
    """One case beside one series."""
    (conf / "series" / "mine.csv").write_text(SERIES)
    case: dict[str, Any] = {"defaults": ["triangles_cylinder", "_self_"]}
    case |= {"structure": {"rows": 1, "columns": 1}}
    (conf / "case" / "small.yaml").write_text(yaml.safe_dump(case))
    entry = {"case": "small", "measured": "conf/series/mine.csv", "along": "step"}
    wanted = {"series": {"mine": {**entry, "synthetic": True}}}
    (conf / "workflow.yaml").write_text(yaml.safe_dump(wanted))


PROJECTS: dict[str, tuple[Callable[[Path], None], Callable[[], int]]] = {
    "study": (furnish_study, make_study),
    "workflow": (furnish_workflow, make_workflow),
}


# Two commands at once: what is there before, and what each does.
PAIRS: dict[str, tuple[Callable[[], int], Callable[[], int], Callable[[], int]]] = {
    "study, track": (lambda: DONE, make_study, lambda: track_command.main([])),
    "study, study": (lambda: DONE, make_study, make_study),
    "job, job": (
        plan_study,
        lambda: run_command.main(["simulate/mine.1"]),
        lambda: run_command.main(["simulate/mine.1"]),
    ),
    "job, track": (
        plan_study,
        lambda: run_command.main(["simulate/mine.1"]),
        lambda: track_command.main([]),
    ),
}


def run_as(folder: Path) -> None:
    """Work in a folder, as a command there would."""
    os.chdir(folder)
    os.environ["PWD"] = str(folder)
