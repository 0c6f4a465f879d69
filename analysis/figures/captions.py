r"""A caption: a template with a figure's code, filled from what its runs found.

Numbers have no more digits than their uncertainty allows (`rounded`, `with_u`), by the
rule of the Particle Data Group (Review of Particle Physics, Introduction, 5.3): of
the three leading digits of u, 100 to 354 keep two, 355 to 949 keep one, and 950 to 999
become 1000 and keep two. The value ends where its u ends: 0.86567(17).

The markup is Markdown and has forms in LaTeX and HTML (`latex_text`, `as_html`):

    **a** bold   `name` a run or a file   $\mathcal{S}_0$ mathematics   [dJ23] cited

Mathematics is LaTeX; what HTML needs of it stands in `SYMBOLS`.
"""

import html
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment


MISSING = "--"
DIGITS = 3  # of a number whose uncertainty is not stated
SMALLEST, LARGEST = -3, 5  # exponents of numbers printed without a power of ten


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
    digits = value.quantize(Decimal(1).scaleb(min(place, 0)), ROUND_HALF_EVEN)
    return f"{digits if digits else abs(digits):f}"


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
    power : of ten, in which a whole column is written: it is left to the heading
    """
    if not _both_known(value, u):
        return rounded(value if power is None else value / 10.0**power)
    mantissa, spread, own = _both(value, u, sign, power)
    text = f"{mantissa}({spread.replace('.', '').lstrip('0')})"
    return _in_tex(text, own if power is None else 0)


def common_power(column: Iterable[tuple[float, float]]) -> int:
    """The power of ten in which numbers with their u are written together.

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
    power : of ten, in which both are written, in place of their own
    """
    if not _both_known(value, u):
        return rounded(value, power=power), MISSING
    mantissa, spread, own = _both(value, u, sign, power)
    return _in_tex(mantissa, own), _in_tex(spread, own)


def _both_known(value: float, u: float) -> bool:
    return math.isfinite(value) and math.isfinite(u) and u > 0.0


def _leading(value: float, u: float) -> int:
    """The power of ten of the first digit that is written of a number or of its u."""
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


@cache
def _environment() -> "ImmutableSandboxedEnvironment":
    """Templates in which an unknown name is an error, as is to run code."""
    from jinja2 import StrictUndefined  # only captions need it
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    found = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    found.filters |= {"sig": rounded, "u": with_u, "listed": listed, "times": times,
                      "spanned": spanned}  # fmt: skip
    return found


def filled(template: str, values: Mapping[str, Any]) -> str:
    """The caption that a template gives, one paragraph of marked text.

    Parameters
    ----------
    template : Jinja; `x | sig` prints x to three digits, `x | sig(2)` to two,
        `x | u(s)` with its standard uncertainty s in the last digits;
        `letters | spanned` names panels
    values : what it names

    Raises
    ------
    ValueError
        where it has an unknown name, or is no template
    """
    from jinja2 import TemplateError

    try:
        text = _environment().from_string(template).render(values)
    except (TemplateError, ArithmeticError, TypeError) as error:
        raise ValueError(str(error)) from error
    return " ".join(text.split())


def listed(words: Iterable[Any]) -> str:
    """a; a and b; a, b and c."""
    *front, last = [str(word) for word in words]
    return f"{', '.join(front)} and {last}" if front else last


def spanned(letters: Sequence[str]) -> str:
    """**a**; **a** and **b**; **a** to **d**: panels of a figure, as marked text."""
    bold = [f"**{letter}**" for letter in letters]
    return f"{bold[0]} to {bold[-1]}" if len(bold) > 2 else listed(bold)


def times(value: float, factor: float) -> float:
    """A number in another unit."""
    return value * factor


# As the references of CITATION.cff call themselves.
SOURCES = ("dJ23", "ZF19", "Hu20", "VV20")
PART = re.compile(
    r"\*\*(?P<bold>[^*]+)\*\*|`(?P<name>[^`]+)`|\$(?P<mathematics>[^$]+)\$"
    rf"|\[(?P<cited>{'|'.join(SOURCES)})\]|(?P<text>[^*`$\[]+|.)",
    re.DOTALL,
)
UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Begins a remark, a cell, an argument or the next sign.
LOOSE = re.compile(r"[%&#]|\\$")
SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
} | {c: "\\" + c for c in "&%$#_{}"}
SYMBOLS = {
    "alpha": "α", "beta": "β", "chi": "χ", "gamma": "γ", "Gamma": "Γ", "delta": "δ",
    "Delta": "Δ", "epsilon": "ε", "eta": "η", "kappa": "κ", "lambda": "λ", "mu": "µ",
    "nu": "ν", "xi": "ξ", "pi": "π", "Pi": "Π", "rho": "ρ", "sigma": "σ", "Sigma": "Σ",
    "tau": "τ", "phi": "φ", "Phi": "Φ", "psi": "ψ", "Psi": "Ψ", "omega": "ω",
    "Omega": "Ω", "theta": "θ", "times": "×", "pm": "±", "le": "≤", "ge": "≥",
    "approx": "≈", "infty": "∞", "to": "→", "tan": "tan", "circ": "°", "cdot": "·",
}  # fmt: skip
TEXT = {symbol: rf"\ensuremath{{\{name}}}" for name, symbol in SYMBOLS.items()} | {
    "°": r"\textdegree{}",
    "µ": r"\textmu{}",
    "\N{GREEK SMALL LETTER MU}": r"\textmu{}",
    "\N{MINUS SIGN}": r"\ensuremath{-}",
}
SPACES = (",", " ", ";")
STYLES = {"mathcal": "i", "mathrm": "", "bar": "i"}
ATOM = re.compile(r"\\[A-Za-z]+|\\.|\s+|.", re.DOTALL)

Forms = Mapping[str, Callable[[str], str]]


def latex_text(text: str) -> str:
    """Text that LaTeX prints as it is, on one line."""
    composed = normalize("NFC", UNPRINTED.sub(" ", text))
    return "".join(SPECIAL.get(c) or TEXT.get(c, c) for c in composed)


def latex_name(text: str) -> str:
    """A name in typewriter letters; two hyphens stay two."""
    plain = latex_text(text).replace("--", "-{}-")
    return rf"\texttt{{{plain}}}"


def _known(tex: str) -> str:
    r"""Mathematics for LaTeX, once each command in it is known; ^^5c is a backslash."""
    if "^^" in tex:
        raise ValueError(f"a caption has ^^ in {tex}: write the character instead")
    for command in re.findall(r"\\([A-Za-z]+|.)", tex, re.DOTALL):
        if command not in {*SYMBOLS, *STYLES, *SPACES}:
            raise _unknown(command)
    open_braces = list(accumulate((a == "{") - (a == "}") for a in tex)) or [0]
    if LOOSE.search(tex) or min(open_braces) < 0 or open_braces[-1]:
        raise ValueError(
            f"a caption has a malformed formula ${tex}$: balance its braces, and leave "
            "out %, & and #"
        )
    return f"${tex}$"


def _unknown(command: str) -> ValueError:
    return ValueError(
        f"a caption has \\{command}, which figures cannot show: add it to SYMBOLS in "
        "analysis/figures/captions.py"
    )


LATEX: Forms = {
    "bold": lambda text: rf"\textbf{{{latex_text(text)}}}",
    "name": latex_name,
    "mathematics": _known,
    "cited": r"\cite{{{}}}".format,
    "text": latex_text,
}


def written(text: str, forms: Forms) -> str:
    """Marked text in another form."""
    found = ""
    for part in PART.finditer(text):
        kind = str(part.lastgroup)
        found += forms[kind](part[kind])
    return found


def as_html(text: str) -> str:
    """Marked text as HTML, mathematics as italics and indices."""
    return written(text, HTML)


def _mathematics(tex: str) -> str:
    """LaTeX's mathematics as HTML."""
    atoms = (found.group() for found in ATOM.finditer(tex))
    return "".join(_atoms(atoms))


