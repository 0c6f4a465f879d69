"""What make demo leaves: counts, links, traces, an archive that rebuilds it."""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.faults.outside_checker import findings
from tests.pipeline.conftest import ROOT

pytestmark = pytest.mark.slow

PAGE = Path("results/report/index.html")
DRAWN = ("*.png", "*.pdf", "*.tex", "*.csv")


def morphtrack(folder, *words):
    """A command in `folder`, with the code that stands there."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MLFLOW_")}
    done = subprocess.run(
        [sys.executable, "-m", "pipeline", *words],
        cwd=folder,
        env=environment | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def current(told):
    """Whether a trace names runs, and none that is out of date."""
    return told.endswith("up to date: every link holds\n")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A copy of the project's files, in which what make demo makes was made."""
    folder = tmp_path_factory.mktemp("shipped") / "project"
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.rstrip("\0").split("\0"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    morphtrack(folder, "make", "comparisons")
    morphtrack(folder, "track")
    return folder


@pytest.fixture(scope="module")
def archive(made):
    """The archive of it."""
    morphtrack(made, "archive", "--out", "demo.zip")
    return made / "demo.zip"


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


def test_nothing_of_the_results_is_lost_doubled_or_left_over(made):
    assert findings(made) == []


def test_every_link_of_the_page_leads_somewhere(made, page):
    assert len(page.inside) > 20, "the page leads to its runs"
    assert page.inside - page.places == set()
    assert [f for f in page.files if not (made / PAGE.parent / f).exists()] == []


def test_every_run_of_the_page_is_traced_to_what_it_stands_on(made, page):
    runs = {path.name for path in (made / "results" / "runs").iterdir()}
    shown = sorted(run for run in runs if f"run-{run}" in page.places)

    assert len(shown) > len(runs) / 2
    for run in shown:
        assert current(morphtrack(made, "trace", f"{PAGE}#run-{run}"))


def test_every_figure_and_table_is_traced_to_what_it_stands_on(made):
    drawn = sorted({p for kind in DRAWN for p in made.glob(f"results/figure/*/{kind}")})

    assert drawn
    for path in drawn:
        assert current(morphtrack(made, "trace", str(path)))


def test_the_archive_is_whole(made, archive):
    told = morphtrack(made, "archive", "--check", str(archive)).split()
    assert told[-2:] == ["digests", "hold"]
    assert int(told[-3]) > 1000, "code, configurations, data and results"


def test_what_the_archive_holds_makes_the_same_results_anew(made, archive):
    anew = made.parent / "anew"
    morphtrack(made, "archive", "--unpack", str(archive), "--into", str(anew), "--bare")
    assert not (anew / "results").exists()
    morphtrack(anew, "make", "comparisons")
    morphtrack(anew, "track")
    told = morphtrack(anew, "archive", "--compare", str(archive)).splitlines()

    assert findings(anew) == []
    runs = len(list((made / "results" / "runs").iterdir()))
    assert (
        told[-2] == f"{runs} of {runs} runs of the archive are here under the same key"
    )
    assert ", 0 differ;" in told[-1]
