"""Numbers as they are printed: no more digits than their uncertainty allows.

The rule of the Particle Data Group (Review of Particle Physics, Introduction, 5.3): of
the three leading digits of u, 100 to 354 keep two, 355 to 949 keep one, and 950 to 999
become 1000 and keep two. The value ends where its u ends: 0.86567(17).
"""

import math
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


def rounded(value: float, digits: int = DIGITS) -> str:
    """A number to some leading digits; a power of ten where it is small or large."""
    if not math.isfinite(value):
        return MISSING
    if not value:
        return "0"
    exponent = _exponent(float(f"{value:.{digits - 1}e}"))
    power = _power(exponent, 0)
    place = exponent - digits + 1 - power
    whole = float(f"{value:.{digits - 1}e}") if place > 0 else value
    return _in_tex(_fixed(_shifted(whole, power), place), power)


def with_u(value: float, u: float, *, sign: bool = False) -> str:
    """A number with its standard uncertainty in its last digits: 0.86567(17).

    Parameters
    ----------
    sign : whether a positive number has its sign, as differences have
    """
    if not (math.isfinite(value) and math.isfinite(u) and u > 0.0):
        return rounded(value)
    mantissa, spread, power = _both(value, u, sign)
    return _in_tex(f"{mantissa}({spread.replace('.', '').lstrip('0')})", power)


def to_its_u(value: float, u: float, *, sign: bool = False) -> tuple[str, str]:
    """A number and its standard uncertainty, each by itself, to the same digit."""
    if not (math.isfinite(value) and math.isfinite(u) and u > 0.0):
        return rounded(value), MISSING
    mantissa, spread, power = _both(value, u, sign)
    return _in_tex(mantissa, power), _in_tex(spread, power)


def _both(value: float, u: float, sign: bool) -> tuple[str, str, int]:
    """Mantissas of a number and of its u, and the power of ten taken out of both."""
    place = last_place(u)
    leading = max(_exponent(round(x, -place)) for x in (value, u) if round(x, -place))
    power = _power(leading, place)
    mantissa, spread = (_fixed(_shifted(x, power), place - power) for x in (value, u))
    mark = "+" if sign and not mantissa.startswith("-") else ""
    return mark + mantissa, spread, power
