"""Good files of every kind that is read, to be damaged."""

import io
import json
import tempfile
from pathlib import Path

import numpy as np

from pipeline.runs.run_attempts import run_once
from pipeline.runs.run_directory import Job
from pipeline.runs.run_keys import identity
from tests.pipeline.io.test_dxf_file import dxf, line, point, polygon
from tests.pipeline.io.test_urdf_file import joint, robot

FOLD = json.dumps(
    {
        "file_spec": 1.1,
        "frame_unit": "mm",
        "vertices_coords": [[0, 0], [1, 0], [1, 1], [0, 1]],
        "edges_vertices": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]],
        "edges_assignment": ["B", "B", "B", "B", "M"],
        "edges_foldAngle": [0, 0, 0, 0, -180],
        "faces_vertices": [[0, 1, 2], [0, 2, 3]],
    },
    indent=1,
).encode()
CP = b"1 0 0 1 0\n1 1 0 1 1\n1 1 1 0 1\n1 0 1 0 0\n2 0 0 1 1\n"
SVG = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="10mm" viewBox="0 0 10 10">'
    b'<path d="M0 0 L10 0 L10 10 L0 10 Z" stroke="#000"/>'
    b'<line x1="0" y1="0" x2="10" y2="10" stroke="red"/></svg>'
)
MARKERS = b"time_s,a_x_mm,a_y_mm,a_z_mm\n0,0,0,0\n0.1,1,0,0\n0.2,2,0,0\n"
MOTIVE = (
    b"Format Version,1.23,Export Frame Rate,10,Length Units,Meters\n\n"
    b",Type,Marker,Marker,Marker\n,Name,a,a,a\n,ID,1,1,1\n"
    b",,Position,Position,Position\nFrame,Time (Seconds),X,Y,Z\n"
    b"0,0,0,0,0\n1,0.1,1,0,0\n2,0.2,2,0,0\n"
)
DXF = dxf(
    polygon([(0, 0), (1, 0), (1, 1), (0, 1)]), line((0, 0), (1, 1), "M", 1), unit=4
).encode()
LINKS = dxf(line((0, 0), (1, 0)), line((1, 0), (1, 1)), point(1, 0), unit=4).encode()
URDF = robot(
    "bah",
    joint("shoulder", "revolute", "b", "a"),
    joint("wrist", "prismatic", "a", "h", rpy="0.1 0 0"),
).encode()
STL = b"solid\nfacet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendsolid\n"
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def run_json() -> bytes:
    """The record of a finished run."""
    config = {"case": {"_target_": "pipeline.cases.morph.MorphCase", "max_steps": 9}}
    job = Job("simulate", "toy", identity("simulate", config), config)
    result = {"E": 0.5, "steps": 3, "fold": "as drawn", "limits": ["a", "b"]}
    with tempfile.TemporaryDirectory() as folder:
        made = run_once(job, lambda _: result, Path(folder))
        return (made / "run.json").read_bytes()


def arrays() -> bytes:
    """What a run records of its shape by step."""
    file = io.BytesIO()
    r = np.arange(30.0).reshape(2, 5, 3)
    np.savez(file, r=r, g=r, bars=np.array([[0, 1], [3, 4]]), up=np.eye(3)[2])
    return file.getvalue()


ROD_IN_PLANE = b"""\
unit: mm
section: {tape: {thickness: 0.1, width: 12}}
material: {modulus: 3.0e6, density: 1100}
spacing: 10
rods:
- line: [[0, 0], [60, 0]]
- arc: {centre: [60, 30], radius: 30, start: -90, end: 0}
  limb: 0
  section: {round: {diameter: 3, bore: 1}}
  material: {modulus: 1.0e5, density: 1000}
  spacing: 5
clamps: [{at: [0, 0], turns: [[0, 0], [2, 90]]}]
masses: [{at: [60, 0], mass: 0.001}]
load: {at: [[60, 0]], force: [0, -0.1], start: 0.1, duration: 0.2}
distributed_loads: [{rod: 0, along: 0, across: 2, force: [0, -1], duration: 1}]
follower_forces: [{at: [90, 30], along: -1, across: 1, start: 0.1, duration: 2}]
fluid: {along: 1, across: 2}
ground: {points: [[-5, -11], [20, -12], [50, -11], [90, -13]]}
pulses: [{limb: 0, time: 0.5}]
"""
RODS_IN_SPACE = b"""\
unit: cm
dimension: 3
section: {rectangular: {thickness: 0.2, width: 0.8}}
material: {modulus: 3.0e6, density: 1100, poisson: 0.4}
spacing: 1
rods:
- {line: [[0, 0, 5], [6, 0, 5]], across: [0, 0, 1], twist: 90}
- line: [[6, 0, 5], [6, 4, 5]]
- curve: [[6, 0, 5], [6, -2, 6], [6, -4, 5]]
- {line: [[3, 0, 9], [3, 0, 5]], section: {round: {diameter: 0.4, bore: 0.1}}}
hinges: [{at: [6, 0, 5], axis: [0, 0, 1], spring: 0.1}, [3, 0, 5]]
pins: [[3, 0, 9]]
clamps:
- at: [0, 0, 5]
  stiffness: 0.1
  axis: [0, 1, 0]
  turns: [[0, 0], [2, 20]]
  moves: [[0, 0, 0, 0], [2, 0.5, 0, 1]]
natural: [{rod: 2, bend: [[0, 0, 0], [1, 40, -20]], twist: [[0, 0], [1, 30]]}]
load: {at: [[6, 4, 5]], force: [0, 0, -0.1]}
ground: {height: 0, angle: 0}
tendons:
- {rod: 0, offset: [0.05, 0], tension: 3, rise: 0.5, begin: 0, end: 2.5, start: 0.1}
- {rod: 2, offset: [[0, 0.05, 0.1], [2, 0.02, 0.1]], tension: 1}
gravity: [0, 0, -9.81]
"""
