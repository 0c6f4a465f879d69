"""Parameters fitted to measured series: curves, residuals, what the fit is worth."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from analysis.figures.series import COMPUTED
from analysis.figures.style import (
    FAINT,
    FULL_WIDTH,
    RC,
    SCANNED,
    SCANNED_EDGE,
    SIMULATED,
    TARGET,
    provenance,
)
from analysis.validation.series import FITTED, HELD_OUT

ROW_HEIGHT = 2.5  # inches
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


def fitted_series(shown: Sequence[ShownFit]) -> Figure:
    """A row a fit: its quantities in time, their residuals, its numbers."""
    height = ROW_HEIGHT * len(shown) + 0.45
    with rc_context(RC):
        figure = Figure(figsize=(FULL_WIDTH, height))
        for k, one in enumerate(shown):
            bottom = (0.2 + ROW_HEIGHT * (len(shown) - 1 - k)) / height
            _draw_row(figure, one, (bottom, ROW_HEIGHT / height), "abcdefgh"[k])
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="upper center", ncols=len(labels))
        foot = provenance([(one.label, one.key) for one in shown], synthetic=False)
        if any(one.synthetic for one in shown):
            foot += f"{'.  ' if foot else ''}{COMPUTED}"
        low = 0.05 / height
        figure.text(0.5, low, foot, ha="center", fontsize=5.0, color=FAINT)
    return figure


def _draw_row(
    figure: Figure | SubFigure, one: ShownFit, place: tuple[float, float], letter: str
) -> None:
    bottom, height = place
    names = sorted(set(one.measurements["quantity"]))
    left, width = 0.075, 0.63
    each = (width - 0.085 * (len(names) - 1)) / len(names)
    for k, name in enumerate(names):
        x = left + k * (each + 0.085)
        above = figure.add_axes((x, bottom + 0.45 * height, each, 0.45 * height))
        below = figure.add_axes((x, bottom + 0.17 * height, each, 0.23 * height))
        _draw_quantity(above, below, one, name)
        if k == 0:
            above.set_title(f"{letter}  {one.label}", loc="left", fontsize=7.5)
    table = figure.add_axes((0.735, bottom + 0.17 * height, 0.24, 0.73 * height))
    table.axis("off")
    table.text(0.0, 1.0, "\n".join(_numbers(one)), va="top", fontsize=6.3)


def _draw_quantity(above: Axes, below: Axes, one: ShownFit, name: str) -> None:
    ratio = name in QUANTITIES
    scale = 1.0 if ratio else 1e3
    label = QUANTITIES.get(name, f"${name[0]}$ of {name[2:]}, mm")
    curve = one.curves[one.curves["quantity"] == name]
    dashed = (0, (4, 2))
    above.plot(
        curve["at"], scale * curve["nominal"], color=TARGET, ls=dashed, label="nominal"
    )
    above.plot(curve["at"], scale * curve["fitted"], color=SIMULATED, label="fitted")
    rows = one.measurements[one.measurements["quantity"] == name]
    below.axhline(0.0, color=SIMULATED, lw=0.8)
    what = "synthetic" if one.synthetic else "measured"
    for part, marker, face in ((FITTED, "s", "white"), (HELD_OUT, "o", SCANNED)):
        some = rows[rows["part"] == part]
        above.plot(
            some["at"], scale * some["value"], marker, ms=3.0, color=SCANNED_EDGE,
            mfc=face, mew=0.6, label=f"{what}, {part}",
        )  # fmt: skip
        left_over = scale * (some["value"] - some["fitted"])
        below.errorbar(
            some["at"], left_over, yerr=2.0 * scale * some["u"], fmt=marker, ms=2.5,
            color=SCANNED_EDGE, mfc=face, mew=0.6, elinewidth=0.6,
        )  # fmt: skip
    last = rows.loc[rows["part"] == FITTED, "at"].max()
    for ax in (above, below):
        ax.axvline(last, color=FAINT, lw=0.5, ls=":")
        ax.set_xlim(left=min(0.0, float(rows["at"].min())))
    above.set_ylabel(label, labelpad=2)
    above.tick_params(labelbottom=False)
    below.set_ylabel("residual" + ("" if ratio else ", mm"), labelpad=2)
    below.set_xlabel("time, s", labelpad=1)


def _numbers(one: ShownFit) -> list[str]:
    """The parameters with u, then the errors of fit and baselines by part."""
    lines = ["fitted (nominal)"]
    for row in one.parameters.to_dict("records"):
        symbol, unit, size = SYMBOLS[str(row["parameter"])]
        value, u = float(row["value"]) / size, float(row["u"]) / size
        said = "not determined"
        if row["determined"] == "yes":
            digits = max(0, 1 - int(np.floor(np.log10(u)))) if u > 0 else 3
            said = rf"{value:.{digits}f} $\pm$ {u:.{digits}f} {unit}".rstrip()
        lines.append(f"{symbol} = {said} ({float(row['nominal']) / size:.3g})")
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
