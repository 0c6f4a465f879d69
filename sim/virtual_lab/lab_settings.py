"""The parameters of the virtual lab, and how thick the printed parts are."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Self

from sim.core.options import (
    Checked,
    NotNegative,
    Positive,
    Requirement,
    Whole,
    is_count,
    within,
)


@dataclass(frozen=True)
class Sizes(Checked):
    """Sizes in mm; conf/parts/default.yaml explains each."""

    ball_radius_mm: Positive
    rod_radius_mm: Positive
    clamp_radius_mm: Positive
    clamp_length_mm: NotNegative
    clearance_mm: NotNegative
    target_radius_mm: Positive
    target_clearance_mm: NotNegative

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.rod_radius_mm <= self.clamp_radius_mm < self.ball_radius_mm:
            raise ValueError(
                f"clamp_radius_mm {self.clamp_radius_mm} must be between rod_radius_mm "
                f"{self.rod_radius_mm} and ball_radius_mm {self.ball_radius_mm}: a "
                "clamp is a sleeve around its rod with a seat for the sphere"
            )

    @property
    def seat_mm(self) -> float:
        """Radius of a clamp's seat."""
        return self.ball_radius_mm + self.clearance_mm

    @classmethod
    def among(cls, settings: Mapping[str, Any]) -> Self:
        """The sizes among other settings."""
        return cls(**{f.name: settings[f.name] for f in fields(cls)})


Share = Annotated[float, within(0.0, 1.0, "a share from 0 to 1")]


@dataclass(frozen=True)
class VirtualLab(Sizes):
    """How a part is printed and scanned.

    conf/parts/default.yaml explains the sizes of the part, conf/scanner.yaml the rest.
    """

    seed: Whole
    scale_mm: Positive  # mm per unit of the case
    scale_sd: NotNegative
    printing_sd_mm: NotNegative
    joint_play_mm: NotNegative
    views: Annotated[
        int,
        Requirement("from 1 to 100", lambda value: is_count(value) and value <= 100),
    ]
    pitch_mm: Positive
    distance_mm: Positive
    triangulation_deg: Positive
    incidence_limit_deg: Annotated[
        Positive,
        within(0.0, 89.0, "at most 89, as no scanner sees a surface edge-on"),
    ]
    drop_out: Share
    noise_mm: NotNegative
    ripple_mm: NotNegative
    ripple_period_mm: Positive
    mixed_pixels: Share
    outliers: Share
    registration_mm: NotNegative
    registration_deg: NotNegative
    certified_scale_sd: NotNegative

    @classmethod
    def from_mapping(cls, settings: Mapping[str, Any]) -> Self:
        """The lab that a mapping such as conf/scanner.yaml describes."""
        names = [field.name for field in fields(cls)]
        for name in settings:
            if name not in names:
                raise ValueError(
                    f"the virtual lab has no {name!r}: it has {', '.join(names)}"
                )
        for name in names:
            if name not in settings:
                raise ValueError(f"the virtual lab needs {name}: give it a value")
        return cls(**settings)
