r"""The records of a folder: their files, and inputs in their names.

A record is a file whose name matches a pattern, or several rows of a table that share
the values of some columns. Named groups of the pattern are inputs: `(?P<mass_g>\d+)`
makes mass_g a number. A table records.csv in the folder, with a column `file`, adds
inputs or gives them with more digits, and admits files with any name. A record is
broken where its number there contradicts its name or its columns. Every other file in
the folder is ignored.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
from pydantic import BeforeValidator, Field

from pipeline.config.value_types import Entry, Words
from pipeline.runs.atomic_files import check_ends
from pipeline.terminal import InputError, one_line

RECORDS = "records.csv"
SEPARATORS = {";": "semicolons", "\t": "tabs"}  # in place of commas
NUMBERS = re.compile(r"[-+]?\d+(?:\.\d+)?")
LONGEST = 255  # letters of a record's name, as of a file's
CLOSER = 0.1  # of a number in a name, by which records.csv may give it more closely


def _pattern(value: Any) -> str:
    try:
        return str(re.compile(value).pattern)
    except (re.error, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"is {value!r}, not a regular expression: {error}") from error


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError(f"must be a mapping, not {value!r}")
    return {str(k): str(v) for k, v in value.items()}


Pattern = Annotated[str, BeforeValidator(_pattern)]
Texts = Annotated[dict[str, str], BeforeValidator(_texts)]


class RecordSource(Entry):
    """One form that records of a set have.

    Attributes
    ----------
    files : pattern of a whole file name; its named groups are inputs
    columns : whose values tell the records of one file apart; () where a file is one
    within : folder below that of the records
    defaults : inputs of a file whose name does not say them
    """

    files: Pattern
    columns: Words = ()
    within: str = ""
    defaults: Texts = Field(default_factory=dict)

    @property
    def required(self) -> list[str]:
        """Inputs that a name or records.csv must give for each file."""
        inputs = [*re.compile(self.files).groupindex, *self.columns]
        return list(dict.fromkeys(inputs))


@dataclass(frozen=True)
class FoundRecord:
    """One record of a folder; nothing but its names has been read.

    Parameters
    ----------
    name : the file's without suffix, or the values of the telling columns
    path : of the file
    inputs : what name, telling columns and records.csv say, as words
    of : column and value that tell its rows from those of others
    broken : why its file cannot be split into records; "" where it can
    """

    name: str
    path: Path
    inputs: Mapping[str, str]
    of: Mapping[str, str] = field(default_factory=dict)
    broken: str = ""

    def number(self, key: str) -> float:
        """One of the inputs as a number; refused where there is none."""
        try:
            value = float(self.inputs[key])
        except KeyError as error:
            raise InputError(
                f"{self.path} has no {key}: give it in the file's name or in {RECORDS}"
            ) from error
        except ValueError as error:
            raise InputError(
                f"{self.path}: {key} must be a number, not {self.inputs[key]!r}"
            ) from error
        if not np.isfinite(value):
            raise InputError(f"{self.path}: {key} is {value}: give a finite number")
        return value

    def columns(self, names: Sequence[str]) -> pd.DataFrame:
        """These columns of its rows as numbers, and no others.

        Raises
        ------
        InputError
            for a column that is missing, a cell that is no finite number, or no row
        """
        table = read_columns(self.path, list(dict.fromkeys([*self.of, *names])))
        own = (table[list(self.of)] == pd.Series(self.of, dtype=str)).all(axis=1)
        if not own.any():
            raise InputError(f"{self.path} has no row of {self.name}: give its values")
        return numbers(table.loc[own, list(names)], self.path)

    def row(self, names: Sequence[str]) -> pd.Series:
        """The same columns of its one row; refused where it has several."""
        table = self.columns(names)
        if len(table) > 1:
            raise InputError(
                f"{self.path} has {len(table)} rows of {self.name}: keep one"
            )
        return table.iloc[0]

    @property
    def there(self) -> bool:
        """Whether its file exists; a record may have inputs only."""
        return self.path.is_file()

    @cached_property
    def header(self) -> list[str]:
        """Names of the columns of its file."""
        return header_of(self.path)


def header_of(path: Path) -> list[str]:
    """Names of the columns of a CSV file; lines that begin with # are remarks.

    Raises
    ------
    InputError
        where it cannot be read, or commas do not separate its columns
    """
    check_ends(path)
    with a_table(path):
        found = pd.read_csv(path, comment="#", nrows=0).columns
    for sign, name in SEPARATORS.items():
        if len(found) == 1 and sign in found[0]:
            raise InputError(
                f"{path}: its columns are separated by {name}: use commas, and decimal "
                "points"
            )
    return [str(column).strip() for column in found]


@contextmanager
def a_table(path: Path) -> Iterator[None]:
    """Turn what pandas raises into a message of one line."""
    try:
        yield
    except pd.errors.EmptyDataError as error:
        raise InputError(f"{path} is empty: give a header and its rows") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: save it as CSV in UTF-8") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {one_line(error)}") from error
    except pd.errors.ParserError as error:
        raise InputError(f"{path} is not a table: {one_line(error)}") from error


def read_columns(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """Columns of a CSV file as words, in the order of `names`."""
    there = header_of(path)
    for name in names:
        if name not in there:
            raise InputError(f"{path} has no column {name}: it has {', '.join(there)}")
    with a_table(path):
        table = pd.read_csv(
            path,
            comment="#",
            usecols=lambda column: column.strip() in names,
            dtype=str,
            keep_default_na=False,
        ).rename(columns=str.strip)
    if not isinstance(table.index, pd.RangeIndex):
        raise InputError(f"{path} has rows longer than its header: name every column")
    return pd.DataFrame({name: table[name].str.strip() for name in names})


def numbers(table: pd.DataFrame, path: Path, *, gaps: bool = False) -> pd.DataFrame:
    """Words as numbers; the first that is no finite number is refused by its row.

    Parameters
    ----------
    gaps : whether a cell may be empty or nan
    """
    found = pd.DataFrame(
        {name: pd.to_numeric(table[name], errors="coerce") for name in table}
    ).astype(np.float64)
    wrong = ~np.isfinite(found.to_numpy())
    if gaps:
        wrong &= ~table.isin(["", "nan", "NaN"]).to_numpy()
    if wrong.any():
        row, column = (int(k) for k in np.argwhere(wrong)[0])
        raise InputError(
            f"{path}, row {table.index[row] + 2}: {table.columns[column]} must be a "
            f"finite number{' or empty' * gaps}, not {table.iloc[row, column]!r}"
        )
    return found.reset_index(drop=True)


def find_records(
    folder: Path, sources: Sequence[RecordSource], examples: Sequence[str] = ()
) -> tuple[list[FoundRecord], dict[str, str]]:
    """The records of a folder by name, and why some listed files are no records.

    A file has one form; of two records with one name, that of the first form in
    `sources` counts. A file of a matching name that cannot be split is a broken record.

    Parameters
    ----------
    examples : names of files of these forms, for one who named them otherwise

    Raises
    ------
    InputError
        where there is no folder, or no record in it
    PermissionError
        where this user may not list it
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder: give the folder of the records")
    listed = _listed(folder)
    found: dict[str, FoundRecord] = {}
    for source in sources:
        siblings = [one for one in sources if one.within == source.within]
        place = folder / source.within
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if path.is_file() and _form_of(path, siblings, listed) is source:
                for record in _records_of(path, source, listed):
                    found.setdefault(record.name, record)
    ways = dict.fromkeys(",".join(["file", *s.required]) for s in sources)
    if not found:
        names = examples or [sources[0].files]
        raise InputError(
            f"{folder} has no record: name its files like {' or '.join(names)}, or "
            f"list them in {RECORDS} with the columns {' or '.join(ways)}"
        )
    known = {record.path.name for record in found.values()}
    there = {p.name for s in sources for p in (folder / s.within).glob("*")}
    needed = f", but not all inputs: give the columns {' or '.join(ways)}"
    odd = {
        Path(n).stem: f"{folder / RECORDS} names {n}"
        + (needed if n in there else ", which does not exist")
        for n in listed
        if n not in known
    }
    return [found[name] for name in sorted(found)], odd


