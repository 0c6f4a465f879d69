r"""The markup of captions, which is Markdown, and its forms in LaTeX and HTML.

    **a** bold   `name` a run or a file   $\mathcal{S}_0$ mathematics   [dJ23] cited

Mathematics is LaTeX; what HTML needs of it stands in `SYMBOLS`.
"""

import html
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import accumulate
from unicodedata import normalize

# As the references of CITATION.cff call themselves.
SOURCES = ("dJ23", "ZF19", "Hu20", "VV20")
PART = re.compile(
    r"\*\*(?P<bold>[^*]+)\*\*|`(?P<name>[^`]+)`|\$(?P<mathematics>[^$]+)\$"
    rf"|\[(?P<cited>{'|'.join(SOURCES)})\]|(?P<text>[^*`$\[]+|.)",
    re.DOTALL,
)
UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
LOOSE = re.compile(
    r"[%&#]|\\$"
)  # begins a remark, a cell, an argument or the next sign
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
        raise ValueError(f"a caption has ^^ in {tex}, another way to write a letter")
    for command in re.findall(r"\\([A-Za-z]+|.)", tex, re.DOTALL):
        if command not in {*SYMBOLS, *STYLES, *SPACES}:
            raise _unknown(command)
    open_braces = list(accumulate((a == "{") - (a == "}") for a in tex)) or [0]
    if LOOSE.search(tex) or min(open_braces) < 0 or open_braces[-1]:
        raise ValueError(
            f"a caption has ${tex}$, which nothing closes: pair its braces, and leave "
            "out %, & and #"
        )
    return f"${tex}$"


def _unknown(command: str) -> ValueError:
    return ValueError(f"a caption has \\{command}, which HTML is not told: add it")


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
