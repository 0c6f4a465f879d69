"""Values that make no sense are refused in one line before a case's first step."""

from typing import Any

import pytest

from pipeline.terminal import InputError
from tests.helpers.cases import composed

REFUSED = {
    "actuator_law": [("count=1", "count must be a whole number from 2 up, not 1")],
    "box": [
        ("material.panel_modulus=-1", "panel_modulus must be positive"),
        ("material.panel_thickness=0", "panel_thickness must be positive"),
        ("material.elastic_limit=-1", "elastic_limit must be positive"),
        ("supports=[[7,1,2,1]]", "support of node 7 has 2 for y: give 1"),
        ("supports=[[77,1,1,1]]", "support names node 77"),
        ("supports=held", "supports is 'held': give rows of node, x, y, z, or"),
        ("phases=[]", "the case has no phases: fold or load the sheet"),
        ("strain_limit=-1", "strain_limit must be 0 or more, not -1"),
        ("fold_tolerance=0", "fold_tolerance must be positive, not 0"),
        ("eigenvalues=-2", "eigenvalues must be a whole number from 0 up"),
    ],
    "cantilever": [("length=0", "length must be positive, not 0")],
    "design_sheet": [
        ("targets=[]", "targets is empty"),
        ("limit=1.5", "limit must be below 1, not 1.5"),
        ("symmetries=[x]", "no symmetry x"),
        ("symmetries=xy", "symmetries is 'xy': give a list"),
        ("mean_exponent=0.5", "mean_exponent must be 1 or more, not 0.5"),
        ("morph_tolerance=0", "tolerance must be positive"),
        ("places=[3]", "set symmetries to"),
        ("symmetries=[] places=[3,3]", "each once"),
        ("symmetries=[] places=null", "case.places is null: give a value"),
        *(
            (f"symmetries=[] places={slip}", ": list nodes from 0 to ")
            for slip in ("[0,999]", "[1.5]", "[true]", "[a]", "'9,19'", 9, 0)
        ),
    ],
    "folding_sequence": [
        ("sequence=1-2-2", "one value per crease: 4, not 3"),
        (
            "phases=[{_target_:sim.origami.fold_and_load_phases.Load,nodes:[9],force:[0,0,1]}]",
            "sequence needs a Fold as the first phase",
        ),
    ],
    "greenhill_shaft": [
        ("edges=4", "edges must be a whole number from 8 up"),
        ("length=-1", "length must be positive"),
    ],
    "heavy_ring": [
        ("nodes=120.5", "nodes must be a whole number"),
        ("tolerance=0", "tolerance must be positive, not 0"),
    ],
    "helix": [("times=0", "times must be positive")],
    "jumper": [
        ("nodes=7.5", "nodes must be a whole number from 1 up, not 7.5"),
    ],
    "miura": [
        ("material.panel_thickness=0.1", "panels are 0.1 m thick and"),
        ("phases.0.tolerance=10", "phases[0].tolerance is 10 N, but cr"),
        ("phases.0.fraction=2", "fraction must lie between 0 and 1"),
        ("phases.0.fraction=-0.5", "to fold the other way, swap M and V"),
        ("contact.thickness=-1", "case.contact: thickness must be 0"),
        ("contact.d0_edge=-1", "case.contact: d0_edge must be pos"),
        ("contact.thickness=0.5", "thickness of contact is 0.5 m, but"),
        ("contact.d0_centre=0.4", "d0_centre of contact is 0.4 m, but"),
    ],
    "miura_modes": [("probes.0.nodes=[999]", "probe names node 999")],
    "miura_plate": [
        ("periods=[[0,2]]", "two periods are needed, not 1"),
        ("periods=[[0,2],[0,99]]", "numbered 0 to 24"),
        ("periods=[[0,2],[0,4]]", "are parallel"),
    ],
    "own_rod": [
        ("limbs=null nodes=[[0,0],[0.01,-0.001],[0.02,0]]", "at (0.01, -0.001) m st"),
        ("limbs=null nodes=[[0,0,0]]", "nodes must be a list of rows of 2 numbers"),
        ("limbs=null edges=[[0,9]]", "edges[0] is [0, 9]: name nodes from 0 to 6"),
        ("bends=[[0,1,5]]", "bend 0 at nodes 0, 1, 5 does not follow two edges"),
        ("limbs=[0]", "give one for each of the 6 edges"),
        ("held=[7]", "node 7 does not exist: choose 0 to 6"),
        ("held=[1.5]", "node 1.5 does not exist: choose 0 to 6"),
        ("joints=[0]", "joints: node 0 has under 2 edges (1): choose another"),
        ("schedule.limbs=[2]", "limb 2 does not exist"),
        ("options.max_newton=0", "max_newton must be a whole number"),
        ("duration=inf", "duration must be positive, not inf"),
        ("every=2.5", "every must be a whole number from 1 up, not 2.5"),
        ("dimension=4", "dimension is 4: choose 2 or 3"),
    ],
    "ribbon_incline": [
        ("ratio=abc", "ratio must be 0 or more, not the text 'abc'"),
        ("angle=80", "ribbon: angle must be below 80 degrees, not 80"),
    ],
    "single_fold": [("phases.1.elastic=[[1,0,0,-3]]", "node 1 is negative")],
    "star_robot": [
        ("shape.arc_edges=1", "arc_edges must be 2 or more, not 1"),
        ("first=abc", "first must be a finite number, not the text 'abc'"),
        ("refinement=1.5", "refinement must be a whole number from 1 up, not 1.5"),
        ("ground.angle=abc", "angle must be a finite number, not the text 'abc'"),
    ],
    "star_space": [("push=nan", "push must be a finite number")],
    "tendon_arm": [
        ("tensions=[1]", "2 angles for 1 tensions"),
        ("offset=[[0,0.02],[0.3,0]]", "route it inside"),
        ("tied=0.5", "tie them more than half an edge"),
        ("law=foam", "choose one of hooke, rubber"),
        ("profile=[[0.1,0.01],[0,0.01]]", "arc lengths must increase"),
    ],
    "triangles_circle": [
        ("followers=hod", "followers is 'hod': choose one of hold, home"),
        ("tolerance=inf", "tolerance must be positive, not inf"),
        ("residual=small", "residual must be positive, not the text 'small'"),
        ("max_steps=0", "max_steps must be a whole number from 1 up, not 0"),
        ("target=null", "no target and its structure has no goals"),
        ("ball_radius=0.1", "triangles and ranges need `method: newton`"),
        ("ball_radius=-0.1", "ball_radius must be 0 or more, not -0.1"),
        ("starts=3", "starts is 3: several starts need `method: newton`"),
        ("starts=0", "starts must be a whole number from 1 up, not 0"),
        ("hops=-1", "hops must be a whole number from 0 up, not -1"),
        ("seed=-1", "seed must be a whole number from 0 up, not -1"),
        ("perturb={seed:1,turn:-1,shift:0}", "turn of the pose is -1: give 0 or more"),
        ("perturb={seed:1.5,turn:0,shift:0}", "seed of the pose is 1.5: give a whole"),
    ],
}


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [(name, *row) for name, rows in REFUSED.items() for row in rows],
)
def test_a_value_that_makes_no_sense_is_refused(name, change, said):
    kind: Any = object
    with pytest.raises(InputError, match=r"^[^\n]*$") as refused:
        composed(kind, name, *(f"++case.{word}" for word in change.split()))
    assert said in str(refused.value)