def _listed(folder: Path) -> dict[str, dict[str, str]]:
    """The entries of records.csv, by the file's name."""
    path = folder / RECORDS
    if not path.is_file():
        return {}
    table = read_columns(path, header_of(path))
    if "file" not in table:
        raise InputError(f"{path} has no column `file`: add the file of each row")
    twice = table["file"][table["file"].duplicated()]
    if len(twice):
        raise InputError(f"{path} names {twice.iloc[0]} twice: remove one row")
    rows = table.set_index("file").to_dict("index")
    return {
        Path(str(file)).name: {str(k): str(v) for k, v in row.items() if v != ""}
        for file, row in rows.items()
    }


def _form_of(
    path: Path, sources: Sequence[RecordSource], listed: Mapping[str, object]
) -> RecordSource | None:
    """The form of a file: by its name; if it is only listed, by its columns."""
    named = [one for one in sources if re.fullmatch(one.files, path.name)]
    if named or path.name not in listed or path.name == RECORDS:
        return named[0] if named else None
    try:
        there = set(header_of(path))
    except InputError:
        there = set()
    tables = [one for one in sources if one.columns and set(one.columns) <= there]
    return [*tables, *sources][0]


def _records_of(
    path: Path, source: RecordSource, listed: Mapping[str, Mapping[str, str]]
) -> list[FoundRecord]:
    """The records of a file; a broken one where they cannot be split."""
    match = re.fullmatch(source.files, path.name)
    named = match.groupdict() if match else {}
    inputs = {k: v for k, v in named.items() if v is not None}
    defaults = {k: v for k, v in source.defaults.items() if k not in inputs}
    more = {**defaults, **listed.get(path.name, {})}
    try:
        if not source.columns:
            return [FoundRecord(path.stem, path, _agreed(path, inputs, more))]
        if match is None and set(source.columns) - {*more, *header_of(path)}:
            return []  # listed, but of another form
        return list(_of_rows(path, source.columns, inputs, more))
    except InputError as error:
        return [FoundRecord(path.stem, path, {}, broken=one_line(error))]


