"""The bench in the description of an archive: its chain ends at a serial number."""

from rocrate.rocrate import ROCrate

from pipeline.crate.bench import add_benches
from pipeline.store.bench import Lab
from pipeline.store.bench_tags import bench_tags
from pipeline.store.runs import Job
from tests.pipeline.store.test_bench import WHOLE

LAB = Lab.model_validate(WHOLE)


def crate_of_ring(tags):
    """A crate of an ingest with such tags: its graph, its bench's actions, the run."""
    crate = ROCrate(version="1.1")
    job = Job("ingest", "ring", {"step": "ingest"}, {}, paths=("ring.ply",))
    scan = crate.add_file(__file__, "ring.ply")
    tool = crate.add_file(__file__, "tool.py")
    crate.add_action(tool, f"#run-{job.key}", object=scan)
    made = add_benches(crate, [job], {job.key: {"tags": tags}})
    graph = {e["@id"]: e for e in crate.metadata.generate()["@graph"]}
    return graph, [one.id for one in made], graph[f"#run-{job.key}"]


def test_print_and_scan_are_actions_of_named_instruments():
    graph, made, ingest = crate_of_ring(bench_tags(LAB))
    assert made == ["#print-ring-3", "#scan-ring"]
    printed, scanned = (graph[one] for one in made)
    assert ingest["object"]["@id"] == scanned["result"]["@id"] == "ring.ply"
    scanner = graph[scanned["instrument"]["@id"]]
    assert scanner["@type"] == "IndividualProduct"
    assert scanner["serialNumber"] == "4711"
    assert scanner["manufacturer"] == "M"
    assert printed["@type"] == scanned["@type"] == "Action"  # no software did it
    (certificate,) = (e for e in graph.values() if e.get("identifier") == "C-1")
    assert certificate["@type"] == "CreativeWork"
    assert certificate["about"]["@id"] == scanner["@id"]
    assert certificate["datePublished"] == "2026-01-15"
    assert "0.05 mm over 250 mm" in certificate["description"]
    agent = graph["https://orcid.org/0000-0002-1825-0097"]
    assert agent["@type"] == "Person"
    assert scanned["agent"] == ingest["agent"] == {"@id": agent["@id"]}
    assert printed["result"] == scanned["object"]
    assert graph[printed["instrument"]["@id"]]["serialNumber"] == "A-17"
    assert graph[printed["object"]["@id"]]["productID"] == "B-0815"
    assert printed["endTime"] == "2026-10-02"
    for entity in graph.values():  # every reference leads somewhere
        for value in entity.values():
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict) and not item["@id"].startswith("http"):
                    assert item["@id"] in graph


def test_without_a_bench_nothing_is_added():
    graph, made, ingest = crate_of_ring({"case": "ring"})
    assert made == []
    assert "agent" not in ingest
    assert not any(e["@type"] == "IndividualProduct" for e in graph.values())


def test_what_is_not_stated_is_not_described():
    graph, made, _ = crate_of_ring({"lab.scanner.serial_number": "4711"})
    assert made == ["#scan-ring"]
    scanned = graph[made[0]]
    assert "agent" not in scanned
    assert "manufacturer" not in graph[scanned["instrument"]["@id"]]
    assert graph[scanned["object"]["@id"]]["name"] == "ring"
