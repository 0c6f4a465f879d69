"""A figure and its caption as files, what they stand on in their metadata."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from analysis.captions.markup import LATEX, written
from analysis.figures.style import hide_runs, settle, styled
from pipeline.store.files import replacing, write_text
from pipeline.store.provenance.sidecar import Origin, origin_text

PNG_DPI = 600
SMALLER = 3  # times: what a page embeds has 200 dots an inch
SMALL = "-small.png"  # what follows the name of a figure in that of its small picture
CAPTION_FILE = "caption.md"  # in the folder of a figure
NOWHERE = Origin()


@dataclass(frozen=True)
class Saving:
    """How a figure is saved.

    Parameters
    ----------
    identity : whether a line below the art names the runs
    svg : whether there is an SVG beside PDF and PNG
    """

    identity: bool = True
    svg: bool = False


def save(
    figure: Figure, stem: Path, origin: Origin, saving: Saving | None = None
) -> list[Path]:
    """Write STEM.pdf, STEM.png and, if asked, STEM.svg, with their origin."""
    how = saving or Saving()
    if not how.identity:
        hide_runs(figure)
    box = settle(figure)
    kinds = (".pdf", ".png", ".svg") if how.svg else (".pdf", ".png")
    files = [stem.with_name(f"{stem.name}{suffix}") for suffix in kinds]
    for path in files:
        with styled(), replacing(path) as temporary:
            figure.savefig(
                temporary,
                format=path.suffix[1:],
                metadata=_metadata(path, origin),
                facecolor="white",
                bbox_inches=box,
                dpi=PNG_DPI,
            )
    return files


def _metadata(path: Path, origin: Origin) -> dict[str, Any]:
    """Title and origin, by the keys that the kind of file has; no date."""
    made, text = {"Title": path.stem, "Creator": "morphtrack"}, origin_text(origin)
    if path.suffix == ".png":
        return made | {"Description": text, "Software": "morphtrack"}
    if path.suffix == ".svg":
        return made | {"Description": text, "Date": None}
    return made | {"Keywords": text, "CreationDate": None}


def write_small(stem: Path) -> None:
    """STEM-small.png, for pages: STEM.png a third as wide, in 256 colours."""
    small = stem.with_name(stem.name + SMALL)
    picture = stem.with_name(f"{stem.name}.png")
    with Image.open(picture) as whole, replacing(small) as temporary:
        few = whole.convert("RGB").reduce(SMALLER).quantize(256)
        few.save(temporary, format="PNG", optimize=True)


def write_caption(caption: str, out: Path, origin: Origin) -> list[Path]:
    """Write caption.md and caption.tex; a remark at their end names the runs by key.

    Parameters
    ----------
    caption : marked text (analysis.captions.markup)
    """
    made = origin_text(origin)
    texts = {
        CAPTION_FILE: f"{caption}\n\n<!-- {made} -->\n",
        "caption.tex": f"{written(caption, LATEX)}\n% {made}\n",
    }
    for name, text in texts.items():
        write_text(out / name, text)
    return [out / name for name in texts]


def caption_in(directory: Path) -> str:
    """The caption, marked text, of the figure in a folder; "" where it has none."""
    path = directory / CAPTION_FILE
    return path.read_text(encoding="utf-8").partition("\n")[0] if path.is_file() else ""
