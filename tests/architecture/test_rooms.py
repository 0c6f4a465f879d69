"""Imports run one way, and each name stands for one thing."""

from pathlib import Path

import pytest

from tests.architecture import rooms
from tests.architecture.drawing import draw, said, said_in, storeys

PICTURE = rooms.ROOT / "docs" / "architecture.svg"
REMEDY = "python -m tests.architecture.rooms --draw docs/architecture.svg"


def test_no_two_rooms_of_the_solver_of_morphs_import_each_other() -> None:
    found = rooms.arrows("sim/morph")
    assert len(found) <= 20
    assert not [(a, b) for a, b in found if (b, a) in found]


def test_rooms_of_the_pipeline_stay_few_pairs_and_none_both_ways() -> None:
    found = rooms.arrows("pipeline")
    assert len(found) <= 60
    assert not [(a, b) for a, b in found if (b, a) in found]


def test_a_class_has_a_name_of_its_own() -> None:
    assert rooms.classes_of_one_name() == {}


def test_imports_are_absolute() -> None:
    assert rooms.relative_imports() == []


def test_rooms_stand_above_what_they_import() -> None:
    found = {("roof", "wall"), ("wall", "ground"), ("roof", "ground")}
    assert storeys(found) == ["ground", "wall", "roof"]


def test_the_picture_of_the_rooms_shows_the_imports_of_today() -> None:
    assert said_in(PICTURE) == said(), f"draw it again: {REMEDY}"
    assert PICTURE.stat().st_size < 300_000


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of three rooms, of which one is named by a string."""
    for room in ("above", "below", "named"):
        (tmp_path / "pipeline" / room).mkdir(parents=True)
        (tmp_path / "pipeline" / room / "__init__.py").write_text("")
    (tmp_path / "pipeline" / "above" / "a.py").write_text(
        '"""Said."""\n\nfrom pipeline.below import b\n\nNAME = "pipeline.named.c"\n'
        "\n\nclass Same:\n    # why\n    x = 1\n"
    )
    (tmp_path / "pipeline" / "below" / "b.py").write_text("class Same:\n    x = 2\n")
    monkeypatch.setattr(rooms, "ROOT", tmp_path)
    monkeypatch.setattr(rooms, "PACKAGES", ("pipeline",))
    return tmp_path


def test_a_module_named_by_a_string_counts_as_imported(house: Path) -> None:
    assert house.is_dir()
    assert rooms.arrows("pipeline") == {("above", "below"), ("above", "named")}


def test_a_picture_says_the_arrows_that_it_was_drawn_with(
    house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.architecture.drawing.FOLDERS", ("pipeline",) * 4)
    draw(tmp_path / "rooms.svg")
    words = said_in(tmp_path / "rooms.svg")
    assert words == " ".join(["pipeline/above imports below, named."] * 4)
    (house / "pipeline" / "above" / "a.py").write_text("from pipeline.below import b")
    rooms.nodes.cache_clear()
    rooms.tree.cache_clear()
    assert said() == words.replace(", named", "")


def test_a_picture_is_the_same_file_in_whatever_order_imports_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [("above", "below"), ("above", "named"), ("named", "below")]
    for name, order in {"one.svg": found, "two.svg": found[::-1]}.items():
        monkeypatch.setattr("tests.architecture.drawing.arrows", lambda _, o=order: o)
        draw(tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_names_of_classes_are_counted_over_files(house: Path) -> None:
    held = rooms.classes_of_one_name()
    assert held == {"Same": ["pipeline/above/a.py", "pipeline/below/b.py"]}
    assert len(rooms.code_lines(house / "pipeline" / "above" / "a.py")) == 4


def test_a_function_fits_on_a_screen() -> None:
    long = {place: n for place, n in rooms.function_sizes().items() if n > 45}
    assert long == {}
