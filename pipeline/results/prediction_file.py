"""A prediction on disk: prediction.csv, and prediction.json beside it.

Where prediction.csv is large, `gzip -n` packs what is shipped of it: prediction.csv.gz.
prediction.json says which run made it, the SHA-256 of what prediction.csv is or was
before it was packed, and of every
record a digest of the inputs that it was predicted from: a record is the same wherever
its file lies if its inputs are. The digest of the code that made it stands there too: a
prediction stays what it was when code changes later, and is compared all the same.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.measured.prediction import COLUMNS
from analysis.measured.series import Quantities, QuantitySeries, RecordInputs
from pipeline.store.files import read_json, write_json, write_text
from pipeline.store.keys import file_digest
from pipeline.terminal.errors import InputError, one_line

TABLE, RECORD = "prediction.csv", "prediction.json"
PACKED = ".gz"
FOLDER = "prediction"  # below the folder of a set: what was committed
DIGITS = 9  # of a number that count


@dataclass(frozen=True, eq=False)
class Prediction:
    """Rows and what they were made from.

    Parameters
    ----------
    table : as of analysis.measured.prediction
    key : of the run that made it
    sha256 : of prediction.csv
    records : digest of the inputs of each, by name
    fitted : names of those that were fitted
    refused : why a record has none
    notes : of records that some runs with moved inputs leave a quantity of out
    code : digest of the modules that made it
    """

    table: pd.DataFrame
    key: str
    sha256: str
    records: Mapping[str, str]
    fitted: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    code: str = ""

    def holds(self, inputs: RecordInputs) -> bool:
        """Whether a record was predicted from these inputs."""
        return self.records.get(inputs.name) == digest_of(inputs)

    def of(self, record: str) -> pd.DataFrame:
        """The rows of a record."""
        return self.table[self.table["record"] == record]

    def quantities(self, record: str) -> Quantities:
        """The same as series."""
        rows = self.of(record)
        return {
            str(name): QuantitySeries(
                own["at"].to_numpy(np.float64),
                own["value"].to_numpy(np.float64),
                own["half_width"].to_numpy(np.float64),
            )
            for name, own in rows.groupby("quantity", sort=False)
        }


def digest_of(inputs: RecordInputs) -> str:
    """A digest of what a record is predicted from; its name is not in it."""
    values = {k: f"{float(v):.{DIGITS}g}" for k, v in sorted(inputs.numbers.items())}
    u = {k: f"{float(v):.{DIGITS}g}" for k, v in sorted(inputs.u.items())}
    arrays = {
        name: [list(a.shape), [f"{v:.{DIGITS}g}" for v in a.ravel()]]
        for name, a in sorted(inputs.state.items())
    }
    text = json.dumps([values, u, dict(sorted(inputs.words.items())), arrays])
    return hashlib.sha256(text.encode()).hexdigest()


def table_text(table: pd.DataFrame) -> str:
    """A table as CSV; what is true or false says so in small letters."""
    told = {
        name: np.where(table[name], "true", "false")
        for name in table.columns
        if table[name].dtype == bool
    }
    return str(table.assign(**told).to_csv(index=False, lineterminator="\n"))


def shortened(table: pd.DataFrame) -> pd.DataFrame:
    """Numbers with as many digits as count, so that what is shipped stays small."""
    short = {
        name: [float(f"{v:.{DIGITS}g}") for v in table[name]]
        for name in table.columns
        if table[name].dtype == np.float64
    }
    return table.assign(**short)


def write_prediction(
    out: Path,
    table: pd.DataFrame,
    key: str,
    inputs: Mapping[str, RecordInputs],
    fitted: tuple[str, ...],
    refused: Mapping[str, str],
    notes: Mapping[str, str],
    code: str = "",
) -> None:
    """Write both files."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / TABLE
    write_text(path, table_text(shortened(table)))
    said = {
        "key": key,
        "code": code,
        "sha256": file_digest(path),
        "records": {name: digest_of(one) for name, one in inputs.items()},
        "fitted": list(fitted),
        "refused": dict(refused),
    } | ({"notes": dict(notes)} if notes else {})
    write_json(out / RECORD, said)


def shipped_as(path: Path) -> Path:
    """A table, or the packed one that is there in its place."""
    packed = path.with_name(path.name + PACKED)
    return packed if packed.is_file() and not path.is_file() else path


def unpacked(path: Path) -> bytes:
    """What a table holds, packed or not.

    Raises
    ------
    InputError
        where it is missing or damaged
    """
    try:
        held = path.read_bytes()
        return gzip.decompress(held) if path.suffix == PACKED else held
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{path} cannot be read ({one_line(error)}): restore it, or predict anew"
        ) from error


def read_prediction(folder: Path) -> Prediction:
    """A prediction; refused where its table is not the one that was made.

    Raises
    ------
    InputError
        where a file is missing or damaged, or the table has another SHA-256
    """
    said, path = read_json(folder / RECORD), shipped_as(folder / TABLE)
    try:
        text = unpacked(path)
        now = hashlib.sha256(text).hexdigest()
        if now != said["sha256"]:
            raise InputError(
                f"{path} has the SHA-256 {now[:12]}, not {said['sha256'][:12]} as when "
                "it was made: restore it, or predict anew"
            )
        table = pd.read_csv(BytesIO(text), dtype={"record": str, "quantity": str})
        if list(table.columns) != list(COLUMNS):
            raise InputError(f"{path} does not have the columns {', '.join(COLUMNS)}")
        return Prediction(
            table,
            str(said["key"]),
            now,
            dict(said["records"]),
            tuple(said["fitted"]),
            dict(said["refused"]),
            dict(said.get("notes", {})),
            str(said.get("code", "")),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{folder} holds no prediction: {one_line(error)}") from error


def committed(folder: Path) -> Prediction | None:
    """The prediction that is shipped with a set; None where none is."""
    place = folder / FOLDER
    return read_prediction(place) if (place / RECORD).is_file() else None
