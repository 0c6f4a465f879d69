"""The description of an archive: RO-Crate 1.1, Provenance Run Crate 0.5.

The workflow is the Snakefile, a tool each step of the pipeline, an action each run. The
runs' files are told by their folder; SHA256SUMS in it holds their digests.
"""

import platform
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import yaml
from rocrate.model.computationalworkflow import (  # type: ignore[import-untyped]
    ComputationalWorkflow,
)
from rocrate.model.contextentity import (  # type: ignore[import-untyped]
    ContextEntity,
)
from rocrate.rocrate import ROCrate  # type: ignore[import-untyped]

from pipeline.crate.contents import Contents
from pipeline.store.digests import DIGESTS
from pipeline.store.keys import file_digest
from pipeline.store.plan_file import needed_keys
from pipeline.store.runs import Job, run_record
from sim.syntax import SOURCE_ROOT

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
FORMATS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".md": "text/markdown",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".py": "text/x-python",
    ".tex": "text/x-tex",
    ".yaml": "application/yaml",
}
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
BIOSCHEMAS = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
DESCRIBED = {"url": {"@id": "README.md"}}
SNAKEMAKE = "https://snakemake.github.io"
LICENSE = "https://spdx.org/licenses/MIT"
Entity = Mapping[str, Any]


class Prospective(ComputationalWorkflow):  # type: ignore[misc]
    """A workflow that tells its steps too."""

    TYPES: ClassVar = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]


def crate_of(held: Contents, results: Path) -> ROCrate:
    """The crate, ready to be written."""
    crate = ROCrate(version="1.1", gen_preview=True)
    _describe(crate, held)
    records = {j.key: run_record(results / "runs" / j.key) for j in held.jobs}
    workflow = _workflow(crate, held, records)
    for job in held.jobs:
        _folder(crate, job, results)
    for name, path in held.files.items():
        if name != "Snakefile" and not name.startswith("results/runs/"):
            crate.add_file(path, name, properties=_about(path))
    readme = crate.get("README.md")
    if readme is not None:
        readme["about"] = crate.root_dataset
    for datum in held.data:
        if not datum.packed:
            _absent(crate, datum.path, datum.digest)
    _actions(crate, workflow, held, records)
    return crate


def _describe(crate: ROCrate, held: Contents) -> None:
    crate.name = "morphtrack: shape-morphing simulations beside scans"
    many = f"{len(held.jobs)} of {len(held.jobs) + len(held.missing)} planned runs"
    crate.description = (
        f"Code, configurations, data and results: {many}. Unpack it and run make "
        "figures: with results/runs in place nothing runs again; without, every run "
        "is made anew under the same key. make test checks the code."
    )
    crate.root_dataset["license"] = crate.add(
        ContextEntity(crate, LICENSE, {"@type": "CreativeWork", "name": "MIT License"})
    )
    crate.metadata.extra_contexts.append(TERMS)
    profiles = [
        crate.add(
            ContextEntity(
                crate,
                address,
                {
                    "@type": "CreativeWork",
                    "name": name,
                    "version": address.rpartition("/")[2],
                },
            )
        )
        for address, name in PROFILES.items()
    ]
    crate.root_dataset["conformsTo"] = profiles
    cited = enumerate(_cited()["authors"])
    authors = [_author(crate, number, one) for number, one in cited]
    crate.root_dataset["author"] = _one_or_all(authors)
    houses = [one for one in authors if one.type == "Organization"]
    crate.root_dataset["publisher"] = _one_or_all(houses)


@cache
def _cited() -> dict[str, Any]:
    """What CITATION.cff says; of the authors, an entity has a name, a person two."""
    text = (SOURCE_ROOT / "CITATION.cff").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def nameless() -> str:
    """What CITATION.cff does not say, so that tools or authors have no address."""
    cited = _cited()
    known = all("orcid" in one or "website" in one for one in cited["authors"])
    lacks = {"url:": "url" in cited, "website: or orcid: of each author": known}
    return " and ".join(what for what, there in lacks.items() if not there)


