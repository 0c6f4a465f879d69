r"""The records of a folder: which files they are, and what their names say.

A record is a file whose name matches a pattern, or several rows of a table that share
the values of some columns. Named groups of the pattern are inputs: `(?P<mass_g>\d+)`
makes mass_g a number. A table records.csv in the folder, with a column `file`, adds
inputs or gives them more closely, and admits files whose names say nothing; a record
of which it says another number than its name or its columns is broken. Every other
file in the folder is left alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from pipeline.runs.atomic_files import check_ends
from pipeline.terminal import InputError, one_line

RECORDS = "records.csv"
SEPARATORS = {";": "semicolons", "\t": "tabs"}  # in place of commas
NUMBERS = re.compile(r"[-+]?\d+(?:\.\d+)?")
LONGEST = 255  # letters of a record's name, as of a file's
CLOSER = 0.1  # of a number in a name, by which records.csv may give it more closely


@dataclass(frozen=True)
class RecordSource:
    """One form that records of a set have.

    Parameters
    ----------
    files : pattern of a whole file name; its named groups are inputs
    columns : whose values tell the records of one file apart; () where a file is one
    within : folder below that of the records
    defaults : inputs of a file whose name does not say them
    example : the name of a file of this form; "" where none is at hand
    """

    files: str
    columns: tuple[str, ...] = ()
    within: str = ""
    defaults: Mapping[str, str] = field(default_factory=dict)
    example: str = ""

    @property
    def required(self) -> list[str]:
        """What a name or records.csv must say of each file."""
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
                f"{self.path}: {key} is not known: say it in the file's name or in "
                f"{RECORDS} beside it"
            ) from error
        except ValueError as error:
            raise InputError(
                f"{self.path}: {key} is {self.inputs[key]!r}, which is no number"
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
        wanted = [*self.of, *(n for n in names if n not in self.of)]
        table = read_columns(self.path, wanted)
        keep = np.ones(len(table), dtype=bool)
        for column, value in self.of.items():
            keep &= (table[column] == value).to_numpy()
        if not keep.any():
            raise InputError(f"{self.path} has no row of {self.name}: give its values")
        return numbers(table.loc[keep, list(names)], self.path)

    @property
    def there(self) -> bool:
        """Whether its file is: a record that lies elsewhere has names only."""
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
    with _a_table(path):
        found = pd.read_csv(path, comment="#", nrows=0).columns
    for sign, name in SEPARATORS.items():
        if len(found) == 1 and sign in found[0]:
            raise InputError(
                f"{path}: {name} separate its columns: give commas, and decimal points"
            )
    return [str(column).strip() for column in found]


@contextmanager
def _a_table(path: Path) -> Iterator[None]:
    """What pandas raises of a CSV file, as one line."""
    try:
        yield
    except pd.errors.EmptyDataError as error:
        raise InputError(f"{path} is empty: give a header and its rows") from error
    except UnicodeDecodeError as error:
        problem = f"{path} is no text in UTF-8: save it as CSV in UTF-8"
        raise InputError(problem) from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {one_line(error)}") from error
    except pd.errors.ParserError as error:
        raise InputError(f"{path} is no table: {one_line(error)}") from error


def read_columns(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """Columns of a CSV file as words, in the order asked for."""
    there = header_of(path)
    for name in names:
        if name not in there:
            raise InputError(f"{path} has no column {name}: it has {', '.join(there)}")
    with _a_table(path):
        table = pd.read_csv(
            path,
            comment="#",
            usecols=lambda column: column.strip() in names,
            dtype=str,
            keep_default_na=False,
        ).rename(columns=str.strip)
    if not isinstance(table.index, pd.RangeIndex):
        raise InputError(f"{path} has rows of more values than its header has names")
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
            f"{path}, row {table.index[row] + 2}: {table.columns[column]} is "
            f"{table.iloc[row, column]!r}, which is no finite number: correct it"
            f"{', or leave it empty' if gaps else ''}"
        )
    return found.reset_index(drop=True)


def find_records(
    folder: Path, sources: Sequence[RecordSource]
) -> tuple[list[FoundRecord], dict[str, str]]:
    """The records of a folder by their names, and why some that it lists are none.

    A file has one form, and of two records of one name the form that stands first in
    `sources` counts. A file that is called as one but cannot be split into records is a
    broken record.

    Raises
    ------
    InputError
        where there is no folder, or no record in it
    PermissionError
        where this user may not list it
    """
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder: name the one that holds the records")
    listed = _listed(folder)
    found: dict[str, FoundRecord] = {}
    for source in sources:
        siblings = [one for one in sources if one.within == source.within]
        place = folder / source.within
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if _form_of(path, siblings, listed) is not source:
                continue
            for record in _told_or_broken(path, source, listed):
                found.setdefault(record.name, record)
    ways = dict.fromkeys(",".join(["file", *s.required]) for s in sources)
    if not found:
        names = [s.example for s in sources if s.example] or [sources[0].files]
        raise InputError(
            f"{folder} holds no record: call its files such as {' or '.join(names)}, "
            f"or list them in {RECORDS}, with the columns {' or '.join(ways)}"
        )
    known = {record.path.name for record in found.values()}
    there = {p.name for s in sources for p in (folder / s.within).glob("*")}
    untold = f"and must say of it what the file does not: {' or '.join(ways)}"
    odd = {
        Path(n).stem: f"{folder / RECORDS} names {n}"
        + (f" {untold}" if n in there else ", which is not there")
        for n in listed
        if n not in known
    }
    return [found[name] for name in sorted(found)], odd


def _listed(folder: Path) -> dict[str, dict[str, str]]:
    """What records.csv says of each file, by the file's name."""
    path = folder / RECORDS
    if not path.is_file():
        return {}
    table = read_columns(path, header_of(path))
    if "file" not in table:
        raise InputError(
            f"{path} has no column file: it says which file a row is about"
        )
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
    if named or path.name not in listed or not path.is_file():
        return named[0] if named else None
    try:
        there = set(header_of(path))
    except InputError:
        there = set()
    tables = [one for one in sources if one.columns and set(one.columns) <= there]
    return [*tables, *sources][0]


