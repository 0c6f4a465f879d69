"""Rod cases as the configuration builds them, and as a user runs them."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hydra.errors import InstantiationException
from hydra.utils import instantiate
from mlflow import MlflowClient

from pipeline.cases.own_rod import OwnRodCase
from pipeline.cases.ribbon import RibbonCase
from pipeline.cases.rod_file import RodFileCase
from pipeline.config.building import build as hydra_build
from pipeline.terminal.errors import InputError
from sim.rod.actuation.actuation import LeftOfContact
from sim.rod.contact.coulomb import ContactRule
from sim.rod.rod.ribbon import Ribbon
from sim.rod.stepping.options import Integrator, StepOptions
from tests.helpers.tables import rows_of
from tests.pipeline.conftest import Command, refusal
from tests.pipeline.shipped_cases import NAMES, config_of, first_line
from tests.recorded import recorded, summary

ROOT = Path(__file__).parents[3]
ROD = re.compile(r"pipeline\.cases\.ri|sim\.rod\.")
CASES = [name for name in NAMES if ROD.search(str(config_of(name)))]


GRIPPER = {"path": str(ROOT / "conf/robot/gripper.yaml")}


def build(name: str, **values: Any) -> Any:
    values = (GRIPPER if name == "rod_file" else {}) | values
    return instantiate(config_of(name) | values, _convert_="object")


@pytest.mark.parametrize("name", CASES)
def test_every_rod_case_builds_and_yields_its_first_step(name: str) -> None:
    case = build(name)
    first = next(iter(case.steps()))
    recorder = case.recorder()
    recorder.see(first)
    numbers = recorder.row(first)
    assert next(iter(numbers)) == "step"
    assert np.isfinite(list(numbers.values())).all()
    for array in recorder.arrays(first).values():
        assert np.isfinite(array).all()


def _integrator(name: str) -> Integrator | None:
    """The rule by which a case steps its rod, or the robot or specimen in it."""
    case = build(name)
    for part in ("robot", "specimen"):
        case = getattr(case, part, case)
    return case.options.integrator if hasattr(case, "options") else None


@pytest.mark.parametrize("name", CASES)
def test_rods_of_ones_own_keep_energy_and_those_of_the_paper_its_rule(
    name: str,
) -> None:
    own = name in ("own_rod", "rod_file")
    rule = Integrator.ENERGY_MOMENTUM if own else Integrator.NEWMARK
    assert _integrator(name) in (rule, None)


def test_a_rod_of_ones_own_keeps_energy_without_being_told_to() -> None:
    nodes = [[0.0, 0.1], [0.01, 0.1], [0.02, 0.1]]
    for case in (OwnRodCase(nodes), RodFileCase(GRIPPER["path"]), build("own_rod")):
        assert case.options.integrator is Integrator.ENERGY_MOMENTUM
    assert _integrator("rod_file") is Integrator.ENERGY_MOMENTUM


@pytest.mark.parametrize("name", CASES)
def test_first_line_of_every_rod_case_names_its_paper(name: str) -> None:
    assert first_line(name).startswith("# ")
    assert "[Hu20]" in first_line(name)


def test_a_run_of_the_star_keeps_shapes_and_what_draws_them() -> None:
    steps, recorder = recorded(build("star_robot", duration=0.1, every=20))
    assert [step.step for step in steps] == [0, 20, 40]
    assert recorder.arrays(steps[0])["x"].shape == (84, 2)
    fixed = recorder.fixed_arrays()
    assert fixed["edges"].shape == (84 + 7 - 7, 2)
    assert fixed["ground"].shape[1] == 2
    assert recorder.summary()["nodes"] == 84


def test_a_run_tells_the_largest_residual_of_all_its_steps() -> None:
    """By the paper's rules, whose worst steps lie while the robot moves."""
    rules = StepOptions(contact=ContactRule.MODIFIED_MASS)
    steps, recorder = recorded(build("star_robot", duration=1.0, options=rules))
    worst = max(step.complementarity for step in steps)
    assert worst > 1e3 * steps[-1].complementarity
    assert recorder.summary()["complementarity"] == worst


@pytest.mark.parametrize(
    "options",
    [
        StepOptions(h=1.25e-3),
        StepOptions(landing=0.01, contact_gap=0.02),
        StepOptions(h=1.25e-3, landing=0.01, contact_gap=0.02),
    ],
)
def test_sag_and_way_of_the_star_are_near_their_limits_at_84_nodes(
    options: StepOptions,
) -> None:
    """Half an edge at a joint by the trapezoidal rule would sag 1.9 % too far.

    At h = 2.5 ms cuts down to gaps of 1e-4 let ways vary by 0.02 % with the nodes.
    """
    more = {"duration": 3.0, "every": 10**6, "options": options}
    sag, way = [], []
    for refinement in (1, 2, 4):
        case = build("star_robot", refinement=refinement, **more)
        sunk = (case.unsettled.rod.nodes - case.world.rod.nodes)[:, 1]
        sag.append(float(np.average(sunk, weights=case.world.rod.mass)))
        way.append(float(summary(case)["way_over_H"]))
    for coarse, middle, fine in (sag, way):
        limit = fine + (fine - middle) / 3.0
        assert coarse == pytest.approx(limit, rel=0.005)
        assert abs(fine - middle) < 1e-3 * limit
    assert abs(way[1] - way[2]) < 0.3 * abs(way[0] - way[1])


