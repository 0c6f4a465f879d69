"""A commented file to start from: morphtrack new KIND NAME.

KIND is mechanism, pattern, robot, comparison or study.

It writes NAME.yaml for a mechanism or a robot, NAME.svg for a crease pattern,
NAME.comparison.yaml for a comparison, conf/study/NAME.yaml for a study, and says what
to type next. What is written runs as it is; change one thing at a time. A file that is
there is never overwritten. A mechanism may begin as one of a URDF or DXF file, of which
every node, body and joint is then written out.

Examples:
  morphtrack new mechanism gripper
  morphtrack new mechanism arm --from arm.urdf
"""

import json
import re
from pathlib import Path

from pipeline.config.listed import CONF
from pipeline.config.project import ROOT
from pipeline.formats.structure_file import structure_content, structure_file
from pipeline.store.files import write_text
from pipeline.terminal.arguments import OneLineParser
from pipeline.terminal.errors import DONE, InputError, command

TOP = "in the repository's top folder"
MECHANISM = """\
# yaml-language-server: $schema=structure.schema.json
# A mechanism of your own. Nodes, bodies and joints are counted from 0. Editors complete
# this file after `morphtrack schema structure > structure.schema.json`.
unit: mm # of all lengths here: mm, cm, m or inch
nodes: # x, y, z as the mechanism stands before it moves
  - [0, 0, 0] # 0, held below
  - [0, 40, 0] # 1
  - [60, 60, 0] # 2
  - [80, 0, 0] # 3, held below
  - [80, 40, 0] # 4
links: # pairs of nodes that keep their distance: as it is, or [a, b, length]
  - [0, 1]
  - [1, 2]
bodies: # nodes that move as one; a body of nodes in one plane, or in line, is right too
  - [2, 3, 4]
# joints between bodies, see docs/gallery.md; a node in two bodies is a joint already:
# joints:
#   - hinge: {bodies: [0, 1], axis: [2, 3]}
#   - line_point: {line: [0, 3], point: 2}
planar: z # every node keeps its z; leave it out for a mechanism in space
fixed: [0, 3] # nodes that stay; [3, xy] holds x and y only
# ranges: {angle: [[0, 1, 1, 2, 20, 160]]} # degrees between two links
# masses: [{nodes: [2, 3, 4], mass: 1}] # kg, what case=mechanism_motion asks for
target: # where nodes are to go, or a shape: {sphere: {radius: 50, centre: [0, 0, 0]}}
  nodes: [[2, 70, 60, 0]]
"""
PATTERN = """\
<!-- A crease pattern of your own: open it in any drawing program, or write lines here.
     Colours: red mountain, blue valley, black rim, green cut, yellow a line that only
     divides a panel. An opacity of 0.5 folds by half of 180 degrees. The
     sheet is 0.1 m at its longest side unless case.pattern.scale says m per unit. -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -10 220 220" fill="none">
  <rect stroke="black" width="200" height="200"/>
  <!-- a waterbomb base: diagonals are valleys, the middle line is a mountain -->
  <line stroke="blue" x1="0" y1="0" x2="200" y2="200"/>
  <line stroke="blue" x1="0" y1="200" x2="200" y2="0"/>
  <line stroke="red" x1="0" y1="100" x2="200" y2="100"/>
</svg>
"""
ROBOT = """\
# yaml-language-server: $schema=robot.schema.json
# A rod robot of your own: an arch on the ground whose limb is switched on once. Editors
# complete this file after `morphtrack schema robot > robot.schema.json`. It is drawn as
# it is at rest; rods with a point in common are joined rigidly there.
unit: mm # of all lengths here: mm, cm, m or inch
section: {rectangular: {thickness: 2, width: 18}} # or {round: {diameter: 3, bore: 1}}
material: {modulus: 3.0e6, density: 1912} # Pa, kg/m^3
spacing: 2 # between nodes; half of it leaves a quarter of the error
rods: # a line, an arc or a smooth curve each, with a section of its own if need be
  - arc: {centre: [25, 0], radius: 20, start: 180, end: 0} # degrees; the upper half
    limb: 0 # what one wire drives; leave it out for a passive rod
  - line: [[0, 0], [5, 0]]
  - line: [[45, 0], [50, 0]]
# hinges: [[5, 0]] # where rods turn freely
# pins: [[0, 0]] # held in place
# clamps: [{at: [0, 0], stiffness: 0.1}] # an end held in direction too; N m/rad
# masses: [{at: [25, 20], mass: 0.002}] # kg
# load: {at: [[25, 20]], force: [0, -0.05], start: 0, duration: 1} # N, s
markers: {top: [25, 20]} # points whose way is recorded: top_x_mm, top_y_mm
ground: {height: -1, angle: 0} # a plane; leave it out for none
pulses: [{limb: 0, time: 0.1}] # when a limb is switched on, s
duration: 0.4 # s
"""
COMPARISON = """\
# A comparison of your own: put this under `comparisons:` in conf/workflow.yaml, then
# run `snakemake --cores 2 results/made/compare/{name}` and `morphtrack report`.
{name}:
  case: triangles_cylinder # of conf/case; for a file of your own these two lines:
  # case: structure_file
  # overrides: [case.path=FILE.yaml]
  scan: [scans/front.ply, scans/back.ply] # each file is a view of the same print
  unit: mm # of the numbers in these files: mm, cm, m or inch
  sphere_radius_mm: 6 # of the printed balls
  scale_mm: 40 # mm of the print per unit of the case; 1 for a file in mm
  settings:
    S_margin: 0.02 # largest acceptable error of the shape factor
    node_margin_mm: 3.0 # and of the nodes, root mean square
    E_margin: 0.02
    # printing_sd_mm: 0.03 # error of a node's place on its bodies, along each axis
    # joint_play_sd_mm: 0.1 # of a node where rigid bodies leave it free
    # print_scale_sd: 0.001 # of the printer's scale; these are what else is assumed
"""
STUDY = """\
# A study of your own: one case, values of its keys, a run for each combination.
# `morphtrack study {name}` says what would run, `make study NAME={name}` runs it.
case: triangles_cylinder # of conf/case
design: grid # every combination; see docs/studies.md for others
vary:
  case.target.radius: [1.8, 2.0, 2.4] # or {{low: 1, high: 3, count: 5}}
response: [E, S, steps] # columns of the table that comes out
"""
KINDS = {
    "mechanism": (
        "{name}.yaml",
        MECHANISM,
        "morphtrack mobility case=structure_file case.path={path}\n"
        "morphtrack simulate case=structure_file case.path={path}",
    ),
    "pattern": (
        "{name}.svg",
        PATTERN,
        "morphtrack simulate case=fold_file case.path={path}",
    ),
    "robot": (
        "{name}.yaml",
        ROBOT,
        "morphtrack simulate case=rod_file case.path={path}",
    ),
    "comparison": (
        "{name}.comparison.yaml",
        COMPARISON,
        "put it into conf/workflow.yaml, then:\n"
        "snakemake --cores 2 results/made/compare/{name}\nmorphtrack report",
    ),
    "study": ("conf/study/{name}.yaml", STUDY, "make study NAME={name}"),
}