def _of_rows(
    path: Path,
    telling: Sequence[str],
    inputs: Mapping[str, str],
    more: Mapping[str, str],
) -> Iterator[FoundRecord]:
    """Records of one file by columns; other sources may give a missing one.

    Parameters
    ----------
    inputs, more : from the file's name, and from records.csv, which overrides columns
    """
    known, there = _agreed(path, inputs, more), header_of(path)
    read = [c for c in telling if c in there or c not in known]
    if not read:
        yield FoundRecord(_name(path, telling, known), path, known)
        return
    rows = read_columns(path, read).drop_duplicates()
    if rows.empty:
        raise InputError(f"{path} has no row: give the values of its records")
    for row in rows.itertuples(index=False):
        own = dict(zip(read, map(str, row), strict=True))
        name = _name(path, telling, {**known, **own})
        yield FoundRecord(name, path, _agreed(path, {**inputs, **own}, more), own)


def _name(path: Path, telling: Sequence[str], inputs: Mapping[str, str]) -> str:
    """A record's name: the inputs that distinguish it."""
    name = "_".join(inputs[column] for column in telling)
    if len(name) > LONGEST:
        raise InputError(
            f"{path}: the record's name, built from {' and '.join(telling)}, has "
            f"{len(name)} characters: shorten it to {LONGEST}"
        )
    return name


def _agreed(
    path: Path, inputs: Mapping[str, str], listed: Mapping[str, str]
) -> dict[str, str]:
    """The inputs of a record; refused where a number of its list contradicts it.

    The list overrides words that differ in more than their numbers.
    """
    for key in inputs.keys() & listed.keys():
        apart = [NUMBERS.sub("#", words[key]) for words in (inputs, listed)]
        own, other = (
            np.array(NUMBERS.findall(words[key]), dtype=float)
            for words in (inputs, listed)
        )
        closer = CLOSER if apart[0].strip() == "#" else 0.0  # else a label
        if apart[0] == apart[1] and np.any(abs(own - other) > closer * abs(own)):
            raise InputError(
                f"{path}: {key} is {inputs[key]} in its name or columns, {listed[key]} "
                f"in {RECORDS}: correct one of them"
            )
    return {**inputs, **listed}
