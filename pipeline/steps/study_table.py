"""A study as tables, a row a run, and its main effects as plots."""

from pathlib import Path

import pandas as pd

from analysis.figures.studies import main_effects
from pipeline.results.saved_figure import save
from pipeline.store.files import replacing, write_text
from pipeline.store.provenance.sidecar import Origin, write_sidecars
from pipeline.store.runs import RESULTS
from pipeline.studies.members import read_members, study_directory
from pipeline.studies.table import responses, study_rows


def _write_table(table: pd.DataFrame, directory: Path) -> None:
    write_text(directory / "table.csv", table.to_csv(index=False, lineterminator="\n"))
    with replacing(directory / "table.parquet") as temporary:
        table.to_parquet(temporary, index=False)


def write_study(name: str, results: Path = RESULTS) -> pd.DataFrame:
    """Write tables and plots of a study; return the table."""
    wanted = read_members(name, results)
    table, costs = study_rows(wanted, results)
    directory = study_directory(name, results)
    _write_table(table, directory)
    write_text(directory / "costs.csv", costs.to_csv(index=False, lineterminator="\n"))
    origin = Origin(tuple(m["key"] for m in wanted["members"]), study=name)
    factors = list(dict.fromkeys(k for m in wanted["members"] for k in m["point"]))
    shown = responses(wanted, table)
    if shown:
        figure = main_effects(table, factors, shown, title=f"study {name}")
        save(figure, directory / "effects", origin)
    names = ("table.csv", "table.parquet", "costs.csv", "effects.pdf", "effects.png")
    files = [directory / name for name in names]
    write_sidecars([file for file in files if file.is_file()], origin)
    return table
