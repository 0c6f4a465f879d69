"""What make figures leaves: counts, links, traces, an archive that rebuilds it."""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from pipeline.runs.run_attempts import running_directories
from pipeline.runs.run_directory import named_keys
from pipeline.runs.run_keys import edits, recorded_digests
from pipeline.runs.sidecars import read_sidecar
from pipeline.runs.step_jobs import RECORD, content_digest
from tests.pipeline.conftest import ROOT

pytestmark = pytest.mark.slow

KERNELS = ROOT / ".numba_cache"  # compiled once for all copies of the same code
PAGE = Path("results/report/index.html")
TRACED = (
    "figure/*/*.pdf",
    "figure/*/*.png",
    "figure/*/*.svg",
    "figure/*/*.tex",
    "figure/*/*.csv",
    "tables/*.*",
    "study/*/*.csv",
    "study/*/*.p*",
    "numbers.tex",
)
CURRENT = "up to date: nothing has changed\n"
LARGEST_REPORT_MB = 20.0
# What SMALL=1 leaves out, which takes longer than all the rest.
LONGEST = {
    "conf/workflow.yaml": (r"\n  measured-(circle_square|lce|tendon)_.*", "", 3),
    "conf/study/folding_sequences.yaml": (r"(\[\s*(?:[-\d]+, ){6})[^]]*", r"\1", 1),
    "conf/case/folding_sequence.yaml": (
        r"draws: \[61, 200, 600, 1800\]",
        "draws: [61]",
        1,
    ),
}
TRACES = """
import contextlib, functools, io, json, sys
from pipeline.cli.app import called
from pipeline.cli import trace
# conf stays as it is meanwhile
trace.find_jobs_now = functools.cache(trace.find_jobs_now)
told = {}
for line in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        called(["trace", line])
    told[line] = text.getvalue()
print(json.dumps(told))
"""


def python(folder, *words, given="", status=0):
    """Python in `folder`, with the code that stands there."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW_")}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(KERNELS)},
        input=given,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )
    assert done.returncode == status, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def morphtrack(folder, *words, status=0):
    """A command in `folder`, with the code that stands there."""
    return python(folder, "-m", "pipeline", *words, status=status)


def traces(folder, traced):
    """What morphtrack trace tells of files and addresses, asked in one process."""
    return json.loads(python(folder, "-c", TRACES, given=json.dumps(traced)))


def out_of_date(told):
    """Of traces those that do not end with all links whole, tracked in MLflow."""
    return {
        traced: text
        for traced, text in told.items()
        if not text.endswith(CURRENT) or "MLflow not tracked" in text
    }


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A copy of the project's files, in which everything was made."""
    folder = tmp_path_factory.mktemp("shipped") / "project"
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.rstrip("\0").split("\0"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    if os.environ.get("SMALL"):
        for name, (longest, left, times) in LONGEST.items():
            text, count = re.subn(longest, left, (folder / name).read_text())
            assert count == times, name
            (folder / name).write_text(text)
    morphtrack(folder, "make")
    morphtrack(folder, "track")
    return folder


class Page(HTMLParser):
    """The places of a page, those of its embedded texts too, and what it leads to."""

    def __init__(self, text):
        super().__init__()
        self.files = set()
        self.places = set(re.findall(r'\bid=\\?"([^"\\]+)', text))
        self.inside = set(re.findall(r'\bhref=\\?"#([^"\\]+)', text))
        self.feed(text)

    def handle_starttag(self, _, attrs):
        """Note where a tag leads."""
        for name, value in attrs:
            if name in ("href", "src") and value and not re.match(r"#|[a-z]+:", value):
                self.files.add(unquote(value.partition("#")[0]))


@pytest.fixture(scope="module")
def page(made):
    return Page((made / PAGE).read_text())


def check_whole(project):
    """Every run has its files, every result those of its run; nothing is left over."""
    results = project / "results"
    runs = sorted((results / "runs").iterdir())
    assert {run.name: changed for run in runs if (changed := edits(run))} == {}
    assert running_directories(results) == []
    assert list(results.rglob(".*.tmp")) == []
    named = named_keys(results)
    assert named.keys() >= {"simulate/triangles_cylinder", "compare/cylinder"}
    for name, key in named.items():
        files = [RECORD, *recorded_digests(results / "runs" / key)]
        run = results / "runs" / key
        assert all((results / name / file).samefile(run / file) for file in files)


def test_every_result_is_the_files_of_a_whole_run(made):
    check_whole(made)


def test_every_link_of_the_page_leads_somewhere(made, page):
    assert len(page.inside) > 20, "the page leads to its runs"
    assert page.inside - page.places == set()
    assert [f for f in page.files if not (made / PAGE.parent / f).exists()] == []


def test_every_run_of_the_page_is_traced_to_what_it_stands_on(made, page):
    runs = {path.name for path in (made / "results" / "runs").iterdir()}
    shown = sorted(run for run in runs if f"run-{run}" in page.places)

    assert len(shown) > len(runs) / 2
    assert out_of_date(traces(made, [f"{PAGE}#run-{run}" for run in shown])) == {}
    assert morphtrack(made, "trace", f"{PAGE}#run-{shown[0]}").endswith(CURRENT)


def test_every_figure_and_table_is_traced_to_what_it_stands_on(made):
    found = {path for kind in TRACED for path in made.glob(f"results/{kind}")}
    drawn = sorted(path for path in found if path.suffix != ".json")
    told = traces(made, [str(path) for path in drawn])

    assert len(drawn) > 100
    large = [path for path in drawn if not path.name.endswith("-small.png")]
    assert [path for path in large if read_sidecar(path) is None] == []
    assert out_of_date(told) == {}
    of_a_scan = [text for path, text in told.items() if "dejong-3" in path]
    assert of_a_scan
    assert all("view_00.ply  sha256 " in text for text in of_a_scan)


def test_the_page_is_small_and_shows_every_picture(made):
    assert (made / PAGE).stat().st_size < LARGEST_REPORT_MB * 1e6
    assert "No picture" not in (made / PAGE).read_text()


def test_what_the_archive_holds_makes_the_same_results_anew(made):
    """The comparisons and what they need: all of it would take as long again."""
    morphtrack(made, "archive", "--out", "shipped.zip")
    anew = made.parent / "anew"
    subprocess.run(["unzip", "-q", str(made / "shipped.zip"), "-d", anew], check=True)
    subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=anew, check=True)
    shutil.rmtree(anew / "results")
    morphtrack(anew, "make", "comparisons")
    morphtrack(anew, "track")

    check_whole(anew)
    runs = sorted((anew / "results" / "runs").iterdir())
    assert len(runs) > 20
    for run in runs:
        assert content_digest(run) == content_digest(made / "results/runs" / run.name)