def written_out(path: str) -> str:
    """A structure file of what another says, its entries numbered."""
    structure_file(path)  # refused now rather than when it is run
    lines = [MECHANISM.partition("\n")[0], f"# From {Path(path).name}."]
    for key, value in structure_content(path).items():
        if isinstance(value, list):
            lines.append(f"{key}:" if value else f"{key}: []")
            lines += [f"  - {json.dumps(one)} # {i}" for i, one in enumerate(value)]
        else:
            lines.append(f"{key}: {json.dumps(value)}")
    lines.append("# target: {nodes: [[0, 0.0, 0.0, 0.0]]} # where a node is to go")
    return "\n".join(lines) + "\n"


def written(kind: str, name: str, begun: str | None = None) -> tuple[Path, str]:
    """The file, and what to type next.

    Parameters
    ----------
    begun : the file that a mechanism is to be taken from

    Raises
    ------
    InputError
        where the name is no name, or the file is there
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise InputError(f"{name!r} is no name: give letters, digits and _")
    place, text, then = KINDS[kind]
    path = Path(place.format(name=name))
    if path.exists():
        raise InputError(f"{path} is there: give another name, or move it away")
    if kind == "study" and not CONF.is_dir():
        raise InputError(f"no folder conf in {Path.cwd()}: {TOP}, type the same")
    whole = text.format(name=name) if kind in ("comparison", "study") else text
    if begun is not None:
        if kind != "mechanism":
            raise InputError(f"--from begins a mechanism, not a {kind}: leave it out")
        whole = written_out(begun)
    then = then.format(name=name, path=path if CONF.is_dir() else _from_top(path))
    write_text(path, whole)
    return path, then


def _from_top(path: Path) -> Path:
    """The path as it is typed in the repository's top folder."""
    whole = path.absolute()
    return whole.relative_to(ROOT) if whole.is_relative_to(ROOT) else whole


def arguments() -> OneLineParser:
    parser = OneLineParser("new", __doc__)
    parser.add_argument("kind", choices=KINDS, help="what the file is to describe")
    parser.add_argument("name", help="of the file, in letters, digits and _")
    parser.add_argument(
        "--from", dest="begun", metavar="FILE",
        help="a mechanism in URDF or DXF to begin with",
    )  # fmt: skip
    return parser


@command
def main(argv: list[str] | None = None) -> int:
    """Write one file."""
    given = arguments().parse_args(argv)
    path, then = written(given.kind, given.name, given.begun)
    where = "next" if CONF.is_dir() else f"next, {TOP}"
    print(f"wrote {path}; {where}:\n{then}")
    return DONE
