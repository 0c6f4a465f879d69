"""The job that runs a case, and the case that such a job describes."""

from collections.abc import Mapping
from typing import Any

from pipeline.config.build_objects import build
from pipeline.runs.run_directory import Job
from pipeline.runs.run_keys import identity
from pipeline.terminal import InputError


def planned(
    name: str, config: Mapping[str, Any], tags: Mapping[str, str] | None = None
) -> Job:
    """The job that runs the case which `config` describes."""
    tags = {"case": name, **(tags or {})}
    return Job("simulate", name, identity("simulate", config), config, tags=tags)


def sound_case(config: Mapping[str, Any]) -> Any:
    """The case that `config` describes, refused here if it is not sound."""
    for key in config:
        if key not in ("case", "record_every"):
            raise InputError(f"unknown key {key}: did you mean case.{key}?")
    every = config.get("record_every", 1)
    if not isinstance(every, int) or every < 1:
        raise InputError(f"record_every must be 1 or more, not {every}")
    if "case" not in config:
        raise InputError("the configuration has no case: name one of conf/case")
    case: Any = build(config["case"], "case")
    if not hasattr(case, "steps"):
        raise InputError("case has no _target_: name a class of pipeline.cases")
    return case
