"""The parameters of the virtual lab."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from sim.lab.sizes import Sizes

SHARES = ("drop_out", "mixed_pixels", "outliers")
POSITIVE = (
    "scale_mm", "ball_radius_mm", "rod_radius_mm", "clamp_radius_mm",
    "target_radius_mm", "pitch_mm", "distance_mm", "ripple_period_mm",
    "triangulation_deg", "incidence_limit_deg",
)  # fmt: skip


@dataclass(frozen=True)
class VirtualLab:
    """How a part is printed and scanned.

    conf/parts/default.yaml explains the sizes of the part, conf/scanner.yaml the rest.
    """

    seed: int
    scale_mm: float  # mm per unit of the case
    ball_radius_mm: float
    rod_radius_mm: float
    clamp_radius_mm: float
    clamp_length_mm: float
    clearance_mm: float
    target_radius_mm: float
    target_clearance_mm: float
    scale_sd: float
    printing_sd_mm: float
    joint_play_mm: float
    views: int
    pitch_mm: float
    distance_mm: float
    triangulation_deg: float
    incidence_limit_deg: float
    drop_out: float
    noise_mm: float
    ripple_mm: float
    ripple_period_mm: float
    mixed_pixels: float
    outliers: float
    registration_mm: float
    registration_deg: float
    certified_scale_sd: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            whole = field.type is int
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{field.name} must be a number, not {value!r}")
            if whole and not isinstance(value, int):
                raise ValueError(f"{field.name} must be a whole number, not {value}")
            if field.name in POSITIVE and not value > 0:
                raise ValueError(f"{field.name} must be positive, not {value}")
            if not 0 <= value < float("inf"):
                raise ValueError(f"{field.name} must not be negative: {value}")
            if field.name in SHARES and value > 1:
                raise ValueError(f"{field.name} is a share: {value} exceeds 1")
        if not 1 <= self.views <= 100:
            raise ValueError(f"views must be from 1 to 100, not {self.views}")
        if self.incidence_limit_deg > 89:
            raise ValueError(
                f"incidence_limit_deg {self.incidence_limit_deg} exceeds 89: no "
                "scanner sees a surface edge-on"
            )
        _ = self.sizes

    @property
    def sizes(self) -> Sizes:
        """How thick the part is."""
        return Sizes.among(vars(self))

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> Self:
        """The lab that a mapping such as conf/scanner.yaml describes."""
        names = [field.name for field in fields(cls)]
        for name in settings:
            if name not in names:
                raise ValueError(
                    f"the virtual lab has no {name!r}: it knows {', '.join(names)}"
                )
        for name in names:
            if name not in settings:
                raise ValueError(f"the virtual lab needs {name}: give it a value")
        return cls(**settings)
