"""Numbers as they are printed: no more digits than their uncertainty allows.

The rule of the Particle Data Group (Review of Particle Physics, Introduction, 5.3): of
the three leading digits of u, 100 to 354 keep two, 355 to 949 keep one, and 950 to 999
become 1000 and keep two. The value ends where its u ends: 0.86567(17).
"""

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal

MISSING = "--"
DIGITS = 3  # of a number whose uncertainty nobody states
SMALLEST, LARGEST = (
    -3,
    5,
)  # exponents of numbers that are printed without a power of ten


def last_place(u: float) -> int:
    """The power of ten of the last digit that `u`, positive, allows."""
    exponent = _exponent(u)
    leading = round(u / 10.0 ** (exponent - 2))
    return exponent - 1 if leading <= 354 else exponent


def _exponent(value: float) -> int:
    """The power of ten of the leading digit; 0 of 0."""
    return Decimal(repr(float(value))).adjusted() if value else 0


def _shifted(value: float, power: int) -> Decimal:
    return Decimal(repr(float(value))).scaleb(-power)


def _fixed(value: Decimal, place: int) -> str:
    """`value` rounded at 10^place, in full; the sign of what rounds to 0 is dropped."""
    kept = value.quantize(Decimal(1).scaleb(min(place, 0)), ROUND_HALF_EVEN)
    return f"{kept if kept else abs(kept):f}"


def _in_tex(mantissa: str, power: int) -> str:
    """A number outside of mathematics: in dollars only where it has to be."""
    if power:
        return rf"${mantissa} \times 10^{{{power}}}$"
    return f"${mantissa}$" if mantissa[0] in "-+" else mantissa


def _power(exponent: int, place: int) -> int:
    """The power of ten that is taken out of a number from `exponent` to `place`."""
    return exponent if place > 0 or not SMALLEST <= exponent < LARGEST else 0


def rounded(value: float, digits: int = DIGITS, power: int | None = None) -> str:
    """A number to some leading digits; a power of ten where it is small or large.

    Parameters
    ----------
    power : of ten, in place of the number's own
    """
    if not math.isfinite(value):
        return MISSING
    if not value:
        return "0"
    exponent = _exponent(float(f"{value:.{digits - 1}e}"))
    power = _power(exponent, 0) if power is None else power
    place = exponent - digits + 1 - power
    whole = float(f"{value:.{digits - 1}e}") if place > 0 else value
    return _in_tex(_fixed(_shifted(whole, power), place), power)


def with_u(
    value: float, u: float, *, sign: bool = False, power: int | None = None
) -> str:
    """A number with its standard uncertainty in its last digits: 0.86567(17).

    Parameters
    ----------
    sign : whether a positive number has its sign, as differences have
    power : of ten, in which a whole column is told: it is left to the heading
    """
    if not _both_known(value, u):
        return rounded(value if power is None else value / 10.0**power)
    mantissa, spread, own = _both(value, u, sign, power)
    told = f"{mantissa}({spread.replace('.', '').lstrip('0')})"
    return _in_tex(told, own if power is None else 0)


def common_power(column: Iterable[tuple[float, float]]) -> int:
    """The power of ten in which numbers with their u are told together.

    It is 0 where none of them needs one by itself, else that of the largest.
    """
    known = [pair for pair in column if _both_known(*pair)]
    powers = [_power(_leading(*pair), last_place(pair[1])) for pair in known]
    return max(_leading(*pair) for pair in known) if any(powers) else 0


def to_its_u(
    value: float, u: float, *, sign: bool = False, power: int | None = None
) -> tuple[str, str]:
    """A number and its standard uncertainty, each by itself, to the same digit.

    Parameters
    ----------
    power : of ten, in which both are told, in place of their own
    """
    if not _both_known(value, u):
        return rounded(value, power=power), MISSING
    mantissa, spread, own = _both(value, u, sign, power)
    return _in_tex(mantissa, own), _in_tex(spread, own)


def _both_known(value: float, u: float) -> bool:
    return math.isfinite(value) and math.isfinite(u) and u > 0.0


def _leading(value: float, u: float) -> int:
    """The power of ten of the first digit that is told of a number or of its u."""
    place = last_place(u)
    return max(_exponent(round(x, -place)) for x in (value, u) if round(x, -place))


def _both(
    value: float, u: float, sign: bool, power: int | None = None
) -> tuple[str, str, int]:
    """Mantissas of a number and of its u, and the power of ten taken out of both."""
    place = last_place(u)
    out = _power(_leading(value, u), place) if power is None else power
    mantissa, spread = (_fixed(_shifted(x, out), place - out) for x in (value, u))
    mark = "+" if sign and not mantissa.startswith("-") else ""
    return mark + mantissa, spread, out
