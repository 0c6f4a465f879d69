"""What a person reads of a finished run."""

from pipeline.runs.summary import definitions, length_unit, run_title, summary_lines


def test_a_fold_says_how_many_creases_are_off():
    result = {"stop": "all increments done", "fold": "folded"}
    phase = {"_target_": "sim.origami.fold_and_load_phases.Fold", "fraction": 0.5}
    config = {"case": {"phases": [phase]}}
    half = {"result": result, "wall_s": 1.0, "identity": {"config": config}}
    assert "fold: folded at 0.5 of the assigned angles" in summary_lines(half)
    off = {"fold_off": "2 of 4 creases more than 5 degrees from their target"}
    assert "fold: folded" in summary_lines({"result": result, "wall_s": 1.0})
    said = summary_lines({"result": result | off, "wall_s": 1.0})
    assert f"fold: folded, but {off['fold_off']}" in said


def test_the_title_of_a_picture_is_the_name_of_the_file():
    """The identity has the digest of its content instead."""
    paths = ("a/mine.svg", {"sha256": "0"})
    configs = [{"case": {"pattern": {"path": path}}} for path in paths]
    record = {"config": configs[0], "identity": {"config": configs[1]}, "wall_s": 1.0}
    record |= {"result": {"strain_energy": 0.5}, "name": "pattern_file"}
    assert run_title(record) == "mine.svg: strain energy 0.5 J"
    assert run_title(record | {"config": {}}) == "pattern_file: strain energy 0.5 J"


def test_a_fold_leaves_out_what_means_nothing_there():
    result = {"strain_energy": 0.5, "displacement": 0.0, "d0_edge": 1e-3}
    record = {"result": result | {"panel_strain": 0.01}, "wall_s": 1.0}
    assert summary_lines(record)[0] == "strain energy 0.5 J, panel strain 0.01"
    record["result"] |= {"displacement": 0.02}
    said = summary_lines(record)[0]
    assert "displacement of the watched coordinate 20 mm" in said


def test_how_near_a_contact_is_does_not_come_before_what_moved():
    result = {"contact_gap": 4e-8, "out_of_balance": 1e-9, "x_c": 0.5, "y_c": 0.1}
    (said, _) = summary_lines({"result": result, "wall_s": 1.0})
    assert said == "centre of mass at x 500 mm, y 100 mm"


def test_a_target_is_told_as_reached_or_missed_with_its_farthest_node():
    aim = {"target_node": 2, "target_miss": 23.0, "target_allowed": 0.07}
    result = aim | {"E": 0.1, "stop": "gradient", "unit": "cm", "target_nodes": 4}
    said = summary_lines({"result": result | {"target_reached": False}, "wall_s": 1.0})
    assert said[2].endswith("no small admissible motion brings it nearer")
    assert said[0].startswith("target missed: node 2 by 23 cm, the farthest of 4 (")
    assert said[0].endswith("(tolerance 0.07 cm, a thousandth of L)")
    place = result | {"target_reached": False, "target_at": "(1, 2, 0)"}
    said = summary_lines({"result": place, "wall_s": 1.0})
    assert said[0].endswith("a thousandth of L); it ends at (1, 2, 0)")
    one = result | {"target_reached": False, "minimum": "a single start finds"}
    assert "minimum: a single start finds" in summary_lines(
        {"result": one, "wall_s": 1.0}
    )
    near = result | {"target_miss": 1e-7, "target_nodes": 1, "target_reached": True}
    said = summary_lines({"result": near, "wall_s": 1.0})
    assert said[2].endswith("1.0 s")
    assert said[0] == "target reached: node 2 within 1e-07 cm"


def test_of_several_starts_it_is_said_how_many_found_the_lowest_minimum():
    result = {"stop": "gradient", "E": 0.1, "S": 1.0, "steps": 90, "starts": 8}
    record = {"result": result | {"minima": 4, "lowest_found": 2}}
    said = "minima: 4; the lowest found by 2 of 8 starts"
    assert said in summary_lines(record)
    assert not any("minima" in line for line in summary_lines({"result": result}))


def test_numbers_in_si_units_have_them_and_words_are_told_once():
    record = {"result": {"stop": "duration", "energy": 0.5, "x_c": 0.25}, "wall_s": 1.0}
    assert summary_lines(record)[0] == "energy 0.5 J, centre of mass at x 250 mm"
    assert summary_lines(record)[1].endswith(": the requested time is over")
    (said,) = definitions({"result": {"E": 0.1, "S": 1.0}})
    assert said.startswith("E is the rms distance of all nodes from their goals")
    case = {"_target_": "pipeline.cases.equilibrium.EquilibriumCase"}
    of_a_file = record | {"identity": {"config": {"case": case}}}
    assert summary_lines(of_a_file)[0] == "energy 0.5, centre of mass at x 0.25"
    assert [length_unit(r) for r in (record, of_a_file)] == ["m", ""]
    assert length_unit({"result": {"E": 0.1, "unit": "mm"}}) == "mm"


def test_no_number_is_minus_zero():
    numbers = summary_lines({"result": {"x_c": -0.0, "y_c": -2.5}})
    assert "centre of mass at x 0 mm, y -2.5 m" in numbers


def test_what_is_left_from_rounding_is_shown_as_zero():
    """Its digits would differ from processor to processor."""
    rounding = {"strain_energy": 1.17e-21, "panel_strain": -1.3e-12}
    record = {"result": rounding, "wall_s": 1.0}
    assert summary_lines(record)[0] == "strain energy 0 J, panel strain 0"
    record["result"] = {"strain_energy": 1.17e-17, "panel_strain": 1.3e-8, "E": 1e-12}
    assert summary_lines(record)[0] == "E = 1e-12"
    del record["result"]["E"]
    assert summary_lines(record)[0] == "strain energy 1.17e-17 J, panel strain 1.3e-08"
