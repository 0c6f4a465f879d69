"""Where each source of a comparison's budget was learnt."""

from collections.abc import Mapping
from typing import Any

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
)

LEARNT = {
    CENTRES: "the scan itself, as the ingest says",
    SCATTER: "rigid lengths in the scan",
    STOP: "last steps of the simulation",
    INPUT: "prints drawn through the solver",
    POSE: "points of the target in the scan",
}
STATED = {
    FORM: "scan_form_sd_mm",
    VIEWS: "registration_sd_mm",
    PRINT_SCALE: "print_scale_sd",
    PRINTING: "printing_sd_mm",
    PLAY: "joint_play_sd_mm",
}


def learnt_from(settings: Mapping[str, Any]) -> dict[str, str]:
    """Where each source of the budget was learnt, by its name."""
    scale = f"assumed, {100 * SCAN_SCALE_SD:g} %: nobody stated it"
    if settings.get("scan_scale_sd") is not None:
        scale = "stated: scan_scale_sd"
    known = {source: _stated(settings, name) for source, name in STATED.items()}
    return LEARNT | known | {SCAN_SCALE: scale}


def _stated(settings: Mapping[str, Any], name: str) -> str:
    if settings.get(name) is not None:
        return f"stated: {name}"
    return f"default {getattr(UncertaintyOptions, name):g}: nobody stated {name}"
