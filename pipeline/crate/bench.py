"""The bench in an archive: who printed and scanned what, with which instrument.

Before each ingest of a real scan stand two actions, the print and the scan, so that the
chain of an archive ends at a serial number. They are plain actions: a CreateAction is,
by the profile of runs, what software did. Makers and laboratories are known by name
alone, and stand as text.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from rocrate.model.contextentity import (  # type: ignore[import-untyped]
    ContextEntity,
)
from rocrate.rocrate import ROCrate  # type: ignore[import-untyped]

from pipeline.store.bench import Certificate, Instrument, Lab, Material, Operator
from pipeline.store.bench_tags import bench_in
from pipeline.store.runs import Job

Record = Mapping[str, Any]


def add_benches(
    crate: ROCrate, jobs: Sequence[Job], records: Mapping[str, Record]
) -> list[ContextEntity]:
    """Describe the bench of each ingest that states one; the actions that it did."""
    actions = []
    for job in jobs:
        lab = bench_in(records[job.key].get("tags") or {})
        if job.step == "ingest" and job.paths and lab != Lab():
            actions += _bench(crate, job, lab)
    return actions


def _bench(crate: ROCrate, job: Job, lab: Lab) -> list[ContextEntity]:
    """The actions before an ingest: its print and its scan."""
    ingest = crate.get(f"#run-{job.key}")
    held = ingest.get("object") or []
    files = held if isinstance(held, list) else [held]
    name = job.name if lab.print_job is None else lab.print_job.name
    part = _entity(crate, f"#part-{name}", "IndividualProduct", {"name": name})
    scan = {"name": f"scan of {name}", "description": _conditions(lab)}
    scanned = _entity(crate, f"#scan-{job.name}", "Action", scan)
    scanned["object"] = part
    scanned["result"] = files[0] if len(files) == 1 else files
    if lab.scanner is not None:
        scanned["instrument"] = _instrument(crate, "scanner", lab.scanner)
        if lab.certificate is not None:
            text = _certificate(crate, lab.certificate)
            text["about"] = scanned["instrument"]
    if lab.operator is not None:
        scanned["agent"] = ingest["agent"] = _operator(crate, lab.operator)
    return [*_print(crate, lab, part), scanned]


def _conditions(lab: Lab) -> str | None:
    found = lab.conditions
    if found is None:
        return None
    warm = None if found.temperature_c is None else f"{found.temperature_c:g} degrees C"
    return "; ".join(filter(None, (warm, found.note))) or None


def _print(crate: ROCrate, lab: Lab, part: ContextEntity) -> list[ContextEntity]:
    """The print, where anything is stated of it."""
    if lab.printer is None and lab.print_job is None and lab.material is None:
        return []
    about = {"name": f"print of {part['name']}"}
    if lab.print_job is not None and lab.print_job.date is not None:
        about["endTime"] = lab.print_job.date
    printed = _entity(crate, f"#print-{part['name']}", "Action", about)
    printed["result"] = part
    if lab.printer is not None:
        printed["instrument"] = _instrument(crate, "printer", lab.printer)
    if lab.material is not None:
        printed["object"] = _material(crate, lab.material)
    return [printed]


def _instrument(crate: ROCrate, kind: str, one: Instrument) -> ContextEntity:
    about = {
        "name": one.called,
        "category": kind,
        "serialNumber": one.serial_number,
        "model": one.model,
        "manufacturer": one.maker,
    }
    return _entity(crate, f"#{kind}-{one.serial_number}", "IndividualProduct", about)


def _certificate(crate: ROCrate, one: Certificate) -> ContextEntity:
    permitted = one.model_dump(exclude_none=True, include={"probing_form_mpe_mm"})
    for name in ("sphere_spacing", "length"):
        of = getattr(one, name)
        if of is not None:
            permitted[name] = f"{of.mpe_mm:g} mm over {of.length_mm:g} mm"
    about = {
        "name": one.called,
        "identifier": one.number,
        "datePublished": one.date,
        "publisher": one.laboratory,
        "description": "; ".join(
            [one.kind, *(f"{k} {v}" for k, v in permitted.items())]
        ),
    }
    return _entity(crate, f"#certificate-{one.number}", "CreativeWork", about)


def _material(crate: ROCrate, one: Material) -> ContextEntity:
    name = " batch ".join(filter(None, (one.name, one.batch)))
    about = {"name": name, "productID": one.batch, "manufacturer": one.maker}
    return _entity(crate, f"#material-{name}", "IndividualProduct", about)


def _operator(crate: ROCrate, one: Operator) -> ContextEntity:
    address = f"https://orcid.org/{one.orcid}" if one.orcid else f"#operator-{one.name}"
    return _entity(crate, address, "Person", {"name": one.name})


def _entity(
    crate: ROCrate, address: str, kind: str, about: Mapping[str, Any]
) -> ContextEntity:
    """An entity, described once, without what is not stated."""
    address = "#" + quote(address[1:]) if address.startswith("#") else address
    known = crate.get(address)
    if known is not None:
        return known
    stated = {k: v for k, v in about.items() if v}
    return crate.add(ContextEntity(crate, address, {"@type": kind, **stated}))