def _author(crate: ROCrate, number: int, one: Mapping[str, str]) -> ContextEntity:
    person = " ".join(one[k] for k in ("given-names", "family-names") if k in one)
    about = {
        "@type": "Person" if person else "Organization",
        "name": person or one["name"],
    }
    if "website" in one:
        about["url"] = one["website"]
    address = one.get("orcid") or one.get("website")
    return crate.add(ContextEntity(crate, address or f"#author-{number + 1}", about))


def _about(path: Path) -> dict[str, Any]:
    known = {"encodingFormat": FORMATS.get(path.suffix, "text/plain")}
    if path.suffix in {".npz", ".npy", ".parquet", ".ply"}:
        known["encodingFormat"] = "application/octet-stream"
    size = str(path.stat().st_size)
    return {
        "name": path.name,
        "contentSize": size,
        "sha256": file_digest(path),
        **known,
    }


def _absent(crate: ROCrate, path: Path, digest: str) -> None:
    """A scan outside of the project: its digest and name, not its points."""
    crate.add(
        ContextEntity(
            crate,
            f"#sha256-{digest}",
            {
                "@type": "CreativeWork",
                "name": path.name,
                "sha256": digest,
                "description": f"not in this archive; was read as {path}",
            },
        )
    )


def _workflow(
    crate: ROCrate, held: Contents, records: Mapping[str, Entity]
) -> ContextEntity:
    """The Snakefile with its tools, steps and parameters."""
    workflow = crate.add_workflow(
        held.files["Snakefile"],
        "Snakefile",
        main=True,
        cls=Prospective,
        lang="snakemake",
        lang_version=metadata.version("snakemake"),
        properties=_about(held.files["Snakefile"])
        | {"name": "workflow of morphtrack", "version": _version(), **DESCRIBED},
    )
    workflow["conformsTo"] = {"@id": BIOSCHEMAS}
    for position, step in enumerate(dict.fromkeys(job.step for job in held.jobs)):
        tool = _tool(crate, step, records)
        workflow.append_to("hasPart", tool)
        how = {"@type": "HowToStep", "position": str(position + 1), "name": step}
        entity = crate.add(ContextEntity(crate, f"#step-{step}", how))
        entity["workExample"] = tool
        workflow.append_to("step", entity)
    scans = any(datum.packed for datum in held.data)
    inputs = ["configuration", *["scans"] * scans]
    workflow["input"] = _one_or_all([_parameter(crate, name) for name in inputs])
    workflow["output"] = _parameter(crate, "results", "Dataset")
    return workflow


def _parameter(crate: ROCrate, name: str, kind: str = "File") -> ContextEntity:
    return crate.add_formal_parameter(
        name, kind, identifier=f"#parameter-{name}", description=f"the {name}"
    )


def _tool(crate: ROCrate, step: str, records: Mapping[str, Entity]) -> ContextEntity:
    """One step of the pipeline, with the versions that its last run had."""
    known = next(r["identity"] for r in records.values() if r["step"] == step)
    said = ", ".join(f"{name} {v}" for name, v in known["versions"].items())
    code = known["code"]
    return crate.add(
        ContextEntity(
            crate,
            _tool_id(step),
            {
                "@type": "SoftwareApplication",
                "name": f"morphtrack {step}",
                "description": f"python -m pipeline {step}",
                "softwareRequirements": said,
                "softwareVersion": f"code {code[:16]}",
                **DESCRIBED,
            },
        )
    )


def _tool_id(step: str) -> str:
    """A name of a step: of the whole world where CITATION.cff has an address."""
    return f"{_cited().get('url', '')}#pipeline.{step}"


def _version() -> str:
    """The version of this project."""
    text = (SOURCE_ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(text)["project"]["version"])


def _folder(crate: ROCrate, job: Job, results: Path) -> None:
    directory = results / "runs" / job.key
    crate.add_directory(
        directory,
        f"results/runs/{job.key}",
        properties={
            "name": f"{job.step} {job.name}",
            "description": f"run {job.key}; {DIGESTS} holds the digests of its files",
        },
    )


