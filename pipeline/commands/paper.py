"""Draft a manuscript from finished runs: morphtrack paper NAME.

conf/paper/NAME.yaml says title, text and figures; results/paper/NAME gets the draft as
LaTeX, as Markdown for Quarto or pandoc, and as HTML, with figures, tables, numbers.tex
and references.bib. Where latexmk or pdflatex is installed, it is compiled too. --make
first makes the comparisons and the figures of the draft that are not finished.
"""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.commands.figure import rows_drawn
from pipeline.commands.make import main as make
from pipeline.config.paper_file import Paper, paper_names, read_paper
from pipeline.crate.archive import ARCHIVE
from pipeline.pages.jobs import collect_jobs
from pipeline.pages.manuscript import PaperFigure
from pipeline.pages.paper import availability, manuscript, paper_facts, write_paper
from pipeline.pages.report import collect_comparisons
from pipeline.pages.result_tables import collect_series, write_result_tables
from pipeline.steps.figure import FigureConfig, run_step
from pipeline.store.digests import DIGESTS
from pipeline.store.keys import file_digest
from pipeline.store.runs import RESULTS, run_record
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, FAILED, command
from pipeline.workflow.order import COMPARISONS

NO_ARCHIVE = "an archive that is not made yet (`make archive`, then `make paper` again)"
LATEXMK = ("latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error")
PDFLATEX = ("pdflatex", "-interaction=nonstopmode", "-halt-on-error")
MOST_SECONDS = 300.0


def arguments() -> OneLineParser:
    parser = OneLineParser("paper", __doc__)
    parser.add_argument("name", help=f"one of {', '.join(paper_names())}")
    parser.add_argument("--make", action="store_true", help="what it needs, first")
    parser.add_argument("--results", type=Path, default=RESULTS)
    return parser


def make_needed(paper: Paper, results: Path) -> int:
    """Make the comparisons, then each figure of the draft that they do not bring."""
    drawn = {figure for section in paper.sections for figure in section.figures}
    status = make([COMPARISONS])
    for figure in sorted(drawn):
        if not status and not (results / "figure" / figure).is_dir():
            status = make([figure])
    return status


def archive_said(path: Path, results: Path) -> str:
    """The archive with its SHA-256, as marked text; what there is to do without one."""
    newer = (results / "plan" / "plan.json").stat().st_mtime
    if not path.is_file():
        return NO_ARCHIVE
    if path.stat().st_mtime < newer:
        return f"an archive older than these results: {NO_ARCHIVE}"
    return (
        f"the archive `{path.name}` ({path.stat().st_size / 1e6:.0f} MB, SHA-256 "
        f"`{file_digest(path)}`)"
    )


def compilers(name: str) -> list[tuple[str, ...]]:
    """The commands that make NAME.pdf with what this machine has."""
    if shutil.which("latexmk"):
        return [(*LATEXMK, name)]
    if shutil.which("pdflatex"):
        once = (*PDFLATEX, name)
        cited = [("bibtex", name)] if shutil.which("bibtex") else []
        return [once, *cited, once, once]
    return []


def compiled(name: str, out: Path) -> int:
    """Make OUT/NAME.pdf where LaTeX is installed; say what came of it."""
    made = compilers(name)
    for words in made:
        done = subprocess.run(
            words, cwd=out, capture_output=True, timeout=MOST_SECONDS, check=False
        )
        if done.returncode:
            log = out / f"{name}.log"
            said = log.read_text("utf-8", "replace") if log.is_file() else ""
            why = re.search(r"^! ?(.+)", said, re.MULTILINE)
            told = f"{why[1]}: " if why else ""
            print(f"error: {words[0]} failed: {told}{log} says more")
            return FAILED
    said = f"{out / name}.pdf" if made else "not made: this machine has no LaTeX"
    print(f"pdf      {said}")
    return DONE


def leave_out_runs(name: str, results: Path, out: Path) -> None:
    """Draw a figure of the draft again, of the same runs, without their keys."""
    config = FigureConfig(**run_record(results / "figure" / name)["config"])
    with TemporaryDirectory() as folder:
        run_step(
            replace(config, identity=False), rows_drawn(name, results), Path(folder)
        )
        for suffix in (".pdf", ".png"):
            shutil.copyfile(Path(folder) / f"{name}{suffix}", out / f"{name}{suffix}")


@command
def main(argv: list[str] | None = None) -> int:
    """Write one draft."""
    given = arguments().parse_args(argv)
    paper, results = read_paper(given.name), given.results
    if given.make and make_needed(paper, results):
        return FAILED
    jobs = collect_jobs(results)
    comparisons = collect_comparisons(jobs)
    facts = paper_facts(jobs, comparisons, paper.comparisons)
    write_result_tables(comparisons, results, collect_series(jobs))
    digests = {
        row["name"]: file_digest(results / "runs" / row["key"] / DIGESTS)
        for row in facts["rows"]
    }
    archive = archive_said(results / ARCHIVE.name, results)
    said = availability(facts["rows"], archive, digests)
    draft = manuscript(paper.model_dump(), facts, jobs, said)
    out = results / "paper" / given.name
    for path in write_paper(given.name, draft, results, out):
        print(f"{path.suffix[1:]:8} {path}")
    for block in draft.blocks:
        if isinstance(block, PaperFigure):
            leave_out_runs(block.name, results, out / "figures")
    return compiled(given.name, out)
