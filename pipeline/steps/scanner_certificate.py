"""What the settings of a comparison say of the scanner's scale and form."""

from collections.abc import Mapping
from typing import Any

from analysis.validation.ball_bar import CalibratedBar
from analysis.validation.uncertainty import (
    CENTRES,
    FORM,
    INPUT,
    PLAY,
    POSE,
    PRINT_SCALE,
    PRINTING,
    SCAN_SCALE,
    SCAN_SCALE_SD,
    SCATTER,
    STOP,
    VIEWS,
    UncertaintyOptions,
    certified_scale_sd,
)

MPE = ("scan_mpe_mm", "scan_mpe_length_mm")
SCALE = ("scan_scale_sd", *MPE)
BAR = ("ball_bar_mm", "ball_bar_u_mm")
LEARNT = {
    CENTRES: "the scan itself, as the ingest says",
    SCATTER: "rigid lengths in the scan",
    STOP: "last steps of the simulation",
    INPUT: "prints drawn through the solver",
    POSE: "points of the target in the scan",
}
STATED = {
    VIEWS: "registration_sd_mm",
    PRINT_SCALE: "print_scale_sd",
    PRINTING: "printing_sd_mm",
    PLAY: "joint_play_sd_mm",
}


def stated_scale_sd(settings: Mapping[str, Any]) -> float | None:
    """Relative sd of the scanner's scale as it is stated; None where it is not.

    Raises
    ------
    ValueError
        where it is stated twice, or half of a certificate is missing.
    """
    given = settings.get("scan_scale_sd")
    mpe_mm, length_mm = (settings.get(name) for name in MPE)
    if mpe_mm is None and length_mm is None:
        return None if given is None else float(given)
    if given is not None:
        raise ValueError(
            f"scan_scale_sd is {given} and scan_mpe_mm {mpe_mm}: state the scanner's "
            "scale once"
        )
    if mpe_mm is None or length_mm is None:
        raise ValueError(
            f"scan_mpe_mm is {mpe_mm} and scan_mpe_length_mm {length_mm}: give both, "
            "they belong together"
        )
    return certified_scale_sd(float(mpe_mm), float(length_mm))


def with_bench(own: Mapping[str, Any], bench: Mapping[str, Any]) -> dict[str, Any]:
    """Settings, and those of the bench; a scale stated among the first stands alone."""
    scaled = any(own.get(name) is not None for name in SCALE)
    return {k: v for k, v in bench.items() if not (scaled and k in SCALE)} | dict(own)


def stated_bar(settings: Mapping[str, Any]) -> CalibratedBar | None:
    """The ball bar that is to be in the scan; None where none is stated."""
    length_mm, u_mm = (settings.get(name) for name in BAR)
    if length_mm is None and u_mm is None:
        return None
    if length_mm is None or u_mm is None:
        raise ValueError(
            f"ball_bar_mm is {length_mm} and ball_bar_u_mm {u_mm}: give both, they "
            "belong together"
        )
    return CalibratedBar(float(length_mm), float(u_mm))


def learnt_from(settings: Mapping[str, Any]) -> dict[str, str]:
    """Where each source of the budget was learnt, by its name."""
    of = settings.get("scan_certificate") or "stated: " + " over ".join(MPE)
    if settings.get("scan_scale_sd") is not None:
        scale = "stated: scan_scale_sd"
    elif settings.get(MPE[0]) is not None:
        scale = str(of)
    else:
        scale = f"assumed, {100 * SCAN_SCALE_SD:g} %: nobody stated it"
    form = settings.get("scan_certificate") or "stated: scan_form_mpe_mm"
    known = {source: _stated(settings, name) for source, name in STATED.items()}
    return LEARNT | known | {SCAN_SCALE: scale, FORM: str(form)}


def _stated(settings: Mapping[str, Any], name: str) -> str:
    if settings.get(name) is not None:
        return f"stated: {name}"
    return f"default {getattr(UncertaintyOptions, name):g}: nobody stated {name}"
