"""The report in MLflow: one run a project, whose artifact is the page as it is now."""

import time
from pathlib import Path

from pipeline.store.keys import file_digest
from pipeline.tracking.labels import columns
from pipeline.tracking.store import Store

PAGE_TAG = "morphtrack.page"
NAME = "report"


def update_report(store: Store, results: Path) -> None:
    """Bring the page into MLflow, if it changed since it was brought there last."""
    page = results / "report" / "index.html"
    if not page.is_file():
        return
    digest = file_digest(page)[:16]
    if store.known.get(NAME) == digest:
        return
    client = store.client
    held = next((run.info.run_id for run in store.runs(**{PAGE_TAG: NAME})), None)
    run_id = held or _new_run(store, page)
    client.log_artifact(run_id, str(page))
    client.set_terminated(run_id, "FINISHED", end_time=round(time.time() * 1000))
    store.known[NAME] = digest


def _new_run(store: Store, page: Path) -> str:
    tags = {PAGE_TAG: NAME, "step": NAME, **columns(NAME, page.parent), **store.mark}
    run = store.client.create_run(store.experiment, tags=tags, run_name=NAME)
    return str(run.info.run_id)
