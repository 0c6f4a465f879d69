"""What every phase asks of its numbers."""

from collections.abc import Sequence

from sim.limits import is_count

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
