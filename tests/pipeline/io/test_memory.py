"""The memory that is free is what the machine and the container leave."""

import math

import pytest

from pipeline.io.reader_interface import available_bytes


@pytest.fixture
def system(tmp_path):
    meminfo = "MemTotal: 8000 kB\nMemFree: 100 kB\nMemAvailable:   4000 kB\n"
    (tmp_path / "meminfo").write_text(meminfo)
    return tmp_path


def test_a_container_may_leave_less(system):
    (system / "memory.max").write_text("3000000\n")
    (system / "memory.current").write_text("2500000\n")
    (system / "memory.stat").write_text("anon 5\ninactive_file 400000\nslab 2\n")
    assert available_bytes(system / "meminfo", system) == 900_000
    (system / "memory.max").write_text("max\n")
    assert available_bytes(system / "meminfo", system) == 4_096_000


def test_a_system_that_says_nothing_sets_no_limit(tmp_path):
    assert available_bytes(tmp_path / "none", tmp_path) == math.inf
