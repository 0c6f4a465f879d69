"""The description of an archive: RO-Crate 1.1, Process Run Crate 0.5.

The main entity is the Snakefile; each run is a folder, and an action that made it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from rocrate.model.contextentity import (  # type: ignore[import-untyped]
    ContextEntity,
)
from rocrate.rocrate import ROCrate  # type: ignore[import-untyped]

from pipeline.crate.contents import Contents
from pipeline.store.plan_file import needed_keys
from pipeline.store.runs import Job, run_record
from sim.syntax import SOURCE_ROOT

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
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
    ".npz": "application/octet-stream",
    ".ply": "application/octet-stream",
}
LICENSE = "https://spdx.org/licenses/MIT"
Entity = Mapping[str, Any]


def crate_of(held: Contents, results: Path) -> ROCrate:
    """The crate, ready to be written."""
    crate = ROCrate(version="1.1", gen_preview=True)
    _describe(crate, held)
    for name, path in held.files.items():
        if name == "Snakefile":
            crate.add_workflow(
                path, name, main=True, lang="snakemake", properties=_about(path)
            )
        elif not name.startswith("results/runs/"):
            crate.add_file(path, name, properties=_about(path))
    for datum in held.data:
        if not datum.packed:
            _absent(crate, datum.path, datum.digest)
    for job in held.jobs:
        crate.add_directory(
            results / "runs" / job.key,
            f"results/runs/{job.key}",
            properties={"name": f"{job.step} {job.name}"},
        )
    crate.root_dataset["mentions"] = [
        _action(crate, job, run_record(results / "runs" / job.key)) for job in held.jobs
    ]
    return crate


def _describe(crate: ROCrate, held: Contents) -> None:
    crate.name = "morphtrack: shape-morphing simulations beside scans"
    many = f"{len(held.jobs)} of {len(held.jobs) + len(held.missing)} planned runs"
    crate.description = (
        f"Code, configurations, data and results: {many}. Unzip it, check it by "
        "sha256sum -c SHA256SUMS and run make figures: with results/runs in place "
        "nothing runs again; without, every run is made anew under the same key."
    )
    crate.license = crate.add(
        ContextEntity(crate, LICENSE, {"@type": "CreativeWork", "name": "MIT License"})
    )
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    crate.root_dataset["conformsTo"] = crate.add(ContextEntity(crate, PROFILE, profile))
    cited = yaml.safe_load((SOURCE_ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    authors = [_author(crate, k, one) for k, one in enumerate(cited["authors"])]
    crate.root_dataset["author"] = _one_or_all(authors)


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


def _about(path: Path) -> dict[str, str]:
    known = FORMATS.get(path.suffix, "text/plain")
    return {
        "name": path.name,
        "contentSize": str(path.stat().st_size),
        "encodingFormat": known,
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


def _one_or_all(entities: list[Any]) -> Any:
    """A single value by itself, as RO-Crate asks for."""
    return entities[0] if len(entities) == 1 else entities


def _tool(crate: ROCrate, step: str, known: Entity) -> ContextEntity:
    """One step of the pipeline, with the versions that its first run had."""
    said = ", ".join(f"{name} {v}" for name, v in known["versions"].items())
    about = {
        "@type": "SoftwareApplication",
        "name": f"morphtrack {step}",
        "softwareRequirements": said,
        "softwareVersion": f"code {known['code'][:16]}",
    }
    address = f"#step-{step}"
    return crate.get(address) or crate.add(ContextEntity(crate, address, about))


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
        _tool(crate, job.step, record["identity"]),
        f"#run-{job.key}",
        object=_one_or_all([e for e in [*read, *files] if e is not None]),
        result=crate.get(f"results/runs/{job.key}/"),
        properties=about,
    )
