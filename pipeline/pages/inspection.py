"""The inspection report of one scan: one HTML file, made to be printed."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.form_map import form_map
from analysis.figures.scan_picture import scan_picture
from analysis.validation.ball_bar import (
    CalibratedBar,
    bars_of,
    nearest_told,
    pairs_for_bar,
    with_stated,
)
from analysis.validation.inspection import (
    BallForm,
    InspectedLength,
    K,
    Tolerance,
    ball_form,
    inspected_lengths,
    shown_pairs,
)
from analysis.validation.uncertainty import (
    CENTRES,
    FORM,
    SCAN_SCALE,
    SCAN_SCALE_SD,
    certified_form_sd_mm,
    certified_scale_sd,
)
from pipeline.pages.page_parts import environment
from pipeline.scans.picks import read_picks
from pipeline.scans.spheres import SphereTable, read_spheres
from pipeline.store.bench import Lab
from pipeline.store.files import check_ends
from pipeline.terminal.errors import InputError
from sim.arrays import Floats

MOST_LENGTHS, MOST_BALLS = 40, 12
NOT_STATED = "not stated"
COLUMNS = ("from", "to", "lower_mm", "upper_mm")
NEAR = 5.0  # times a limit: lengths so far off were limited in another unit
DOTS_AN_INCH = 150


@dataclass(frozen=True)
class KnownScanner:
    """What is known of a scanner: standard uncertainties, and where they were learnt.

    Parameters
    ----------
    factor : true over scanned length
    """

    scale_u: float
    form_u_mm: float
    factor: float
    learnt: Mapping[str, str]
    remark: str = ""


def known_scanner(lab: Lab, table: SphereTable) -> KnownScanner:
    """The scanner as its certificate and a ball bar in the scene have it."""
    given = lab.settings
    named = str(given.get("scan_certificate", ""))
    stated = None
    if "scan_mpe_mm" in given:
        stated = certified_scale_sd(given["scan_mpe_mm"], given["scan_mpe_length_mm"])
    assumed = f"assumed, {100 * SCAN_SCALE_SD:g} %: no certificate is stated"
    learnt = {
        CENTRES: "the scan itself, and views that agree",
        SCAN_SCALE: named if stated is not None else assumed,
        FORM: named if "scan_form_mpe_mm" in given else NOT_STATED,
    }
    form = certified_form_sd_mm(given.get("scan_form_mpe_mm", 0.0))
    scale = SCAN_SCALE_SD if stated is None else stated
    if lab.ball_bar is None:
        return KnownScanner(scale, form, 1.0, learnt)
    bar = CalibratedBar(given["ball_bar_mm"], given["ball_bar_u_mm"])
    whole, sd = table.covariance_mm2, max(scale, SCAN_SCALE_SD)
    every = np.arange(len(table.names))
    pairs = [*pairs_for_bar(bar, table.centres_mm, whole, every, sd, form)]
    found = bars_of(bar, pairs)
    if len(found) != 1:
        many = "no" if not found else len(found)
        remark = (
            f"{lab.ball_bar.name} is not used: {many} pairs of spheres are "
            f"{bar.length_mm:g} mm apart{nearest_told(bar, pairs, sd)}"
        )
        return KnownScanner(scale, form, 1.0, learnt, remark)
    by_bar = with_stated(found[0], stated)
    ends = " and ".join(table.names[i] for i in by_bar.spheres)
    learnt[SCAN_SCALE] = f"ball bar {lab.ball_bar.called} (spheres {ends})"
    if stated is not None and by_bar.permitted:
        learnt[SCAN_SCALE] += f", {named}"
    remark = "" if by_bar.permitted else f"the ball bar contradicts {named}"
    return KnownScanner(by_bar.u, form, by_bar.factor, learnt, remark)


def read_tolerances(path: Path, names: Sequence[str]) -> list[Tolerance]:
    """Limits of distances between spheres: from, to, lower_mm, upper_mm."""
    check_ends(path)
    try:
        table = pd.read_csv(path, dtype={"from": str, "to": str})
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no table: {error}") from error
    for column in COLUMNS:
        if column not in table:
            raise InputError(f"{path} has no column {column}: give {','.join(COLUMNS)}")
    found = []
    for row in table.to_dict("records"):
        a, b, low, high = (row[column] for column in COLUMNS)
        for name in (a, b):
            if name not in names:
                raise InputError(f"{path}: the scan has no sphere {name!r}")
        if a == b or not 0.0 <= float(low) < float(high) < np.inf:
            raise InputError(
                f"{path}: {a} to {b}, {low} to {high} mm: give two spheres and limits "
                "of the length, a lower limit below the upper one"
            )
        pair = names.index(a), names.index(b)
        found.append(Tolerance(pair, float(low), float(high)))
    if not found:
        raise InputError(f"{path} has no row: give {','.join(COLUMNS)} of a length")
    return found


def _check_unit(path: Path, asked: Sequence[Tolerance], table: SphereTable) -> None:
    """Refuse limits none of which is near its length: they are in another unit."""
    ratios = []
    for one in asked:
        i, j = one.pair
        scanned = np.linalg.norm(table.centres_mm[i] - table.centres_mm[j])
        ratios.append(float(scanned / one.upper_mm))
    if min(ratios) > NEAR or max(ratios) < 1.0 / NEAR:
        raise InputError(
            f"{path}: lengths are {min(ratios):.3g} to {max(ratios):.3g} times their "
            "upper limits: give limits in mm, of the lengths and not of deviations"
        )


def inspection_page(
    ingest: Path,
    lab: Lab,
    files: Sequence[tuple[str, str]],
    tolerances: Path | None = None,
) -> tuple[str, list[str]]:
    """The report of what an ingest found, and its answer on each toleranced length.

    Parameters
    ----------
    files : names of the scan's files, and their SHA-256
    """
    table = read_spheres(ingest)
    if not len(table.names):
        raise InputError(f"{ingest}/spheres.csv has no sphere: nothing to report")
    rows = pd.read_csv(ingest / "spheres.csv", dtype={"sphere": str})
    points = _points(ingest)
    asked = [] if tolerances is None else read_tolerances(tolerances, table.names)
    if tolerances is not None:
        _check_unit(tolerances, asked, table)
    scanner = known_scanner(lab, table)
    radii = rows["radius_mm"].to_numpy(np.float64)
    forms = [
        ball_form(points, *ball) for ball in zip(table.centres_mm, radii, strict=True)
    ]
    lengths = inspected_lengths(
        table.centres_mm,
        table.covariance_mm2,
        shown_pairs(table.centres_mm, MOST_LENGTHS, asked),
        {SCAN_SCALE: scanner.scale_u},
        {FORM: scanner.form_u_mm} if scanner.form_u_mm else {},
        asked,
        scanner.factor,
    )
    page = environment().get_template("inspection.html").render(
        title=f"Inspection of {', '.join(name for name, _ in files) or ingest.name}",
        synthetic=table.synthetic,
        bench=_bench(lab),
        files=files,
        remarks=[text for text in (table.remark, scanner.remark) if text],
        factor=scanner.factor,
        scale_u=scanner.scale_u,
        spheres=_spheres(table, rows, forms, scanner),
        lengths=[_length(one, table.names) for one in lengths],
        many=len(table.names) * (len(table.names) - 1) // 2,
        asked=bool(asked),
        budget=_budget(lengths, table, scanner),
        k=K,
        pictures=_pictures(ingest, points, table, radii, forms),
    )  # fmt: skip
    return page, [one.conformity.value for one in lengths if one.conformity]


def _points(ingest: Path) -> Floats:
    try:
        points: Floats = np.load(ingest / "points.npy", allow_pickle=False)
    except (OSError, ValueError) as error:
        raise InputError(
            f"{ingest} has no points.npy: give the folder of an ingest; of markers, "
            "which have no surface, there is no report"
        ) from error
    return points.astype(np.float64)


def _bench(lab: Lab) -> list[tuple[str, str]]:
    """What is stated of the bench, by its heading; the rest is said not to be."""
    certificate, conditions = lab.certificate, lab.conditions
    warm = None if conditions is None else conditions.temperature_c
    found = {
        "scanner": lab.scanner and lab.scanner.called,
        "certificate": certificate
        and f"{certificate.called}, {certificate.laboratory}, {certificate.kind}",
        "operator": lab.operator and lab.operator.called,
        "print": lab.print_job and lab.print_job.called,
        "material": lab.material and lab.material.called,
        "printer": lab.printer and lab.printer.called,
        "ball bar": lab.ball_bar and lab.ball_bar.called,
        "temperature": None if warm is None else f"{warm:g} degrees Celsius",
        "surface and room": conditions and conditions.note,
    }
    return [(name, text or NOT_STATED) for name, text in found.items()]


def _spheres(
    table: SphereTable,
    rows: pd.DataFrame,
    forms: Sequence[BallForm | None],
    scanner: KnownScanner,
) -> list[dict[str, str]]:
    """A row a sphere; U of a centre holds its covariance and the form error."""
    found = []
    for k, name in enumerate(table.names):
        u = np.sqrt(np.diag(table.covariances_mm2[k]) + scanner.form_u_mm**2)
        row, form = rows.iloc[k], forms[k]
        found.append(
            {
                "name": name,
                **{
                    a: f"{x:.4f}"
                    for a, x in zip("xyz", table.centres_mm[k], strict=True)
                },
                **{f"U{a}": f"{K * x:.4f}" for a, x in zip("xyz", u, strict=True)},
                "radius": f"{row['free_radius_mm']:.4f}",
                "U_radius": f"{K * row['free_radius_sd_mm']:.4f}",
                "held": f"{row['radius_mm']:.4g}",
                "form": "-" if form is None else f"{form.whole_mm:.3f}",
                "most": "-" if form is None else f"{form.most_mm:.3f}",
                "points": f"{row['points']:.0f}",
                "cap": f"{100 * row['cap']:.0f}",
            }
        )
    return found


def _length(one: InspectedLength, names: Sequence[str]) -> dict[str, str]:
    asked, told = one.tolerance, one.conformity
    return {
        "pair": " to ".join(names[i] for i in one.pair),
        "length": f"{one.length_mm:.4f}",
        "U": f"{one.U_mm:.4f}",
        "low": "" if asked is None else f"{asked.lower_mm:g}",
        "high": "" if asked is None else f"{asked.upper_mm:g}",
        "conformity": "" if told is None else told.value,
    }


def _budget(
    lengths: Sequence[InspectedLength], table: SphereTable, scanner: KnownScanner
) -> list[dict[str, str]]:
    """Standard uncertainty by component: of a centre, of the shown lengths."""
    of_centre = {
        CENTRES: float(np.sqrt(np.mean(np.diag(table.covariance_mm2)))),
        FORM: scanner.form_u_mm,
    }
    longest = max(lengths, key=lambda one: one.length_mm, default=None)
    found = []
    for name, learnt in scanner.learnt.items():
        centre = of_centre.get(name)
        part = None if longest is None else longest.parts_mm.get(name, 0.0)
        found.append(
            {
                "component": name,
                "centre": "-" if centre is None else f"{centre:.4f}",
                "length": "-" if part is None else f"{part:.4f}",
                "learnt": learnt,
            }
        )
    if longest is not None:
        pair = _length(longest, table.names)["pair"]
        every = float(np.linalg.norm(list(of_centre.values())))
        found.append(
            {
                "component": "all together",
                "centre": f"{every:.4f}",
                "length": f"{longest.U_mm / K:.4f}",
                "learnt": f"squares added; the length is {pair}",
            }
        )
    return found


def _pictures(
    ingest: Path,
    points: Floats,
    table: SphereTable,
    radii: Floats,
    forms: Sequence[BallForm | None],
) -> list[dict[str, str]]:
    """The scan with its spheres by number, and the residuals on the first balls."""
    picks, synthetic = read_picks(ingest)
    title = "synthetic scan" if synthetic else "scan"
    known = [k for k, form in enumerate(forms) if form is not None][:MOST_BALLS]
    scene = scan_picture(points, picks, title, names=table.names)
    found = [{"said": "The scan and its spheres by number.", "data": _png(scene)}]
    if known:
        half = max(form.farthest_mm for form in forms if form is not None)
        names = [table.names[k] for k in known]
        figure = form_map(points, table.centres_mm[known], radii[known], names, half)
        said = "Radial residuals on the first balls, each seen along its mean normal."
        found.append({"said": said, "data": _png(figure)})
    return found


def _png(figure: Figure) -> str:
    held = BytesIO()
    figure.savefig(held, format="png", dpi=DOTS_AN_INCH)
    return base64.b64encode(held.getvalue()).decode("ascii")
