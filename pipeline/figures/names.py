"""Which figures can be drawn, and by which module."""

from pathlib import Path

from pipeline.errors import InputError

HERE = Path(__file__).parent
NOT_FIGURES = ("__init__", "morph_paths", "names", "shown")


def figure_names() -> list[str]:
    """The figures that have a module."""
    stems = sorted(path.stem for path in HERE.glob("*.py"))
    return [stem.replace("_", "-") for stem in stems if stem not in NOT_FIGURES]


def module_of(figure: str) -> str:
    """The module that draws `figure`."""
    if figure not in figure_names():
        raise InputError(
            f"there is no figure {figure!r}: choose one of {', '.join(figure_names())}"
        )
    return f"pipeline.figures.{figure.replace('-', '_')}"
