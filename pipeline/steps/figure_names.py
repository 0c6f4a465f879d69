"""Which figures can be drawn, and by which module."""

from pathlib import Path

from pipeline.terminal.names import no_such

DRAWN_BY = "pipeline.figures"
FOLDER = Path(__file__).parents[1] / "figures"
NOT_FIGURES = ("__init__", "measured", "morph_paths")
SETS = Path("conf/measured")
OF_SET = "measured-"  # what the figure of a measured set is called before its name


def figure_names() -> list[str]:
    """The figures that have a module, and one of each measured set."""
    stems = sorted(path.stem for path in FOLDER.glob("*.py"))
    own = [stem.replace("_", "-") for stem in stems if stem not in NOT_FIGURES]
    return own + [f"{OF_SET}{path.stem}" for path in sorted(SETS.glob("*.yaml"))]


def _file_of(figure: str) -> str:
    """The file of the module that draws a figure, without suffix."""
    of_set = figure.startswith(OF_SET)
    return OF_SET.rstrip("-") if of_set else figure.replace("-", "_")


def first_line(figure: str) -> str:
    """What the module of a figure says that it shows."""
    with (FOLDER / f"{_file_of(figure)}.py").open(encoding="utf-8") as file:
        return file.readline().strip('" \n')


def module_of(figure: str) -> str:
    """The module that draws `figure`."""
    if figure not in figure_names():
        raise no_such("there is no figure", figure, figure_names())
    return f"{DRAWN_BY}.{_file_of(figure)}"
