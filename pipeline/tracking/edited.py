"""Runs that were edited by hand since they ended: what the terminal says of them."""

import sys
from collections.abc import Collection
from pathlib import Path

from pipeline.store.digests import DIGESTS, edits, recorded_digests

TAG = "edited"  # of the MLflow run of one that can still be read


def lately_edited(directory: Path) -> list[str]:
    """What happened to the files of a run since it ended, a phrase each.

    Read for their digests only where a time stamp is younger than the digests are, or
    a file is gone: a pass over 10,000 runs must cost little. The report reads all.
    """
    try:
        ended = (directory / DIGESTS).stat().st_mtime_ns
        files = [directory / name for name in recorded_digests(directory)]
        same = all(file.stat().st_mtime_ns <= ended for file in files)
    except OSError:
        same = False
    return [] if same else edits(directory)


def told(directory: Path, changes: Collection[str], more: str = "") -> str:
    """One line on a run that was edited."""
    return (
        f"{directory}: {', '.join(changes)} since it ran: remove this folder, it is "
        f"made again{more}"
    )


def warn_of_edit(directory: Path) -> None:
    """Say in one line that a run whose numbers are shown was edited."""
    if changes := lately_edited(directory):
        print(f"warning: {told(directory, changes)}", file=sys.stderr)


def warn_of_edits(results: Path, already: Collection[str] = ()) -> None:
    """Say in one line which finished runs were edited.

    Parameters
    ----------
    already : names of directories that something was said about
    """
    runs = results / "runs"
    directories = sorted(runs.iterdir()) if runs.is_dir() else []
    found = [
        (directory, changes)
        for directory in directories
        if directory.name not in already and (changes := lately_edited(directory))
    ]
    if found:
        others = len(found) - 1
        more = f" (and {others} more {'runs were' if others > 1 else 'run was'} edited)"
        print(f"warning: {told(*found[0], more * bool(others))}", file=sys.stderr)
