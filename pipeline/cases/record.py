"""What a recorder gives: see `pipeline.steps.recording`."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, float]
State = Mapping[str, NDArray[Any]]  # from which a run goes on
Arrays = dict[str, NDArray[np.generic]]
Documents = dict[str, object]
Summary = dict[str, float | str | int | bool]
TableRow = Mapping[str, float | str]
Tables = dict[str, Iterable[TableRow]]