@pytest.mark.parametrize("name", ["star_robot_crest", "star_robot_up_6", "jumper"])
def test_a_robot_starts_at_rest_on_its_ground(name: str) -> None:
    later: dict[str, Any] = {"first_pulse": 1.0}
    if name != "jumper":
        later = {"schedule": LeftOfContact(1.0, 3.0)}
    case = build(name, duration=0.02, every=1, **later)
    first, *_, last = case.steps()
    assert np.abs(last.x - first.x).max() < 5e-4
    assert last.contact.any()


def test_a_heavy_ring_reports_its_height_and_contact(
    command: Command, project: Path
) -> None:
    done = command(
        "simulate",
        "case=heavy_ring",
        "case.gamma=0.8",
        "hydra.run.dir=here",
    )
    assert done.returncode == 0, done.stderr
    result = json.loads((project / "here/run.json").read_text())["result"]
    assert result["height_over_R"] == pytest.approx(1.043664, rel=1e-3)
    assert result["contact_fraction"] == pytest.approx(0.198195, abs=1e-3)
    assert np.load(project / "here/steps.npz")["x"].shape == (1, 480, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("case.material.modulus=-1", "modulus must be positive, not -1"),
        ("case.material.density=0", "density must be positive, not 0"),
        ("case.options.h=0", "h must be positive, not 0"),
        ("case.options.contact=glue", "contact rule is 'glue': choose one of exact"),
        ("case.shape.arc_edges=1", "1 arc edges and 3 tail edges"),
        ("case.friction=-1", "friction must be 0 or more, not -1"),
        ("case.first=abc", "first must be a finite number, not abc"),
        ("case.refinement=1.5", "refinement must be a whole number from 1 up, not 1.5"),
        ("case.ground.angle=abc", "angle must be a finite number, not abc"),
    ],
)
def test_a_bad_robot_is_refused_before_its_first_step(
    change: str, message: str
) -> None:
    keys, _, text = change.partition("=")
    values = config_of("star_robot")
    node = values
    *path, last = keys.split(".")[1:]
    for key in path:
        node = node[key]
    node[last] = yaml.safe_load(text)
    with pytest.raises(InstantiationException, match=message):
        instantiate(values, _convert_="object")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "case.edges=[[0,1],[1,2],[3,4],[4,5],[5,6]]",
            "chain is broken, node 3 is not",
        ),
        (
            "case.nodes=[[0,1],[0,1],[1,1]]",
            "edge 0 between nodes 0 and 1 has length 0 m",
        ),
        (
            "case.nodes=[[0,0],[0.01,-0.001],[0.02,0]]",
            "node 1 at (0.01, -0.001) m starts",
        ),
        ("case.nodes=[[0,0,0]]", "nodes must be a list of 2 numbers each"),
        ("case.edges=[[0,9]]", "edges[0] is [0, 9]: name nodes from 0 to 6"),
        ("case.bends=[[0,1,5]]", "bend 0 at nodes 0, 1, 5 does not follow two edges"),
        ("case.limbs=[0]", "give one for each of the 6 edges"),
        ("case.held=[7]", "there is no node 7: choose 0 to 6"),
        ("case.joints=[7]", "joints: there is no node 7: choose 0 to 6"),
        ("case.joints=[0]", "joints: node 0 has 1 edges: choose one of two or more"),
        ("case.schedule.limbs=[2]", "there is no limb 2"),
        ("case.options.h=abc", "h must be positive, not abc"),
        (
            "case.options.max_newton=0",
            "max_newton must be a whole number",
        ),
        ("case.duration=.inf", "duration inf s"),
        ("case.every=2.5", "every 2.5 steps"),
    ],
)
def test_a_bad_rod_of_ones_own_is_refused_in_one_line(
    change: str, message: str
) -> None:
    values = config_of("own_rod")
    keys, _, text = change.partition("=")
    *path, last = keys.split(".")[1:]
    node = values
    for key in path:
        node = node[key]
    node[last] = yaml.safe_load(text)
    values["limbs"] = values["limbs"] if len(values["nodes"]) == 7 else None
    if change.startswith("case.edges"):
        values["limbs"] = None
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        hydra_build(values, "case")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "heavy_ring",
            {"nodes": 120.5},
            "nodes must be a whole number",
        ),
        ("heavy_ring", {"tolerance": 0}, "tolerance must be positive, not 0"),
        ("cantilever", {"length": 0}, "length must be positive, not 0"),
        ("ribbon_incline", {"ratio": "abc"}, "ratio must be 0 or more, not abc"),
        ("jumper", {"force": 3}, "force is 3: give two finite numbers"),
        ("jumper", {"first_pulse": -1}, "pulse 0 is at -1 s: times start at 0"),
        ("jumper", {"nodes": 7.5}, "nodes must be a whole number from 1 up, not 7.5"),
        ("actuator_law", {"count": 1}, "count is 1: give 2 or more"),
        ("own_rod", {"held": [1.5]}, "there is no node 1.5: choose 0 to 6"),
    ],
)
def test_a_bad_number_of_any_rod_case_is_refused_before_its_run(
    name: str, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        hydra_build(config_of(name) | change, "case")
    assert "\n" not in str(refused.value)


def test_a_broken_chain_ends_with_status_2(command: Command, project: Path) -> None:
    done = command(
        "simulate",
        "case=own_rod",
        "case.edges=[[0,1],[2,3]]",
        "case.limbs=null",
    )
    assert "case: rod: the chain is broken, node 2 is not connected" in refusal(done)
    assert not list(project.glob("results/*"))


def test_a_rod_of_ones_own_is_the_same_rod() -> None:
    """The star, named node by node, moves as the star does.

    Its bends have the stiffness of their printed law, the star's that of small turns.
    """
    star = build("star_robot", duration=0.3)
    rod = star.world.rod
    plain = len(rod.bends) - len(rod.joints.fold)
    own = OwnRodCase(
        nodes=rod.nodes.tolist(),
        edges=rod.edges.tolist(),
        bends=rod.bends[:plain].tolist(),
        joints=np.unique(rod.bends[plain:, 1]).tolist(),
        limbs=rod.edge_limb.tolist(),
        ground=star.ground,
        schedule=star.schedule,
        duration=0.3,
    )
    assert np.array_equal(own.world.rod.bend_limb, rod.bend_limb)
    assert own.world.rod.joints.half == pytest.approx(rod.joints.half, rel=0.02)
    assert own.world.rod.mass == pytest.approx(rod.mass, rel=1e-3)
    *_, last = own.steps()
    assert last.x[:, 0].mean() > rod.nodes[:, 0].mean() + 5e-3  # it rolls


def test_a_table_of_pulses_out_of_order_ends_with_status_2(command: Command) -> None:
    done = command(
        "simulate",
        "case=star_robot",
        "case.schedule._target_=sim.rod.actuation.actuation.Pulses",
        "~case.schedule.first",
        "~case.schedule.period",
        "+case.schedule.times=[1.0,0.5]",
        "+case.schedule.limbs=[3,4]",
    )
    assert "pulse 1 at 0.5 s comes before pulse 0 at 1 s" in refusal(done)


@pytest.mark.slow
def test_a_step_that_cannot_be_made_ends_with_status_1_and_keeps_the_steps(
    command: Command, project: Path
) -> None:
    """A pull of 10^9 N begins after 50 ms."""
    done = command(
        "simulate",
        "case=jumper",
        "case.every=1",
        "case.duration=0.2",
        "case.first_pulse=0.05",
        "case.force=[1e9,1e9]",
        "case.options.max_newton=4",
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    (failed,) = (project / "results" / "failed").iterdir()
    rows = rows_of(failed / "steps.csv")
    assert float(rows[-1]["time"]) >= 0.05
    assert len(rows) >= 20
    with np.load(failed / "steps.npz") as arrays:
        assert len(arrays["x"]) == len(rows)
        assert np.isfinite(arrays["x"]).all()
    assert command("track").returncode == 0
    client = MlflowClient(f"sqlite:///{project}/results/mlflow/mlflow.db")
    experiment = client.get_experiment_by_name("morphtrack")
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    assert run.info.status == "FAILED"
    times = client.get_metric_history(run.info.run_id, "time")
    assert [m.value for m in times] == [float(row["time"]) for row in rows]


@pytest.mark.slow
def test_a_ribbon_rolls_as_far_on_the_arcs_of_50_nodes_as_of_100() -> None:
    """On its nodes it comes 9 and 5 % less far."""

    def way(n: int, arcs: bool) -> float:
        options = StepOptions(h=5e-4)
        ribbon = RibbonCase(Ribbon(2.0, n), arcs=arcs, duration=2.0, options=options)
        ends = summary(ribbon)
        assert (ends["polygon_loss"] == 0.0) == arcs
        return float(ends["travelled"])

    assert way(50, arcs=True) == pytest.approx(way(100, arcs=True), rel=2e-3)
    assert way(50, arcs=False) < 0.95 * way(50, arcs=True)


def test_code_of_the_page_on_controllers_does_what_it_says() -> None:
    page = (ROOT / "docs/control.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(block, names)
    way = names["centroid"](names["seen"].x, names["mass"])[0]
    assert way == max(names["ends"].values())
    start = names["centroid"](names["world"].world.rod.nodes, names["mass"])[0]
    assert way - start > 0.2 * names["robot"].height
