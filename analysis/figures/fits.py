"""Parameters fitted to measured series: curves, residuals, what the fit is worth."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import style
from analysis.figures.series import COMPUTED
from analysis.figures.sheet import PanelGrid, sheet
from analysis.figures.style import size
from analysis.validation.series import FITTED, HELD_OUT

SYMBOLS = {  # label, unit, what the number is divided by
    "modulus": ("$E$", "MPa", 1e6),
    "beta": (r"$\beta$", "ms", 1e-3),
    "rate": (r"$\tau$", "1/s", 1.0),
    "delay": (r"$\bar{t}$", "s", 1.0),
    "least_curvature": (r"$n$ (curvature)", "", 1.0),
    "most_modulus": (r"$n$ (modulus)", "", 1.0),
}
QUANTITIES = {"curvature": r"$\bar\kappa/\bar\kappa_0$", "modulus": "$E/E_0$"}


@dataclass(frozen=True, eq=False)
class ShownFit:
    """A fit, by the tables that it left.

    Attributes
    ----------
    curves : quantity, at, nominal, fitted
    measurements : quantity, at, value, u, part, nominal, fitted, fitted_u
    parameters : parameter, nominal, value, u, determined
    errors : quantity, part, count, u, rms, rms_nominal, rms_mean
    """

    label: str
    key: str
    curves: pd.DataFrame
    measurements: pd.DataFrame
    parameters: pd.DataFrame
    errors: pd.DataFrame

    @property
    def synthetic(self) -> bool:
        return bool(self.measurements["synthetic"].astype(str).eq("True").any())

    @property
    def axis(self) -> str:
        """Over what the quantities are: an arm's, whose parameters are multiples of
        what it has, over shares of its tensions."""
        names = self.parameters["parameter"].astype(str)
        of_arm = names.str.endswith("_times").any()
        return "share of the tensions (-)" if of_arm else "time $t$ (s)"


def fitted_series(shown: Sequence[ShownFit]) -> Figure:
    """A row a fit: its quantities, their residuals, its numbers."""
    counts = [len(set(one.measurements["quantity"])) for one in shown]
    with style.styled():
        figure, rows = sheet(*[_panels(count) for count in counts], more=6.0)
        letters = iter("abcdefgh")
        for one, panels in zip(shown, rows, strict=True):
            _draw_row(panels, one, letters)
        handles, labels = rows[0][0].get_legend_handles_labels()
        style.legend_below(figure, handles, labels)
        notes = (COMPUTED,) if any(one.synthetic for one in shown) else ()
        runs = [(one.label, one.key) for one in shown]
        style.say_below(figure, runs, *notes)
    return figure


def _panels(quantities: int) -> PanelGrid:
    """A panel a quantity, and one for the numbers."""
    ratios = [2.6 / quantities] * quantities
    return PanelGrid(quantities + 1, 44.0, 62.0, [*ratios, 1.0])


def _draw_row(panels: Sequence[Axes], one: ShownFit, letters: Iterator[str]) -> None:
    names = sorted(set(one.measurements["quantity"]))
    for name, ax in zip(names, panels, strict=False):
        below = ax.inset_axes((0.0, -0.5, 1.0, 0.38))
        _draw_quantity(ax, below, one, name)
        style.put_letter(
            ax, next(letters), one.label.replace("_", " ") if name == names[0] else ""
        )
    table, beside = panels[-1], _panels(len(names)).rows == 1
    table.set_axis_off()  # below panels its numbers may be wider than one of them
    said = "\n".join(_numbers(one))
    table.text(0.0, 1.0, said, va="top", fontsize=size(6.0), in_layout=beside)


def _draw_quantity(above: Axes, below: Axes, one: ShownFit, name: str) -> None:
    ratio = name in QUANTITIES
    scale = 1.0 if ratio else 1e3
    label = QUANTITIES.get(name, f"${name[0]}$ of {name[2:]} (mm)")
    label += " (-)" * ratio
    curve = one.curves[one.curves["quantity"] == name]
    dashed = (0, (4, 2))
    above.plot(
        curve["at"],
        scale * curve["nominal"],
        color=style.TARGET,
        ls=dashed,
        label="nominal",
    )
    above.plot(
        curve["at"], scale * curve["fitted"], color=style.SIMULATED, label="fitted"
    )
    rows = one.measurements[one.measurements["quantity"] == name]
    below.axhline(0.0, color=style.SIMULATED, lw=0.8)
    what = "synthetic" if one.synthetic else "measured"
    for part, marker, face in ((FITTED, "s", "white"), (HELD_OUT, "o", style.SCANNED)):
        some = rows[rows["part"] == part]
        above.plot(
            some["at"], scale * some["value"], marker, ms=3.0, color=style.SCANNED_EDGE,
            mfc=face, mew=0.6, label=f"{what}, {part}",
        )  # fmt: skip
        left_over = scale * (some["value"] - some["fitted"])
        below.errorbar(
            some["at"], left_over, yerr=2.0 * scale * some["u"], fmt=marker, ms=2.5,
            color=style.SCANNED_EDGE, mfc=face, mew=0.6, elinewidth=0.6,
        )  # fmt: skip
    last = rows.loc[rows["part"] == FITTED, "at"].max()
    for ax in (above, below):
        ax.axvline(last, color=style.FAINT, lw=0.5, ls=":")
        ax.set_xlim(left=min(0.0, float(rows["at"].min())))
    above.set_ylabel(label, labelpad=2)
    above.tick_params(labelbottom=False)
    below.set_ylabel("residual " + ("(-)" if ratio else "(mm)"), labelpad=2)
    below.set_xlabel(one.axis, labelpad=1)


def _numbers(one: ShownFit) -> list[str]:
    """The parameters with u, then the errors of fit and baselines by part."""
    lines = ["fitted (nominal)"]
    for row in one.parameters.to_dict("records"):
        name = str(row["parameter"])
        symbol, unit, size = SYMBOLS.get(name, (name.replace("_", " "), "", 1.0))
        value, u = float(row["value"]) / size, float(row["u"]) / size
        said = "not determined"
        if row["determined"] == "yes":
            digits = max(0, 1 - int(np.floor(np.log10(u)))) if u > 0 else 3
            said = rf"= {value:.{digits}f} $\pm$ {u:.{digits}f} {unit}".rstrip()
        lines.append(f"{symbol} {said} ({float(row['nominal']) / size:.3g})")
    lines += ["", "rms error: fit / nominal / mean; $u$"]
    for row in one.errors.to_dict("records"):
        ratio = row["quantity"] in QUANTITIES
        scale, unit = (1.0, "") if ratio else (1e3, " mm")
        three = " / ".join(
            f"{scale * float(x):.2g}"
            for x in (row["rms"], row["rms_nominal"], row["rms_mean"])
        )
        name = QUANTITIES.get(
            str(row["quantity"]),
            f"${str(row['quantity'])[0]}$ of {str(row['quantity'])[2:]}",
        )
        lines.append(f"{name}, {row['part']} ({row['count']}):")
        lines.append(f"    {three}; {scale * float(row['u']):.2g}{unit}")
    return lines
