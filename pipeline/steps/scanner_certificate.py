"""What the settings of a comparison say of the scanner's scale."""

from collections.abc import Mapping
from typing import Any

from analysis.validation.uncertainty import certified_scale_sd

MPE = ("scan_mpe_mm", "scan_mpe_length_mm")


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
