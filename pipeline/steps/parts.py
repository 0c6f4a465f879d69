"""The parts of a morphing case, printable: meshes, parts list, spaced lengths."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd

from analysis.labels.spacing import Spaced, spaced
from pipeline.cases.morph import MorphCase
from pipeline.config.build_objects import build
from pipeline.config.config_files import refuse_unknown
from pipeline.config.hydra import composed_file
from pipeline.config.workflow_file import FILE, shared_settings
from pipeline.io.length_units import unit_named
from pipeline.io.mesh_writers import PrintedPiece, mesh_of, write_3mf, write_stl
from pipeline.io.structure_file import document
from pipeline.runs.atomic_files import replacing, write_json, write_table
from pipeline.runs.run_directory import Job, Needs, Numbers, run_record
from pipeline.steps.settings import Flag
from pipeline.terminal import InputError, refusing
from sim.core.arrays import Floats, Ints
from sim.core.options import (
    Checked,
    NotNegative,
    Positive,
    Requirement,
    is_count,
    is_positive,
)
from sim.mechanism.constraint_projection import closed
from sim.mechanism.constraint_system import system_of
from sim.mechanism.constraints import ConstraintKind
from sim.mechanism.structure import Structure
from sim.virtual_lab.lab_settings import Sizes
from sim.virtual_lab.overlapping_pieces import Overlap, overlaps, remedy
from sim.virtual_lab.printed_pieces import (
    Assembly,
    Clamps,
    Piece,
    Place,
    assembly,
    bars_of_target,
    fragments,
    laid_out,
    pieces,
    target_piece,
)

SIZES = tuple(f.name for f in fields(Sizes))
FROM_8 = Requirement("from 8 to 720", lambda n: is_count(n, 8) and n <= 720)


def is_size(value: Any) -> bool:
    """Whether it is a list of two positive lengths."""
    listed = isinstance(value, list | tuple) and len(value) == 2
    return listed and all(map(is_positive, value))


SHOWN = 3  # overlaps in a message
Sides = Annotated[int, FROM_8]
Bed = Annotated[Sequence[float], Requirement("[width, depth]", is_size)]


@dataclass(frozen=True)
class Parts(Checked):
    """How a mechanism is printed; conf/parts/default.yaml explains each value."""

    scale_mm: Positive
    sizes: Sizes
    clamps: str = "joined"
    target: Flag = True
    spacing_mm: NotNegative = 0.0
    sides: Sides = 48
    bed_mm: Bed = (220.0, 220.0)
    gap_mm: NotNegative = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = Clamps(self.clamps)


def parts_settings(path: Path = FILE) -> dict[str, Any]:
    """A file of conf/parts as plain data, checked."""
    given = composed_file(path)
    own = [f.name for f in fields(Parts) if f.name != "sizes"]
    refuse_unknown(given, [*own, *SIZES], str(path))
    shared_settings(path)  # refuses a file that lacks a size
    return given


def parts_of(settings: dict[str, Any]) -> Parts:
    """What such a file describes."""
    given = {k: v for k, v in settings.items() if k not in SIZES}
    return Parts(sizes=Sizes.among(settings), **given)


@dataclass(frozen=True, eq=False)
class PrintedMechanism:
    """A case as it is printed.

    Attributes
    ----------
    nodes_mm : (n, 3) where it is assembled: its initial configuration
    ends_mm : (n, 3) where the morph ends
    """

    case: MorphCase
    nodes_mm: Floats
    ends_mm: Floats
    E: float
    spaced: Spaced | None


def mechanism(case: MorphCase, parts: Parts) -> PrintedMechanism:
    """Space lengths where asked for, close the loops, and morph.

    The nodes of a spaced structure have the new lengths.
    """
    done = None
    if parts.spacing_mm > 0.0:
        done = spaced(case.structure, parts.scale_mm, parts.spacing_mm)
        try:
            case = replace(case, structure=done.structure)  # which closes its loops
        except ValueError as error:
            raise ValueError(
                f"with lengths that differ by {parts.spacing_mm:g} mm the structure "
                f"cannot be assembled: {error}, or lower spacing_mm"
            ) from error
    z = closed(system_of(case.structure), case.structure, case.residual)
    nodes = z[: len(case.structure.r0)]
    *_, last = case.steps()
    if done is not None:
        case = replace(case, structure=replace(case.structure, r0=nodes))
    return PrintedMechanism(
        case, parts.scale_mm * nodes, parts.scale_mm * last.r, last.E, done
    )


def links_of_all(structure: Structure) -> Any:
    """(p, 2) nodes of every constant distance."""
    table = structure.constraints
    return table.nodes[table.kind == ConstraintKind.DIST, :2]


def run_step(parts: Parts, case: Any, out: Path) -> dict[str, Any]:
    """Make all parts of a case; write them into `out`."""
    if not isinstance(case, MorphCase):
        raise InputError("this case has no links to print: choose a morphing case")
    with refusing(ValueError):
        made = mechanism(case, parts)
        found, whole = _pieces(made, parts)
        places = laid_out([p.box for p in found], parts.bed_mm, parts.gap_mm)
    late = list(overlaps(whole, made.ends_mm, parts.sizes))
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("stl/*.stl"), *out.glob("print_*.3mf")):
        old.unlink()  # of other parts, not to be printed
    meshes = {p.piece.name: p.to_print for p in found}
    for name, mesh in meshes.items():
        write_stl(out / "stl" / f"{name}.stl", mesh)
    solids = [solid for p in found for solid in p.piece.assembled]
    write_stl(out / "assembled.stl", mesh_of(solids, parts.sides))
    beds = 1 + max(place.bed for place in places)
    for bed in range(beds):
        on_it = [place for place in places if place.bed == bed]
        write_3mf(out / f"print_{bed + 1}.3mf", on_it, meshes)
    end = assembly(
        made.ends_mm, made.case.structure.bodies, links_of_all(made.case.structure),
        parts.sizes,
    )  # fmt: skip
    ended = pieces(end, parts.sizes, Clamps(parts.clamps), parts.sides)
    _write_meshes(out / "meshes.npz", found, ended, places, parts.bed_mm)
    write_json(out / "structure.json", document(made.case.structure))
    table = parts_table(found)
    write_table(out / "parts.csv", table)
    numbers: dict[str, Any] = {
        "scale_mm": parts.scale_mm,
        "parts": int(table["count"].sum()),
        "different_parts": len(table),
        "beds": beds,
        "volume_cm3": float((table["count"] * table["volume_mm3"]).sum() / 1000.0),
        "overlaps_at_the_end": len(late),
    }
    if "target" in set(table["part"]):
        wires = _wires(made, parts)
        bars = bars_of_target(wires, made.ends_mm, parts.sizes)
        numbers["target_fragments"] = fragments(bars, parts.sizes.target_radius_mm)
    if late:
        numbers["warning"] = (
            f"parts collide at the end of the morph: {_in_words(late, parts.sizes)}"
        )
    return numbers | _cost(case, made)


def _pieces(
    made: PrintedMechanism, parts: Parts
) -> tuple[list[PrintedPiece], Assembly]:
    """All pieces, the target among them; two at one place are refused."""
    structure, sizes = made.case.structure, parts.sizes
    whole = assembly(made.nodes_mm, structure.bodies, links_of_all(structure), sizes)
    if clashes := list(overlaps(whole, made.nodes_mm, sizes)):
        raise ValueError(
            f"parts overlap where the mechanism is assembled ({len(clashes)} times): "
            f"{_in_words(clashes, sizes)}"
        )
    found = pieces(whole, sizes, Clamps(parts.clamps), parts.sides)
    if parts.target:
        wires = _wires(made, parts)
        target = target_piece(wires, made.ends_mm, sizes)
        found += [] if target is None else [target]
    return [PrintedPiece(piece, parts.sides) for piece in found], whole


def _in_words(found: list[Overlap], sizes: Sizes) -> str:
    return f"{'; '.join(o.text for o in found[:SHOWN])}: {remedy(found, sizes)}"


def _wires(made: PrintedMechanism, parts: Parts) -> tuple[Floats, Ints]:
    """Vertices, mm, and edges of the target."""
    vertices, edges = made.case.shape.wireframe(made.case.structure.r0)
    return parts.scale_mm * vertices, edges


def parts_table(found: list[PrintedPiece]) -> pd.DataFrame:
    """A row a part: how many, which nodes, its length and volume.

    The volume is that which the surfaces enclose; where rods of one body meet inside a
    sphere it counts twice.
    """
    rows = [
        {
            "part": printed.piece.name,
            "count": printed.piece.count,
            "nodes": "-".join(map(str, printed.piece.nodes)),
            "length_mm": printed.piece.length_mm,
            "volume_mm3": printed.to_print.volume,
            "file": f"stl/{printed.piece.name}.stl",
        }
        for printed in found
    ]
    return pd.DataFrame(rows)


def _write_meshes(
    path: Path,
    found: list[PrintedPiece],
    ended: list[Piece],
    places: list[Place],
    bed_mm: Sequence[float],
) -> None:
    """Every piece on the bed, assembled, and where the morph ends, for drawing."""
    arrays: dict[str, Any] = {"names": np.array([p.piece.name for p in found])}
    end = {piece.name: piece for piece in ended}
    for printed in found:
        name = printed.piece.name
        last = PrintedPiece(end.get(name, printed.piece), printed.sides)
        at = {
            "bed": printed.to_print,
            "start": printed.assembled,
            "end": last.assembled,
        }
        for where, mesh in at.items():
            arrays[f"{name}/{where}/vertices"] = mesh.vertices.astype(np.float32)
            arrays[f"{name}/{where}/faces"] = mesh.faces.astype(np.int32)
    arrays["bed_mm"] = np.array(bed_mm)
    arrays["places"] = np.array([(p.bed, p.x, p.y) for p in places])
    arrays["placed"] = np.array([p.name for p in places])
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _cost(case: MorphCase, made: PrintedMechanism) -> dict[str, Any]:
    """What spacing the lengths cost."""
    if made.spaced is None:
        return {"E": made.E}
    *_, designed = case.steps()
    cost: dict[str, Any] = {
        "lengths_changed": made.spaced.changed,
        "largest_change_mm": made.spaced.largest_mm,
        "E_as_drawn": designed.E,
        "E_spaced": made.E,
    }
    reasons = {
        "lengths fixed by closed loops stay as designed": made.spaced.held,
        "bodies of different shapes share lengths": made.spaced.shared,
    }
    if left := [
        f"{reason} ({len(names)}): {', '.join(names[:6])}"
        for reason, names in reasons.items()
        if names
    ]:
        length = r"(?:link [\d-]+: )?dist\((\d+), (\d+)\)"
        cost["held"] = re.sub(length, r"rod \1-\2", "; ".join(left))
    return cost


def perform(job: Job, needs: Needs, out: Path) -> Numbers:
    """Make the parts of a simulation.

    mm per unit of its case are `stated_scale_mm`, if a person gave it; else what the
    unit of its structure is, or those of the file where it names none.
    """
    case: Any = build(run_record(needs["simulated"])["config"]["case"], "case")
    unit = getattr(getattr(case, "structure", None), "unit", "")
    settings = dict(job.config) | ({"scale_mm": unit_named(unit).mm} if unit else {})
    settings["scale_mm"] = settings.pop("stated_scale_mm", settings["scale_mm"])
    return run_step(parts_of(settings), case, out)