def _atoms(atoms: Iterator[str], roman: bool = False) -> Iterator[str]:
    """Each atom in HTML, up to the brace that closes what the atoms stand in."""
    for atom in atoms:
        if atom == "}":
            return
        if atom in "_^":
            tag = "sub" if atom == "_" else "sup"
            yield f"<{tag}>{_next(atoms, roman)}</{tag}>"
        elif atom == "{":
            yield "".join(_atoms(atoms, roman))
        elif atom.startswith("\\"):
            yield _command(atom[1:], atoms)
        elif atom.isalpha() and not roman:
            yield f"<i>{atom}</i>"
        else:
            yield {"-": "−", "~": " "}.get(atom, html.escape(atom))


def _next(atoms: Iterator[str], roman: bool = False) -> str:
    """One atom, or what stands in braces."""
    atom = next((a for a in atoms if not a.isspace()), "~")
    inner = _atoms(atoms, roman) if atom == "{" else _atoms(iter([atom]), roman)
    if atom.startswith("\\"):
        return _command(atom[1:], atoms)
    return "".join(inner)


def _command(name: str, atoms: Iterator[str]) -> str:
    if name in STYLES:
        return _next(atoms, roman=name == "mathrm")
    if name in SPACES:
        return " "
    if name not in SYMBOLS:
        raise _unknown(name)
    return SYMBOLS[name]


HTML: Forms = {
    "bold": lambda text: f"<b>{html.escape(text)}</b>",
    "name": lambda text: f"<code>{html.escape(text)}</code>",
    "mathematics": _mathematics,
    "cited": "[{}]".format,
    "text": html.escape,
}
