"""What every page is put together from: templates, their environment, scripts, data."""

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from pipeline.terminal.errors import InputError

TEMPLATES = Path(__file__).with_name("templates")
LIBRARY = Path("package_data") / "plotly.min.js"


def environment() -> Environment:
    """What fills the templates; a name that nobody gave is an error."""
    return Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )


def plotly_script() -> str:
    """plotly.js (MIT) as the plotly package carries it, to stand inside the page."""
    found = find_spec("plotly")
    if found is None or found.origin is None:
        raise InputError("the package plotly is missing: delete .venv and run make")
    text = (Path(found.origin).parent / LIBRARY).read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script")


def as_script(value: Any) -> str:
    """JSON that may stand inside a script element; what is not finite is null."""
    text = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
