"""The job that an adaptive study is, planned without Optuna."""

from pipeline.hydra_command import Composer
from pipeline.keys import identity
from pipeline.runs import Job
from pipeline.studies.file import Study, read_definition


def planned_search(study: Study, composer: Composer) -> Job:
    """The job of an adaptive study; a change of its case or code makes it another."""
    base = composer.compose("simulate", [f"case={study.case}"])
    config = {"study": read_definition(study.name), "base": base}
    return Job("search", study.name, identity("search", config), config)
