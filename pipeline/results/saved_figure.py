"""A figure as files, what it stands on in their metadata."""

from pathlib import Path

from matplotlib import rc_context
from matplotlib.figure import Figure

from analysis.figures.style import RC
from pipeline.store.files import replacing
from pipeline.store.provenance.sidecar import Origin, origin_text

PNG_DPI = 250
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
