"""How every figure looks: its width, fonts that stay text, colours that survive grey.

The colours are of Okabe and Ito's set, distinct with every common colour
blindness; where two series meet they also differ in lightness and in shape.

`sheet` places panels on a page: side by side as far as it is wide, then in further
rows. `UNITS` is what axes say of the columns of steps.csv.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain, repeat
from string import ascii_lowercase
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox, ScaledTranslation
from mpl_toolkits.axes_grid1.anchored_artists import AnchoredSizeBar

from analysis.figures.captions import rounded
from sim.core.arrays import Floats

SIMULATED = "#0072B2"  # blue
SCANNED = "#E69F00"  # orange, as the paper's printed spheres
SCANNED_EDGE = "#7A4B00"
TARGET = "#8C8C8C"
ERROR = "#000000"
SHAPE = "#0072B2"
FAINT = "#5A5A5A"
ON_WHITE = ListedColormap(colormaps["viridis"](np.linspace(0.0, 0.8, 256)))  # no yellow

Runs = Sequence[tuple[str, str]]  # (what, key) of each

MM = 1 / 25.4  # inches
SLIDE = "slide"
WIDTHS_MM = (89.0, 120.0, 183.0)  # a column, a column and a half, a page
TALLEST_MM = 235.0  # of a printed page, lines below the art left out
SLIDE_MM, ENLARGED = 254.0, 2.0  # as wide as a slide, and what letters are enlarged by
TEXT, LETTER = 7.0, 8.0  # pt at printed size: text, and the letters of panels
UNIT = "unit"  # of length of a case
SMALL = 6.0  # pt, the smallest
IDENTITY, NOTE = "identity", "note"  # what lines below the art are called
LAYOUTS, STAYS = 6, 1e-4  # at most; what a place may still move, of the figure
MOST_NAMED = 12  # runs in the line below the art
LINE_MM = 2.6  # of a line below the art
A_LETTER_MM = 1.28  # of small text, on average


@dataclass(frozen=True)
class PageSize:
    """What a figure is made for.

    Parameters
    ----------
    width_mm : of the figure
    enlarged : what letters and lines are enlarged by
    """

    width_mm: float = WIDTHS_MM[-1]
    enlarged: float = 1.0

    @property
    def room_mm(self) -> float:
        """The width in units in which letters have their printed size."""
        return self.width_mm / self.enlarged


_page: ContextVar[PageSize] = ContextVar("page", default=PageSize())  # noqa: B039 - it is frozen


def page() -> PageSize:
    """What figures are made for here."""
    return _page.get()


def page_of(width: float | str) -> PageSize:
    """The page of a width in mm, or of "slide".

    Raises
    ------
    ValueError
        where the width is none of WIDTHS_MM and no slide
    """
    if width == SLIDE:
        return PageSize(SLIDE_MM, ENLARGED)
    known = {f"{one:g}": one for one in WIDTHS_MM}
    given = str(width).removesuffix("mm").strip().removesuffix(".0")
    if given not in known:
        words = ", ".join([*known, SLIDE])
        raise ValueError(f"width of figures is {width!r}: give one of {words}")
    return PageSize(known[given])


@contextmanager
def page_width(width: float | str) -> Iterator[PageSize]:
    """Draw figures of this width in here."""
    token = _page.set(page_of(width))
    try:
        yield page()
    finally:
        _page.reset(token)


SIZES: dict[str, float] = {
    "font.size": TEXT,
    "axes.labelsize": TEXT,
    "axes.titlesize": TEXT,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "legend.title_fontsize": 6.5,
    "axes.labelpad": 1.5,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.0,
}
OTHERS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "legend.frameon": False,
    "mathtext.fontset": "dejavusans",
    "text.hinting": "none",  # as wide at the dots an inch of the layout as in print
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-4, 5),
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "path",  # looks the same where the font is not
    "svg.hashsalt": "morphtrack",
    "figure.dpi": 100.0,
    "savefig.dpi": 600.0,
}


def rc() -> dict[str, Any]:
    """matplotlib's settings for this page."""
    return OTHERS | {name: size * page().enlarged for name, size in SIZES.items()}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the style of this page."""
    with rc_context(rc()):
        yield


def size(points: float) -> float:
    """A size in points on this page."""
    return points * page().enlarged


def put_letter(ax: Axes, letter: str, text: str = "") -> None:
    """The letter of a panel, bold, top left, and next to it what the panel shows."""
    above = letter + "\n" * text.count("\n")  # level with the first line of the text
    ax.set_title(above, loc="left", fontweight="bold", fontsize=size(LETTER))
    if text:
        title = ax.set_title(text, ha="left", x=0.0, fontsize=size(TEXT))
        aside = ScaledTranslation(size(11.0) / 72, 0, ax.figure.dpi_scale_trans)
        title.set_transform(title.get_transform() + aside)


def put_letters(
    panels: Iterable[Axes], texts: Iterable[str] = (), first: str = "a"
) -> None:
    """The letters of panels in their order, and next to them what each shows."""
    letters, each = ascii_lowercase.partition(first), chain(texts, repeat(""))
    for letter, ax, text in zip(first + letters[2], panels, each, strict=False):
        put_letter(ax, letter, text)


def letters_of(figure: Figure) -> list[str]:
    """The letters of the panels that have one, a to z, then aa."""
    seen = [ax.get_title(loc="left").strip() for ax in figure.axes if ax.get_visible()]
    return sorted(filter(None, seen), key=lambda letter: (len(letter), letter))


def annotate_near(
    ax: Axes,
    text: str,
    place: tuple[float, float],
    points: tuple[float, float],
    **look: Any,
) -> None:
    """A text off a place (x, y) of the panel by points of the printed page."""
    off = size(points[0]), size(points[1])
    ax.annotate(text, place, off, textcoords="offset points", **look)


def compare(axes: Sequence[Axes]) -> None:
    """Give panels of one quantity one range, so that they can be compared."""
    low, high = zip(*[ax.get_ylim() for ax in axes], strict=True)
    for ax in axes:
        ax.set_ylim(min(low), max(high))


def scale_bar(
    ax: Axes,
    length: float,
    unit: str,
    *,
    times: float | None = 1.0,
    loc: str = "lower right",
    colour: str = "black",
) -> None:
    """A bar of `length` in data of the panel, which is `times` as much of a unit.

    Without `times`, `unit` is the whole label: a force as long as the bar.
    """
    label = unit
    if times is not None:
        many = "s" if unit == UNIT and length * times != 1.0 else ""
        label = f"{length * times:g} {unit}{many}"
    bar = AnchoredSizeBar(
        ax.transData, length, label, loc, frameon=False, pad=0.1, borderpad=0.1,
        sep=size(2.0), size_vertical=0.0, color=colour,
    )  # fmt: skip
    bar.size_bar.get_children()[0].set_linewidth(size(1.2))
    ax.add_artist(bar)


def colour_bar(ax: Axes, colours: ScalarMappable, label: str) -> None:
    """What colours mean, below a picture."""
    place = ax.inset_axes((0.15, -0.06, 0.7, 0.045))
    bar = ax.figure.colorbar(colours, cax=place, orientation="horizontal")
    bar.set_label(label)


def round_length(span: float) -> float:
    """1, 2 or 5 times a power of ten, about a quarter of a span."""
    ten = 10.0 ** np.floor(np.log10(span / 4.0))
    return float(max(k * ten for k in (1.0, 2.0, 5.0) if k * ten <= span / 4.0))


def number(value: float, digits: int = 2) -> str:
    """A number with some digits, as in captions; a power of ten alone where it is."""
    return rounded(value, digits).replace(r"$1 \times ", "$")


def above(value: float, least: float) -> str:
    """A number as it is set equal, or what it is below: "= 0.089", or "< 10^-8"."""
    return f"= {number(value)}" if value > least else f"< {number(least, 1)}"


def legend_below(
    figure: Figure, handles: Sequence[Artist], names: Sequence[str] = (), **look: Any
) -> None:
    """One legend under all panels, in as many columns as the page has room for."""
    named = [*names] or [str(handle.get_label()) for handle in handles]
    widest = max(len(name.replace("\\mathcal", "")) for name in named) * A_LETTER_MM
    room = figure.get_figwidth() / MM / page().enlarged
    columns = max(1, min(len(named), int(room / (widest + 9.0))))
    rows = -(-len(named) // columns)
    figure.legend(
        handles, named, loc="outside lower center", ncols=-(-len(named) // rows),
        columnspacing=1.2, handletextpad=0.5, borderaxespad=0.1, **look,
    )  # fmt: skip


MARKS: dict[str, dict[str, Any]] = {  # what legends name most
    "node": {"marker": "o", "color": SIMULATED, "mfc": "white", "lw": 0.0},
    "link or body": {"color": SIMULATED},
    "target": {"color": TARGET, "lw": 0.5},
    "scanned sphere": {
        "marker": "o", "lw": 0.0, "mfc": SCANNED, "mec": SCANNED_EDGE
    },
    "scan point": {"marker": ".", "color": "#A0A0A0", "lw": 0.0},
}  # fmt: skip


def marks(
    *names: str, of: Mapping[str, Mapping[str, Any]] | None = None
) -> list[Line2D]:
    """Entries of a legend: some of MARKS, then others by name and look."""
    looks = {name: MARKS[name] for name in names} | dict(of or {})
    return [Line2D([], [], label=name, **look) for name, look in looks.items()]


def error_by_step(ax: Axes, E: Floats, least: float) -> None:
    """E (steps,) of a morph where it is above `least`; below, it is rounding."""
    ax.set(xlabel="step $s$ (-)", ylabel=r"distance error $\mathcal{E}$ (-)")
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    seen, every = np.where(least < E, E, np.nan), max(1, len(E) // 15)
    ring: dict[str, Any] = {"color": ERROR, "mfc": "white", "mew": 0.7}
    if np.isfinite(seen).any():
        ax.semilogy(seen, "-o", markevery=every, **ring)


def labelled_lines(axes: Iterable[Axes]) -> list[Artist]:
    """The lines of these panels that a legend names, panel by panel."""
    lines = (line for ax in axes for line in ax.get_lines())
    return [line for line in lines if not str(line.get_label()).startswith("_")]


def literal(text: str) -> str:
    """Text of a file as it is: no mathematics begins in it."""
    return text.replace("$", r"\$")


SYNTHETIC = "Scans are synthetic: computed from a simulated end state."


def runs_line(runs: Runs) -> str:
    """The runs by (what, key), as far as a line can tell them."""
    named = [f"{what} {key[:12]}" for what, key in runs if key]
    shown = ", ".join(named)
    if len(named) > MOST_NAMED:
        shown = f"{len(named)}, their keys are in the .trace.json file"
    return f"Runs: {shown}" if shown else ""


def say_below(figure: Figure, runs: Runs, *notes: str) -> None:
    """Lines below the art: what must be known of it, then which runs it shows.

    They stand outside of the figure and are saved with it by `room_below`; `hide_runs`
    takes the runs away.
    """
    for name, text in ((IDENTITY, runs_line(runs)), (NOTE, " ".join(notes))):
        room = min(page().room_mm, 25.4 * figure.get_figwidth())
        letters = int(room / A_LETTER_MM)
        if text:
            figure.text(
                0.0, 0.0, "\n".join(wrap(text, letters)), gid=name, color=FAINT,
                va="top", fontsize=size(SMALL), in_layout=False,
            )  # fmt: skip
    _stack(figure)


def hide_runs(figure: Figure) -> None:
    """Take the line away that names the runs."""
    for line in [text for text in figure.texts if text.get_gid() == IDENTITY]:
        line.remove()
    _stack(figure)


def lines_below(figure: Figure) -> Mapping[str, str]:
    """What stands below the art, by note and identity."""
    each = {str(text.get_gid()): text.get_text() for text in figure.texts}
    return {name: each[name] for name in (NOTE, IDENTITY) if name in each}


def room_below(figure: Figure) -> float:
    """Inches that the lines below the art need."""
    lines = sum(text.count("\n") + 1 for text in lines_below(figure).values())
    return (lines * LINE_MM + 1.5 * (lines > 0)) * MM * page().enlarged


def lay_out(figure: Figure) -> None:
    """Find places: until they stay, as what hangs below a panel depends on its size."""
    places = np.full((len(figure.axes), 4), np.nan)
    for _ in range(LAYOUTS if figure.get_layout_engine() is not None else 1):
        figure.draw_without_rendering()
        _level(figure)
        before, places = places, _places(figure)
        if np.allclose(before, places, atol=STAYS):
            return


def _level(figure: Figure) -> None:
    """Letters of panels whose tops are level are level with the same line of titles."""
    lettered = [ax for ax in figure.axes if ax.get_title(loc="left")]
    tops = [round(ax.get_position().y1, 3) for ax in lettered]
    for top in set(tops):
        row = [ax for ax, its in zip(lettered, tops, strict=True) if its == top]
        most = max(ax.get_title(loc="left").count("\n") for ax in row)
        for ax in row:
            letter = ax.get_title(loc="left")
            short = "\n" * (most - letter.count("\n"))
            own = [t for t in ax.get_children() if isinstance(t, Text)]
            for title in set(own) - set(ax.texts):  # put anew they would lose places
                if title.get_text() and short:
                    title.set_text(title.get_text() + short)


def _places(figure: Figure) -> Floats:
    """(axes, 4) where they stand, parts of the figure."""
    found = [ax.get_position().extents for ax in figure.axes]
    return np.array(found, dtype=np.float64).reshape(-1, 4)


def freeze_layout(figure: Figure) -> Bbox:
    """Lay out a figure for good; what is saved of it, with the lines below, in inches.

    matplotlib lays a figure out anew while it saves a part of it, and would take the
    legend along to the edge of that part.
    """
    with styled():
        lay_out(figure)
    figure.set_layout_engine("none")
    for legend in figure.legends:
        legend.set_bbox_to_anchor((0.0, 0.0, 1.0, 1.0), figure.transFigure)
    width, height = figure.get_size_inches()
    return Bbox([[0.0, -room_below(figure)], [width, height]])


def _stack(figure: Figure) -> None:
    """One below the other, under the lower edge of the figure."""
    down = 1.0 * MM * page().enlarged
    for name in (NOTE, IDENTITY):
        for text in [text for text in figure.texts if text.get_gid() == name]:
            text.set_position((0.004, -down / figure.get_figheight()))
            down += (text.get_text().count("\n") + 1) * LINE_MM * MM * page().enlarged


GAP = 0.02  # of the size of a panel, between panels
EDGE = 1.2  # mm, around all
ALONE = WIDTHS_MM[0]  # mm, as wide as a panel is that stands alone
SQUEEZED = 0.2  # of their height, what panels give up at most to stay on the page
WHOLE_MM = 240.0  # of a page, lines below the art and all


@dataclass(frozen=True)
class PanelGrid:
    """Panels of one size.

    Parameters
    ----------
    count : how many
    width : mm that one of them needs
    height : mm of each
    ratios : of their widths, where all of them stand in one row
    most : side by side
    """

    count: int
    width: float
    height: float
    ratios: Sequence[float] = ()
    most: int = 99

    @property
    def columns(self) -> int:
        """How many stand side by side, so that the rows are about equally long."""
        room = max(1, int((page().room_mm + 0.5) / self.width))
        rows = -(-self.count // min(room, self.most, self.count))
        return -(-self.count // rows)

    @property
    def rows(self) -> int:
        """How many rows they fill."""
        return -(-self.count // self.columns)


def sheet(
    *groups: PanelGrid, more: float = 0.0, below: float = 0.0
) -> tuple[Figure, list[list[Axes]]]:
    """A figure of this page, and the panels of each group in order.

    Panels give up at most a share SQUEEZED of their heights to stay on the page. Where
    that is not enough they keep them, and the figure is taller than the page.

    Parameters
    ----------
    more : mm of height for what is outside of panels, such as a legend below
    below : mm of lines below the art, for which the page has to have room too
    """
    heights = [group.height * group.rows for group in groups]
    asked = sum(heights) + more
    big = page().enlarged
    room = min(TALLEST_MM, WHOLE_MM - below) if big == 1.0 else float("inf")
    fits = room >= (1.0 - SQUEEZED) * asked
    tall = min(asked, room) if fits else asked
    width = page().width_mm
    if sum(group.count for group in groups) == 1:  # a panel alone fills a column
        width = min(width, ALONE * big)
    figure = Figure(
        figsize=(width * MM, tall * MM * big),
        layout="constrained",
    )
    engine = figure.get_layout_engine()
    assert engine is not None
    pad = EDGE * MM * big
    engine.set(w_pad=pad, h_pad=pad, wspace=GAP, hspace=GAP)  # type: ignore[call-arg]
    outer = figure.add_gridspec(len(groups), 1, height_ratios=heights)
    panels = []
    for k, group in enumerate(groups):
        look: dict[str, Any] = {}
        if group.rows == 1 and group.ratios:
            look["width_ratios"] = group.ratios
        inner = outer[k].subgridspec(group.rows, group.columns, **look)
        places = [divmod(i, group.columns) for i in range(group.count)]
        panels.append([figure.add_subplot(inner[at]) for at in places])
    return figure, panels


UNITS = {
    "E": "distance from the target $E$ (-)",
    "S": "shape factor $S$ (-)",
    "strain_energy": "strain energy (J)",
    "contact_energy": "energy of contacts (J)",
    "kinetic": "kinetic energy (J)",
    "potential": "potential energy (J)",
    "time": "time $t$ (s)",
    "share": "share of the loads (-)",
    "x_c": "centroid $x_c$ (m)",
    "y_c": "centroid $y_c$ (m)",
    "z_c": "centroid $z_c$ (m)",
    "way_over_H": "travel / $H$ (-)",
    "x_first": "$x$ of the first node (m)",
    "y_first": "$y$ of the first node (m)",
    "load": "load (N)",
    "fold_missing_deg": "largest fold error (°)",
    "displacement": "displacement (m)",
}
