"""results/paper/<name>: a draft of a manuscript, filled from finished runs."""

import shutil
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from analysis.captions.digits import rounded
from analysis.captions.template import filled, listed
from pipeline.pages.bibliography import bibtex, references
from pipeline.pages.latex import told
from pipeline.pages.manuscript import (
    CITED,
    REFERENCE,
    Block,
    Heading,
    Manuscript,
    PaperFigure,
    PaperTable,
    Paragraph,
    as_latex,
    as_markdown,
    as_page,
)
from pipeline.pages.result_tables import COLUMNS
from pipeline.results.caption_facts import numerical_u
from pipeline.results.saved_figure import caption_in
from pipeline.store.files import write_text
from pipeline.terminal.errors import InputError
from pipeline.terminal.names import no_such

LEAST = 0.001  # of the largest source in a budget, what is told of one
Jobs = Sequence[Mapping[str, Any]]


def paper_facts(jobs: Jobs, comparisons: Jobs, wanted: Sequence[str]) -> dict[str, Any]:
    """What the templates of a draft may name.

    Parameters
    ----------
    jobs : as of `collect_jobs`
    comparisons : as of `collect_comparisons`
    wanted : the comparisons that the draft tells of

    Returns
    -------
    rows : of each comparison `name`, `case`, `scan` (of the virtual lab, or nothing),
        `ingest`, `settings` (the configurations of its runs), `compared`, `key`
    synthetic : whether any scan was computed
    seeds : of the virtual scans
    """
    found = {str(c["name"]): c for c in comparisons}
    for name in wanted:
        if name not in found:
            raise InputError(f"the comparison {name!r} has not finished: run make demo")
    states = {job["key"]: job for job in jobs}
    rows = [_row(found[name], states) for name in wanted]
    seeds = [row["scan"]["seed"] for row in rows if row["scan"]]
    return {
        "rows": rows,
        "synthetic": any(bool(found[name]["synthetic"]) for name in wanted),
        "seeds": seeds,
    }


