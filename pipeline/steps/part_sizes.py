"""conf/parts/default.yaml: what printer and virtual scanner share."""

from dataclasses import fields
from pathlib import Path
from typing import Any

from pipeline.config.hydra import composed_file
from sim.lab.sizes import Sizes

FILE = Path("conf/parts/default.yaml")


def shared_settings(path: Path = FILE) -> dict[str, Any]:
    """Scale and sizes that printer and virtual scanner share, from a parts file."""
    given = composed_file(path)
    names = ["scale_mm", *(f.name for f in fields(Sizes))]
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(f"{path} has no {missing[0]}: give it a value")
    return {name: given[name] for name in names}
