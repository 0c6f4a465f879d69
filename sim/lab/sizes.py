"""How thick the printed parts are."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Sizes:
    """Sizes in mm; conf/parts/default.yaml explains each."""

    ball_radius_mm: float
    rod_radius_mm: float
    clamp_radius_mm: float
    clamp_length_mm: float
    clearance_mm: float
    target_radius_mm: float
    target_clearance_mm: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{field.name} must be a number, not {value!r}")
            if not 0 <= value < float("inf"):
                raise ValueError(f"{field.name} must not be negative: {value}")
        for name in ("ball_radius_mm", "rod_radius_mm", "target_radius_mm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, not {getattr(self, name)}")
        if not self.rod_radius_mm <= self.clamp_radius_mm < self.ball_radius_mm:
            raise ValueError(
                f"clamp_radius_mm {self.clamp_radius_mm} must be between rod_radius_mm "
                f"{self.rod_radius_mm} and ball_radius_mm {self.ball_radius_mm}: a "
                "clamp is a sleeve around its rod with a seat for the ball"
            )

    @property
    def seat_mm(self) -> float:
        """Radius of a clamp's seat."""
        return self.ball_radius_mm + self.clearance_mm

    @classmethod
    def among(cls, settings: Mapping[str, Any]) -> "Sizes":
        """The sizes among other settings."""
        return cls(**{f.name: settings[f.name] for f in fields(cls)})
