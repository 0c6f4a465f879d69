"""From a file to the runs behind it, wherever the file was copied to.

Asked one after the other: the sidecar beside it, the run whose folder it is in, the id
in the metadata of a PDF or PNG, and the digests that runs and sidecars recorded.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from pipeline.store.digests import DIGESTS, recorded_digests
from pipeline.store.files import read_json
from pipeline.store.keys import file_digest
from pipeline.store.provenance.sidecar import SUFFIX, Origin, origin_in, read_sidecar
from pipeline.store.runs import run_record
from pipeline.terminal.errors import InputError

KEY = re.compile(r"[0-9a-f]{16}")
KEYWORDS = re.compile(rb"/Keywords\s*\(((?:[^()\\]|\\.)*)\)")


@dataclass(frozen=True)
class Found:
    """The origin of a file, where that was read, and what is wrong with the file.

    Parameters
    ----------
    by : what told the origin
    trouble : "" where the file is as it was written
    """

    origin: Origin
    by: str
    digest: str
    trouble: str = ""


def find_origin(file: Path, results: Path) -> Found:
    """The origin of `file`; refused where nothing leads to a run."""
    digest = file_digest(file)
    sidecar = read_sidecar(file)
    if sidecar is not None:
        same = sidecar.files[file.name] == digest
        trouble = "" if same else "it was edited since it was written"
        return Found(
            sidecar.origin, f"its sidecar {file.stem}{SUFFIX}", digest, trouble
        )
    record = file.resolve().parent / "run.json"
    if record.is_file():
        return _in_a_run(file.resolve(), digest)
    origin = _origin_in_metadata(file)
    if origin.all_keys or origin.study:
        trouble = _edited_copy(digest, results)
        return Found(origin, "the id in its metadata", digest, trouble)
    known = _origin_of_digest(digest, results)
    if known is not None:
        return Found(known, "its SHA-256, which a run recorded", digest)
    raise InputError(
        f"{file} leads to no run: it has no sidecar {file.stem}{SUFFIX}, no id in its "
        "metadata, and no run here wrote this content"
    )


def _in_a_run(file: Path, digest: str) -> Found:
    key = str(run_record(file.parent)["key"])
    recorded = recorded_digests(file.parent).get(file.name)
    trouble = "it was edited since the run wrote it"
    if recorded is None:
        trouble = "the run left no digest of it"
    same = recorded == digest or file.name == DIGESTS
    return Found(Origin(run=key), "the run it is in", digest, "" if same else trouble)


def _origin_in_metadata(file: Path) -> Origin:
    """What `morphtrack figure` left in a PDF or PNG."""
    if file.suffix.lower() == ".pdf":
        return origin_in(_pdf_keywords(file.read_bytes()))
    if file.suffix.lower() == ".png":
        return origin_in(_png_description(file))
    return Origin()


def _pdf_keywords(content: bytes) -> str:
    found = KEYWORDS.search(content)
    if found is None:
        return ""
    return re.sub(rb"\\(.)", rb"\1", found[1]).decode("latin-1")


def _png_description(file: Path) -> str:
    try:
        with Image.open(file) as picture:
            return str(picture.info.get("Description", ""))
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise InputError(f"{file} is no PNG that can be read: {error}") from error


def _edited_copy(digest: str, results: Path) -> str:
    """Whether the runs here wrote a file of this content."""
    if _origin_of_digest(digest, results) is not None:
        return ""
    return "no run here wrote this content: it was edited, or drawn elsewhere"


def _origin_of_digest(digest: str, results: Path) -> Origin | None:
    """The run, or the sidecar, that recorded a file of this content."""
    for path in sorted(results.glob(f"runs/*/{DIGESTS}")):
        if digest in path.read_text(encoding="utf-8", errors="replace"):
            return Origin(run=path.parent.name)
    places = (results, results / "tables", *sorted(results.glob("study/*")))
    for sidecar in [s for place in places for s in sorted(place.glob(f"*{SUFFIX}"))]:
        for name, recorded in read_json(sidecar).get("files", {}).items():
            said = read_sidecar(sidecar.with_name(name))
            if recorded == digest and said is not None:
                return said.origin
    return None


def key_of_address(address: str, results: Path) -> str:
    """The run that an address of the report leads to; "" where it is no address.

    Raises
    ------
    InputError
        where no run of `results` stands at that place
    """
    page, _, place = address.partition("#")
    ending = place.rpartition("-")[2]
    if not place or not (page.endswith(".html") or KEY.fullmatch(ending)):
        return ""
    if (results / "runs" / ending / "run.json").is_file():
        return ending
    raise InputError(
        f"{address} is the place of no run in {results}: give one that ends in the key "
        "of a run, as index.html#run-KEY"
    )