def _actions(
    crate: ROCrate, workflow: Any, held: Contents, records: Mapping[str, Entity]
) -> None:
    """A CreateAction each run, and those of the workflow and of its engine."""
    made = [_action(crate, job, records[job.key]) for job in held.jobs]
    span = _span(records.values())
    whole = _whole_run(crate, workflow, held, span)
    organise = _organisation(crate, _controls(crate, held.jobs, made), span)
    organise["result"] = whole
    crate.root_dataset["mentions"] = [whole, organise, *made]


def _whole_run(
    crate: ROCrate, workflow: Any, held: Contents, span: Entity
) -> ContextEntity:
    """The run of the workflow: from its configuration and scans to all folders."""
    conf = crate.get("conf/workflow.yaml")
    conf["exampleOfWork"] = {"@id": "#parameter-configuration"}
    scans = [crate.get(d.path.as_posix()) for d in held.data if d.packed]
    for scan in scans:
        scan["exampleOfWork"] = {"@id": "#parameter-scans"}
    folders = [crate.get(f"results/runs/{job.key}/") for job in held.jobs]
    for folder in folders:
        folder["exampleOfWork"] = {"@id": "#parameter-results"}
    return crate.add_action(
        workflow,
        "#run-of-the-workflow",
        object=_one_or_all([conf, *scans]),
        result=_one_or_all(folders),
        properties={
            "agent": crate.root_dataset["author"],
            "name": "run of the workflow",
            "description": f"{len(folders)} runs, made by make figures",
            **span,
        },
    )


def _controls(
    crate: ROCrate, jobs: Iterable[Job], made: Iterable[ContextEntity]
) -> list[ContextEntity]:
    """That a step of the workflow led to an action, each."""
    controls = []
    for job, action in zip(jobs, made, strict=True):
        control = {"@type": "ControlAction", "name": f"{job.step} {job.name}"}
        entity = crate.add(ContextEntity(crate, f"#control-{job.key}", control))
        entity["instrument"] = crate.get(f"#step-{job.step}")
        entity["object"] = action
        controls.append(entity)
    return controls


def _organisation(
    crate: ROCrate, controls: list[ContextEntity], span: Entity
) -> ContextEntity:
    """What Snakemake did."""
    engine = {
        "@type": "SoftwareApplication",
        "name": "Snakemake",
        "softwareVersion": metadata.version("snakemake"),
        "url": SNAKEMAKE,
    }
    organised = {
        "@type": "OrganizeAction",
        "name": "snakemake called by morphtrack make",
        "description": f"Python {platform.python_version()}",
        **span,
    }
    organise = crate.add(ContextEntity(crate, "#organisation", organised))
    organise["instrument"] = crate.add(ContextEntity(crate, SNAKEMAKE, engine))
    organise["object"] = controls
    return organise


def _one_or_all(entities: list[Any]) -> Any:
    """A single value by itself, as RO-Crate asks for."""
    return entities[0] if len(entities) == 1 else entities


def _span(records: Iterable[Entity]) -> dict[str, str]:
    """First start and last end."""
    known = list(records)
    if not known:
        return {}
    return {
        "startTime": min(str(r["started"]) for r in known),
        "endTime": max(str(r["ended"]) for r in known),
    }


def _action(crate: ROCrate, job: Job, record: Entity) -> ContextEntity:
    read = [crate.get(f"results/runs/{key}/") for key in needed_keys(job)]
    files = [
        crate.get(Path(path).as_posix()) or crate.get(f"#sha256-{digest}")
        for path, digest in zip(job.paths, job.identity["files"], strict=True)
    ]
    about = {
        "name": f"{job.step} {job.name}",
        "identifier": job.key,
        "description": f"commit {record['git_commit'] or 'unknown'}, code "
        f"{job.identity['code'][:16]}",
        "startTime": record["started"],
        "endTime": record["ended"],
        "actionStatus": "http://schema.org/CompletedActionStatus",
        "agent": crate.root_dataset["author"],
    }
    return crate.add_action(
        crate.get(_tool_id(job.step)),
        f"#run-{job.key}",
        object=_one_or_all([e for e in [*read, *files] if e is not None]),
        result=crate.get(f"results/runs/{job.key}/"),
        properties=about,
    )
