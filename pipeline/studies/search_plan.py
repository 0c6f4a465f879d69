"""The job that an adaptive study is, planned without Optuna."""

from pipeline.config.hydra import Composer
from pipeline.store.keys import identity
from pipeline.store.runs import Job
from pipeline.studies.file import Study


def planned_search(study: Study, composer: Composer) -> Job:
    """The job of an adaptive study; a change of its case or code makes it another."""
    base = composer.compose("simulate", [f"case={study.case}"])
    given = study.model_dump(mode="json")
    config = {"study": given, "base": base}
    return Job("search", study.name, identity("search", config), config)
