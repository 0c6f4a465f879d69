"""What the site shows: pictures, navigation, and pages that the code writes."""

import inspect
import json
import re
import sys
from operator import attrgetter
from pathlib import Path

import pytest
import yaml
from PIL import Image

from pipeline.cli.app import COMMANDS
from pipeline.cli.new import schema

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "tools"))

import docstrings  # noqa: E402
import hooks  # noqa: E402

PAGES = sorted(DOCS.rglob("*.md"))
LARGEST, IN_GALLERY = 150_000, 60_000  # bytes of a picture
NOTES = {"name", "description", "source", "evidence", "expected", "tolerance"}
ROWS = {"dist", "dot", "triple", "par", "coin", "fix", "owners", "goals", "growth"}


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def test_the_navigation_has_every_page_once():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    named = re.findall(r"[\w/-]+\.md", text)
    assert sorted(named) == [str(path.relative_to(DOCS)) for path in PAGES]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_pictures_are_there_and_small(path):
    for name in re.findall(r"!\[.+?\]\(([^)]+)\)", path.read_text(encoding="utf-8")):
        picture = path.parent / name
        assert picture.stat().st_size <= LARGEST
        if path.parent.name == "gallery":
            assert picture.stat().st_size <= IN_GALLERY
        if picture.suffix == ".png":
            with Image.open(picture) as image:
                assert image.width >= 80


def test_the_gallery_shows_24_pictures_each_with_its_command():
    page = text_of("gallery/index.md")
    cards = page.split("\n-   ")[1:]
    assert len(cards) >= 24
    assert [card for card in cards if "```console\n    $ " not in card] == []
    shown = re.findall(r"\((pictures/[\w-]+\.png)\)", page)
    assert len(set(shown)) == len(shown) == len(cards)
    there = {f"pictures/{path.name}" for path in (DOCS / "gallery").rglob("*.png")}
    assert there == set(shown)


def test_all_commands_and_their_options_are_on_the_page():
    page = hooks.on_page_markdown(text_of("reference/commands.md"))
    assert re.findall(r"^### morphtrack (\w+)$", page, re.M) == COMMANDS
    assert "| `--sphere-radius-mm` | R |  | Radius of the printed spheres. |" in page
    assert "| `--scan-scale-sd` | float | 0.001 |" in page
    assert "make docs` adds:" not in page


@pytest.mark.parametrize(
    ("kind", "page"), [("mechanism", "mechanism-files"), ("robot", "robot-files")]
)
def test_every_key_of_a_file_is_explained(kind, page):
    keys = set(json.loads(schema(kind))["properties"]) - NOTES - ROWS
    text = text_of(f"reference/{page}.md")
    rows = "".join(re.findall(r"^\| (`[^|]+) \|", text, re.M))
    assert keys - set(re.findall(r"`(\w+)`", rows)) - {"dimension", "masses"} == set()
    assert all(f"`{key}" in text for key in keys)


@pytest.mark.parametrize(
    "page", sorted(DOCS.glob("reference/*.md")), ids=attrgetter("stem")
)
def test_every_heading_has_its_text_and_every_key_its_meaning(page):
    text = hooks.on_page_markdown(page.read_text(encoding="utf-8"))
    assert re.findall(r"^#+ *$", text, re.M) == []
    tables = re.findall(r"^\| (?:key|option) \|.*\n(?:\|.*\n?)+", text, re.M)
    for table in tables:
        head, _, *rows = table.splitlines()
        assert head.endswith("| meaning |"), table
        assert [row for row in rows if row.endswith("|  |")] == []
    assert "Unbuilt" not in text


@pytest.mark.parametrize("name", ["commands", "configuration", "python"])
def test_a_page_that_is_made_says_so_before(name):
    assert re.match(r"# .*\n\nUnbuilt, .*`make docs`", text_of(f"reference/{name}.md"))


def test_the_form_of_a_file_is_that_of_its_schema():
    page = hooks.on_page_markdown("`make docs` adds: schema robot")
    assert "| `material` | [material](#material) | required |" in page
    assert "### material\n" in page
    assert "| `modulus` | number > 0 | required |" in page
    assert "| `unit` | `mm`, `cm`, `m`, `inch` | required |" in page


def test_every_case_and_its_keys_are_on_the_page():
    page = hooks.on_page_markdown(text_of("reference/configuration.md"))
    for path in sorted((ROOT / "conf/case").glob("*.yaml")):
        assert f"| `case={path.stem}` |" in page
    assert re.search(r"\| `residual` \| 1e-10 \| largest violation", page)
    assert re.search(r"\| `drivers` \| \(\) \| .* a smooth cubic spline", page)
    assert "| `scale_mm` | number > 0 | required | mm per unit of the case |" in page
    workflow = yaml.safe_load((ROOT / "conf/tracking.yaml").read_text())
    assert all(f"| `{key}` |" in page for key in workflow)


def test_meanings_are_read_from_a_docstring():
    def example() -> None:
        """What it does.

        Attributes
        ----------
        a, b : two of a kind,
            over two lines
        c : one
        """

    found = hooks._meanings(inspect.getdoc(example) or "")
    both = "two of a kind, over two lines"
    assert found == {"a": both, "b": both, "c": "one"}


def test_python_page_has_all_names():
    import morphtrack

    page = hooks.on_page_markdown(text_of("reference/python.md"))
    for name in morphtrack.__all__:
        assert f"mt.{name}" in page
    assert "::: pipeline.api.runs.simulate\n" in page


def test_meanings_in_docstrings_are_descriptions_for_mkdocstrings():
    text = "Do it.\n\nParameters\n----------\na, b : two\n    lines\n\nNote : kept\n"
    made = "Do it.\n\nParameters\n----------\na, b\n    two\n    lines\n\nNote"
    assert docstrings.described(text).startswith(made)
