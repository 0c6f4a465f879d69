"""The inspection report of one scan: morphtrack inspect INGEST|SCAN... --out DIR.

Writes DIR/inspection.html, to be printed: instrument and certificate, spheres with U
(k = 2), form and radius, lengths between them, the budget by component, pictures, and,
where --tolerances gives limits, what conforms after ISO 14253-1. Of files of points the
spheres are picked first, into DIR. The bench is that of conf/lab.yaml.

Examples:
  morphtrack inspect results/ingest/mine --out inspection
  morphtrack inspect a.ply b.ply --sphere-radius-mm 6 --unit mm --out inspection --pdf
"""

import argparse
import shutil
import subprocess
from collections import Counter
from pathlib import Path

from pipeline.commands.ingest import READ_FILES
from pipeline.pages.inspection import inspection_page
from pipeline.steps import ingest
from pipeline.store.bench import Lab, bench_named
from pipeline.store.bench_tags import bench_in
from pipeline.store.files import read_json, write_text
from pipeline.store.keys import file_digest
from pipeline.store.runs import run_record
from pipeline.terminal.arguments import OneLineParser, output_directory
from pipeline.terminal.errors import FAILED, InputError, command

PAGE = "inspection.html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE_SECONDS = 120

Digests = list[tuple[str, str]]


def arguments() -> OneLineParser:
    parser = OneLineParser("inspect", __doc__)
    add = parser.add_argument
    add(
        "what", nargs="+", type=Path, metavar="INGEST|SCAN",
        help="folder of an ingest, or files of points",
    )  # fmt: skip
    add("--out", type=output_directory, required=True, help="directory for the report")
    add("--sphere-radius-mm", type=float, metavar="R", help="of files: the radius")
    add("--unit", help="of files: mm, cm, m or inch")
    add("--lab", type=Path, metavar="FILE", help="the bench, in place of conf/lab.yaml")
    add(
        "--tolerances", type=Path, metavar="CSV",
        help="limits of lengths: from,to,lower_mm,upper_mm",
    )  # fmt: skip
    add("--pdf", action="store_true", help="print it to PDF too, by Chromium")
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Report one scan."""
    given = arguments().parse_intermixed_args(argv)
    browser = _browser() if given.pdf else ""
    ingested, files = _ingested(given)
    lab = _lab(given.lab, ingested)
    page, decided = inspection_page(ingested, lab, files, given.tolerances)
    given.out.mkdir(parents=True, exist_ok=True)
    write_text(given.out / PAGE, page)
    print(f"{given.out / PAGE}: {len(page) / 1e6:.1f} MB, one file")
    for answer, many in Counter(decided).items():
        print(f"{many} of {len(decided)} toleranced lengths: {answer}")
    return _printed(browser, given.out) if browser else 0


def _ingested(given: argparse.Namespace) -> tuple[Path, Digests]:
    """The folder of an ingest, made where files are named; the scan's files."""
    first = given.what[0]
    if first.is_dir():
        if len(given.what) > 1:
            raise InputError(f"{given.what[1]} is one too many: give one ingest")
        if given.sphere_radius_mm is not None or given.unit is not None:
            raise InputError(
                f"{first} is an ingest, which knows its radius and its unit: leave "
                "--sphere-radius-mm and --unit out, or name files of points"
            )
        return first, _recorded(first)
    if given.sphere_radius_mm is None:
        raise InputError(
            f"{first} is no folder of an ingest: of files of points give "
            "--sphere-radius-mm and --unit too"
        )
    config = ingest.Ingest(given.sphere_radius_mm, given.unit)
    ingest.run_step(config, given.what, given.out)
    return given.out, [(str(path), file_digest(path)) for path in given.what]


def _recorded(directory: Path) -> Digests:
    """The files that an ingest read, by hand or as a run of the plan."""
    if (directory / READ_FILES).is_file():
        return [(name, digest) for name, digest in read_json(directory / READ_FILES)]
    if not (directory / "run.json").is_file():
        return []
    record = run_record(directory)
    return list(zip(record["paths"], record["identity"]["files"], strict=False))


def _lab(path: Path | None, ingested: Path) -> Lab:
    """The bench that is named, that the run recorded, or that of conf."""
    if path is None and (ingested / "run.json").is_file():
        recorded = bench_in(run_record(ingested).get("tags") or {})
        if recorded != Lab():
            return recorded
    return bench_named(path)


def _browser() -> str:
    found = [path for name in BROWSERS if (path := shutil.which(name))]
    if not found:
        raise InputError(
            "--pdf needs Chromium, which is not installed: print the page from a "
            "browser, or install chromium"
        )
    return found[0]


def _printed(browser: str, out: Path) -> int:
    page, pdf = (out / PAGE).resolve(), (out / PAGE).with_suffix(".pdf").resolve()
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    done = subprocess.run(
        [browser, *words, f"--print-to-pdf={pdf}", page.as_uri()],
        capture_output=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    if done.returncode or not pdf.is_file():
        print(f"{browser} printed no PDF: print {out / PAGE} from a browser")
        return FAILED
    print(out / pdf.name)
    return 0