def _told_or_broken(
    path: Path, source: RecordSource, listed: Mapping[str, Mapping[str, str]]
) -> list[FoundRecord]:
    """The records of a file; one that says why where they cannot be split."""
    try:
        return list(_of_file(path, source, listed))
    except InputError as error:
        return [FoundRecord(path.stem, path, {}, broken=one_line(error))]


def _of_file(
    path: Path, source: RecordSource, listed: Mapping[str, Mapping[str, str]]
) -> Iterator[FoundRecord]:
    """The records that a file holds; none where it is no file of this form."""
    match = re.fullmatch(source.files, path.name)
    admitted = path.name in listed and path.name != RECORDS
    if not path.is_file() or not (match or admitted):
        return
    named = match.groupdict() if match else {}
    inputs = {k: v for k, v in named.items() if v is not None}
    more = listed.get(path.name, {})
    more = {**{k: v for k, v in source.defaults.items() if k not in inputs}, **more}
    if not source.columns:
        yield FoundRecord(path.stem, path, _agreed(path, inputs, more))
        return
    if match is None and set(source.columns) - {*inputs, *more, *header_of(path)}:
        return  # listed, but of another form
    yield from _of_rows(path, source.columns, inputs, more)


def _of_rows(
    path: Path,
    telling: Sequence[str],
    inputs: Mapping[str, str],
    more: Mapping[str, str],
) -> Iterator[FoundRecord]:
    """Records of one file by columns; one that is missing may come from elsewhere.

    Parameters
    ----------
    inputs, more : by the file's name, and by records.csv, whose words outrank columns
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
    """A record's name: the inputs that tell it."""
    name = "_".join(inputs[column] for column in telling)
    if len(name) > LONGEST:
        raise InputError(
            f"{path}: {' and '.join(telling)} have {len(name)} letters, together "
            f"the name of a record, which has at most {LONGEST}: shorten them"
        )
    return name


def _agreed(
    path: Path, inputs: Mapping[str, str], listed: Mapping[str, str]
) -> dict[str, str]:
    """The inputs of a record; refused where its list contradicts it in a number.

    Words that differ in more than their numbers are taken from the list.
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
                f"{path}: {key} is {inputs[key]} by its name or columns, {listed[key]} "
                f"in {RECORDS}: mend the wrong one"
            )
    return {**inputs, **listed}
