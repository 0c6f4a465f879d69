"""Tables as text, as a person reads them."""

import csv
from pathlib import Path


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a table with a line of names."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
