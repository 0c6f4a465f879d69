"""A figure and its caption as files, what they stand on in their metadata."""

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from analysis.captions.markup import LATEX, written
from analysis.figures.style import RC
from pipeline.store.files import replacing, write_text
from pipeline.store.provenance.sidecar import Origin, origin_text

PNG_DPI = 250
CAPTION_FILE = "caption.md"  # in the folder of a figure
NOWHERE = Origin()


def save(figure: Figure, stem: Path, origin: Origin) -> list[Path]:
    """Write STEM.pdf and STEM.png, their origin in their metadata; return both."""
    made = {"Title": stem.name, "Creator": "morphtrack"}
    pdf = made | {"Keywords": origin_text(origin), "CreationDate": None}
    png = made | {"Description": origin_text(origin), "Software": "morphtrack"}
    files = [stem.with_name(f"{stem.name}{suffix}") for suffix in (".pdf", ".png")]
    for path, metadata in zip(files, (pdf, png), strict=True):
        with rc_context(RC), replacing(path) as temporary:
            figure.savefig(
                temporary,
                format=path.suffix[1:],
                metadata=metadata,
                facecolor="white",
                dpi=PNG_DPI,
            )
    return files


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
