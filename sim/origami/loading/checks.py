"""What every phase asks of its numbers."""

from collections.abc import Sequence

from sim.limits import is_count, is_finite

Rows = Sequence[Sequence[float]]


def check_increments(increments: int) -> None:
    """Refuse anything but 1, 2, 3, ..."""
    if not is_count(increments):
        raise ValueError(
            f"increments must be 1 or more, a whole number, not {increments}"
        )


def check_tolerance(tolerance: float) -> None:
    """Refuse a tolerance that is not positive."""
    if not tolerance > 0:
        raise ValueError(f"tolerance must be positive, not {tolerance}")


def check_each(name: str, creases: Sequence[int], values: Sequence[float]) -> None:
    """Refuse other than one finite value for each crease, or a crease named twice."""
    if len(values) != len(creases):
        raise ValueError(
            f"{len(values)} {name} are given for {len(creases)} creases: give one for "
            "each"
        )
    for crease, value in zip(creases, values, strict=True):
        if not is_finite(value):
            raise ValueError(f"crease {crease}: {value} among {name} is not finite")
        if list(creases).count(crease) > 1:
            raise ValueError(f"crease {crease} is named twice: give its sum once")
