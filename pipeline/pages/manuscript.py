"""A draft of a manuscript as LaTeX, as Markdown that Quarto reads, and as HTML.

All three are written from the same blocks. Texts are marked as captions are; [fig:NAME]
and [tab:NAME] in them refer to figures and tables of the draft.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from json import dumps
from typing import Any

from analysis.captions.markup import (
    LATEX,
    MARKDOWN,
    SOURCES,
    as_html,
    latex_text,
    markdown_text,
    written,
)
from pipeline.pages.bibliography import as_words

REFERENCE = re.compile(r"\[(fig|tab):([\w\\-]+)\]")
KINDS = {"fig": "Fig.", "tab": "Table"}
CITED = re.compile(rf"\[({'|'.join(SOURCES)})\]")


@dataclass(frozen=True)
class Heading:
    """The title of a section."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """Marked text."""

    text: str


@dataclass(frozen=True)
class PaperFigure:
    """A figure: figures/NAME.pdf and .png, and its caption."""

    name: str
    caption: str


@dataclass(frozen=True)
class PaperTable:
    """A table of marked cells, and its caption."""

    name: str
    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


Block = Heading | Paragraph | PaperFigure | PaperTable


@dataclass(frozen=True)
class Manuscript:
    """What a draft holds.

    Attributes
    ----------
    cited : references of CITATION.cff that its texts cite, by key
    """

    title: str
    authors: Sequence[str]
    abstract: str
    blocks: Sequence[Block]
    cited: Mapping[str, Mapping[str, Any]]


WITHIN = r"\ifdim\width>\linewidth\linewidth\else\width\fi"
AS_DRAWN = r"""\newsavebox\drawn
\newcommand\asdrawn[1]{\sbox\drawn{\includegraphics{#1}}%
  \ifdim\wd\drawn>183.1mm\sbox\drawn{\resizebox{183mm}{!}{\usebox\drawn}}\fi
  \ifdim\ht\drawn>210mm\sbox\drawn{\resizebox{!}{210mm}{\usebox\drawn}}\fi
  \makebox[\linewidth]{\usebox\drawn}}"""  # wider than the text, at its own size


def as_latex(of: Manuscript) -> str:
    """An article of LaTeX; \\input{numbers} has a macro for every number."""
    authors = r" \and ".join(map(latex_text, of.authors))
    lines = [
        r"\documentclass[a4paper,11pt]{article}",
        r"\usepackage[T1]{fontenc}\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}",
        r"\usepackage[utf8]{inputenc}",
        r"\usepackage{textcomp,graphicx,amsmath}",
        r"\usepackage[margin=25mm]{geometry}",
        r"\usepackage[hidelinks]{hyperref}",
        r"\setlength{\belowcaptionskip}{6pt}\renewcommand{\arraystretch}{1.15}",
        AS_DRAWN,
        r"\input{numbers}",
        r"\sloppy",
        rf"\title{{{latex_text(of.title)}}}",
        rf"\author{{{authors}}}",
        r"\begin{document}",
        r"\maketitle",
        rf"\begin{{abstract}}{_latex(of.abstract)}\end{{abstract}}",
        *(_latex_block(block) for block in of.blocks),
        r"\bibliographystyle{unsrt}",
        r"\bibliography{references}",
        r"\end{document}",
    ]
    return "\n\n".join(lines) + "\n"


def _latex(text: str) -> str:
    def reference(found: re.Match[str]) -> str:
        name = found[2].replace(r"\_", "_")
        return rf"{KINDS[found[1]]}~\ref{{{found[1]}:{name}}}"

    return REFERENCE.sub(reference, written(text, LATEX))


def _latex_block(block: Block) -> str:
    match block:
        case Heading(text):
            return rf"\section{{{latex_text(text)}}}"
        case Paragraph(text):
            return _latex(text)
        case PaperFigure(name, caption):
            shown = rf"\asdrawn{{figures/{name}.pdf}}"
            label = rf"\caption{{{_latex(caption)}}}\label{{fig:{name}}}"
            return f"\\begin{{figure}}\n\\centering{shown}\n{label}\n\\end{{figure}}"
        case PaperTable(name, caption, heads, rows):
            kinds = "l" + "r" * (len(heads) - 1)
            lines = [
                r"\begin{table}\centering\small",
                rf"\caption{{{_latex(caption)}}}\label{{tab:{name}}}",
                rf"\resizebox{{{WITHIN}}}{{!}}{{\begin{{tabular}}{{{kinds}}}\hline",
                " & ".join(map(_latex, heads)) + r" \\ \hline",
                *(" & ".join(map(_latex, row)) + r" \\" for row in rows),
                r"\hline\end{tabular}}",
                r"\end{table}",
            ]
            return "\n".join(lines)


def as_markdown(of: Manuscript) -> str:
    """Markdown as Quarto and pandoc read it; its head is YAML, of lines of JSON."""
    head = {
        "title": markdown_text(of.title),
        "author": [markdown_text(name) for name in of.authors],
        "abstract": _markdown(of.abstract),
        "bibliography": "references.bib",
    }
    lines = [
        f"{key}: {dumps(value, ensure_ascii=False)}" for key, value in head.items()
    ]
    blocks = [*map(_markdown_block, of.blocks), "# References"]
    return "\n\n".join(["\n".join(["---", *lines, "---"]), *blocks]) + "\n"


def _markdown(text: str) -> str:
    def reference(found: re.Match[str]) -> str:
        kind = found[1].replace("tab", "tbl")
        return f"@{kind}-{found[2]}".replace(r"\_", "_")

    return REFERENCE.sub(reference, written(text, MARKDOWN))


def _markdown_block(block: Block) -> str:
    match block:
        case Heading(text):
            return f"# {markdown_text(text)}"
        case Paragraph(text):
            return _markdown(text)
        case PaperFigure(name, caption):
            return f"![{_markdown(caption)}](figures/{name}.png){{#fig-{name}}}"
        case PaperTable(name, caption, heads, rows):
            table = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
            lines = ["| " + " | ".join(map(_markdown, row)) + " |" for row in table]
            return "\n".join([*lines, "", f": {_markdown(caption)} {{#tbl-{name}}}"])


def as_page(of: Manuscript) -> str:
    """One page of HTML beside the folder of its figures; numbers stand for labels."""
    numbers: dict[str, str] = {}
    for kind, what in (("fig", PaperFigure), ("tab", PaperTable)):
        names = [block.name for block in of.blocks if isinstance(block, what)]
        numbers |= {
            f"{kind}:{name}": f"{KINDS[kind]} {k + 1}" for k, name in enumerate(names)
        }

    def html(text: str) -> str:
        return REFERENCE.sub(lambda m: numbers[f"{m[1]}:{m[2]}"], as_html(text))

    sources = "".join(
        f"<li>[{key}] {escape(as_words(one))}</li>" for key, one in of.cited.items()
    )
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f"<title>{escape(of.title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>{escape(of.title)}</h1><p>{escape(', '.join(of.authors))}</p>",
        f"<p><b>Abstract.</b> {html(of.abstract)}</p>",
        *(_html_block(block, html, numbers) for block in of.blocks),
        f"<h2>References</h2><ul>{sources}</ul></body></html>",
    ]
    return "\n".join(parts) + "\n"


STYLE = (
    "body{font:16px/1.5 serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
    "img{max-width:100%}figure,table{margin:1rem 0}table{border-collapse:collapse;"
    "font-size:.85rem}td,th{padding:.2rem .6rem;text-align:right}"
    "td:first-child,th:first-child{text-align:left}"
    "figcaption,caption{font-size:.85rem;text-align:left}"
)


def _html_block(
    block: Block, html: Callable[[str], str], numbers: Mapping[str, str]
) -> str:
    match block:
        case Heading(text):
            return f"<h2>{escape(text)}</h2>"
        case Paragraph(text):
            return f"<p>{html(text)}</p>"
        case PaperFigure(name, caption):
            shown = f'<img src="figures/{name}.png" alt="{name}">'
            label = f"{numbers[f'fig:{name}']}. {html(caption)}"
            return f"<figure>{shown}<figcaption>{label}</figcaption></figure>"
        case PaperTable(name, caption, heads, rows):
            label = f"<caption>{numbers[f'tab:{name}']}. {html(caption)}</caption>"
            top = "".join(f"<th>{html(head)}</th>" for head in heads)
            body = "".join(
                f"<tr>{''.join(f'<td>{html(one)}</td>' for one in row)}</tr>"
                for row in rows
            )
            return f"<table>{label}<tr>{top}</tr>{body}</table>"