def _row(
    compared: Mapping[str, Any], states: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """A comparison with the configurations of the runs behind it."""
    compare = states[compared["key"]]
    simulated, ingest = (
        states[compare["roles"][role]] for role in ("simulated", "spheres")
    )
    scan = states.get(str(ingest["roles"].get("scan")), {"config": {}})
    return {
        "name": compared["name"],
        "key": compared["key"],
        "compared": {**compared, **numerical_u(compared["budget"])},
        "case": simulated["config"].get("case", {}),
        "ingest": ingest["config"],
        "scan": scan["config"],
        "settings": compare["config"],
    }


def manuscript(
    paper: Mapping[str, Any], facts: Mapping[str, Any], jobs: Jobs, available: str
) -> Manuscript:
    """A draft with its templates filled.

    Parameters
    ----------
    paper : conf/paper/<name>.yaml, checked
    available : marked text: where the data are
    """
    drawn = {job["name"]: job for job in jobs if job["step"] == "figure"}
    blocks: list[Block] = []
    for section in paper["sections"]:
        blocks.append(Heading(section["title"]))
        blocks += [Paragraph(_filled(t, facts)) for t in section["paragraphs"]]
        blocks += [_figure(name, drawn) for name in section["figures"]]
        for name, template in section["tables"].items():
            blocks.append(_table(name, _filled(template, facts), facts["rows"]))
    blocks += [Heading("Data availability"), Paragraph(available)]
    abstract = _filled(paper["abstract"], facts)
    texts = [abstract, *(getattr(b, "text", "") for b in blocks)]
    texts += [getattr(b, "caption", "") for b in blocks]
    _refuse_loose_ends(texts, blocks)
    named = {key for text in texts for key in CITED.findall(text)}
    cited = {key: one for key, one in references().items() if key in named}
    return Manuscript(paper["title"], paper["authors"], abstract, blocks, cited)


def _refuse_loose_ends(texts: Sequence[str], blocks: Sequence[Block]) -> None:
    """Refuse a draft whose texts refer to a figure or table that is not in it."""
    for kind, what, form in (
        ("fig", "figure", PaperFigure),
        ("tab", "table", PaperTable),
    ):
        there = [block.name for block in blocks if isinstance(block, form)]
        for referred, name in chain.from_iterable(map(REFERENCE.findall, texts)):
            if referred == kind and name not in there:
                raise no_such(f"the draft has no {what}", name, there)


def _filled(template: str, facts: Mapping[str, Any]) -> str:
    try:
        return filled(template, facts)
    except (ValueError, TypeError, KeyError) as error:
        begins = " ".join(template.split()[:6])
        raise InputError(
            f"the text {begins!r}... cannot be filled ({error}): docs/own_files.md has "
            "what a draft may name"
        ) from error


def _figure(name: str, drawn: Mapping[str, Mapping[str, Any]]) -> PaperFigure:
    job = drawn.get(name)
    if job is None or job["status"] != "finished":
        raise InputError(f"the figure {name!r} is not drawn: make figure-{name}")
    return PaperFigure(name, caption_in(job["directory"]))


def _table(name: str, caption: str, rows: Jobs) -> PaperTable:
    if name == "comparisons":
        heads, cells = told([row["compared"] for row in rows], COLUMNS)
        return PaperTable(name, caption, heads, cells)
    sources = [line["source"] for line in rows[0]["compared"]["budget"]]
    each = [
        {line["source"]: line["S_u"] for line in row["compared"]["budget"]}
        for row in rows
    ]
    power = _power_of(each)
    body = [
        [
            source.replace("u_val", r"$u_{\mathrm{val}}$").replace("k = ", "$k$ = "),
            *(_share(float(one.get(source, np.nan)) / 10.0**power) for one in each),
        ]
        for source in sources
    ]
    named = [rf"{row['name']} ($10^{{{power}}}$)" for row in rows]
    return PaperTable(name, caption, ["source", *named], body)


def _share(u: float) -> str:
    """A source of a budget, of which the largest is 1 to 10: squares add up."""
    return f"$< {LEAST:g}$" if 0.0 < u < LEAST else rounded(u, 2)


def _power_of(columns: Sequence[Mapping[str, float]]) -> int:
    """The one power of ten in which all numbers of a table are told."""
    sizes = [abs(u) for column in columns for u in column.values() if np.isfinite(u)]
    largest = max(sizes, default=0.0)
    return int(np.floor(np.log10(largest))) if largest > 0.0 else 0


def availability(rows: Jobs, archive: str, digests: Mapping[str, str]) -> str:
    """Where the data are, marked text.

    Parameters
    ----------
    archive : marked text of the archive, with its SHA-256
    digests : SHA-256 of what each comparison's run holds, by its name
    """
    runs = listed(
        f"`{row['name']}` (run `{row['key']}`, SHA-256 `{digests[row['name']]}`)"
        for row in rows
    )
    return (
        f"Code, configurations, data and results of every number are in {archive}. "
        f"The comparisons are {runs}. `morphtrack trace` leads from any number or "
        "figure to its runs, `morphtrack archive --check` compares every file with its "
        "digest."
    )


def write_paper(name: str, of: Manuscript, results: Path, out: Path) -> list[Path]:
    """Write OUT/NAME.tex, .md and .html with figures, numbers and references.

    Returns
    -------
    the three drafts
    """
    (out / "figures").mkdir(parents=True, exist_ok=True)
    for block in of.blocks:
        if isinstance(block, PaperFigure):
            for suffix in (".pdf", ".png"):
                file = f"{block.name}{suffix}"
                shutil.copyfile(
                    results / "figure" / block.name / file, out / "figures" / file
                )
    shutil.copyfile(results / "numbers.tex", out / "numbers.tex")
    write_text(out / "references.bib", bibtex(of.cited))
    texts = {".tex": as_latex(of), ".md": as_markdown(of), ".html": as_page(of)}
    for suffix, text in texts.items():
        write_text(out / f"{name}{suffix}", text)
    return [out / f"{name}{suffix}" for suffix in texts]
