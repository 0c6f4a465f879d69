"""Parts to print from a morphing case: python -m pipeline.parts case=<case> --out DIR.

Or the folder of a finished run in place of the case. Writes an STL file for each part,
3MF files with all of them laid out on the bed, parts.csv, assembled.stl, and
structure.json: the structure with the lengths that are printed.
"""

import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pipeline.arguments import OneLineParser, output_directory
from pipeline.cases.morph import MorphCase
from pipeline.cases.structure_file import document
from pipeline.errors import InputError, command
from pipeline.files import replacing, write_json
from pipeline.hydra_command import Composer, build
from pipeline.printed.files import write_3mf, write_stl
from pipeline.printed.layout import Place, laid_out
from pipeline.printed.mesh import joined
from pipeline.printed.overlaps import overlaps
from pipeline.printed.pieces import (
    Assembly,
    Clamps,
    Piece,
    assembly,
    bars_of_target,
    fragments,
    pieces,
    target_piece,
)
from pipeline.printed.sizes import FILE, Sizes
from pipeline.printed.spacing import Spaced, spaced
from pipeline.runs import run_record
from pipeline.yaml_file import check_keys, read_mapping
from sim.arrays import Floats, Ints
from sim.morph.closing import closed
from sim.morph.constraints import Kind
from sim.morph.structure import Structure
from sim.morph.system import system_of

SIZES = tuple(f.name for f in fields(Sizes))


@dataclass(frozen=True)
class Parts:
    """How a mechanism is printed; conf/parts/default.yaml explains each value."""

    scale_mm: float
    sizes: Sizes
    clamps: str = "joined"
    target: bool = True
    spacing_mm: float = 0.0
    sides: int = 48
    bed_mm: tuple[float, float] = (220.0, 220.0)
    gap_mm: float = 3.0

    def __post_init__(self) -> None:
        _ = Clamps(self.clamps)
        if not _number(self.scale_mm) or not 0 < self.scale_mm < np.inf:
            raise ValueError(f"scale_mm must be positive, not {self.scale_mm!r}")
        for name in ("spacing_mm", "gap_mm"):
            value = getattr(self, name)
            if not _number(value) or not 0 <= value < np.inf:
                raise ValueError(f"{name} must be zero or positive, not {value!r}")
        if type(self.sides) is not int or not 8 <= self.sides <= 720:
            raise ValueError(f"sides must be from 8 to 720, not {self.sides!r}")
        if not isinstance(self.target, bool):
            raise ValueError(f"target must be true or false, not {self.target!r}")
        bed = self.bed_mm
        if len(bed) != 2 or not all(_number(v) and 0 < v < np.inf for v in bed):
            raise ValueError(f"bed_mm must be [width, depth], not {list(bed)}")


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def parts_settings(path: Path = FILE) -> dict[str, Any]:
    """A file of conf/parts as plain data, checked."""
    given = read_mapping(path)
    own = [f.name for f in fields(Parts) if f.name != "sizes"]
    check_keys(given, [*own, *SIZES], str(path))
    for name in ("scale_mm", *SIZES):
        if name not in given:
            raise InputError(f"{path} has no {name}: give it a value")
    return given


def parts_of(settings: dict[str, Any]) -> Parts:
    """What such a file describes."""
    given = {k: v for k, v in settings.items() if k not in SIZES}
    bed = given.get("bed_mm", Parts.bed_mm)
    if not isinstance(bed, list | tuple):
        raise ValueError(f"bed_mm must be [width, depth], not {bed!r}")
    return Parts(sizes=Sizes.among(settings), **given | {"bed_mm": tuple(bed)})


@dataclass(frozen=True, eq=False)
class Mechanism:
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


def mechanism(case: MorphCase, parts: Parts) -> Mechanism:
    """Space lengths where asked for, close the loops, and morph."""
    done = None
    if parts.spacing_mm > 0.0:
        done = spaced(case.structure, parts.scale_mm, parts.spacing_mm)
        try:
            case = replace(case, structure=done.structure)  # which closes its loops
        except ValueError as error:
            raise ValueError(
                f"with lengths {parts.spacing_mm:g} mm apart {error}, or lower "
                "spacing_mm"
            ) from error
    z = closed(system_of(case.structure), case.structure, case.residual)
    nodes = parts.scale_mm * z[: len(case.structure.r0)]
    *_, last = case.steps()
    return Mechanism(case, nodes, parts.scale_mm * last.r, last.E, done)


def links_of_all(structure: Structure) -> Any:
    """(p, 2) nodes of every constant distance."""
    table = structure.constraints
    return table.nodes[table.kind == Kind.DIST, :2]


def run_step(parts: Parts, case: Any, out: Path) -> dict[str, Any]:
    """Make all parts of a case; write them into `out`."""
    if not isinstance(case, MorphCase):
        raise InputError("this case has no links to print: choose one of morphing")
    try:
        made = mechanism(case, parts)
        found, whole = _pieces(made, parts)
        places = laid_out(found, parts.bed_mm, parts.gap_mm)
    except ValueError as error:
        raise InputError(str(error)) from error
    late = list(overlaps(whole, made.ends_mm, parts.sizes))
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("stl/*.stl"), *out.glob("print_*.3mf")):
        old.unlink()  # of other parts: nobody should print them
    for piece in found:
        write_stl(out / "stl" / f"{piece.name}.stl", piece.to_print)
    write_stl(out / "assembled.stl", joined(p.assembled for p in found))
    beds = 1 + max(place.bed for place in places)
    for bed in range(beds):
        on_it = [place for place in places if place.bed == bed]
        write_3mf(out / f"print_{bed + 1}.3mf", on_it)
    ended = _at_the_end(made, parts)
    _write_meshes(out / "meshes.npz", found, ended, places, parts.bed_mm)
    write_json(out / "structure.json", document(made.case.structure))
    table = parts_table(found)
    with replacing(out / "parts.csv") as temporary:
        table.to_csv(temporary, index=False, lineterminator="\n")
    numbers: dict[str, Any] = {
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
        numbers["warning"] = f"at the end of the morph {late[0]}"
    return numbers | _cost(case, made)


def _pieces(made: Mechanism, parts: Parts) -> tuple[list[Piece], Assembly]:
    """All pieces, the target among them; two at one place are refused."""
    structure, sizes = made.case.structure, parts.sizes
    whole = assembly(made.nodes_mm, structure.bodies, links_of_all(structure), sizes)
    first = next(overlaps(whole, made.nodes_mm, sizes), None)
    if first is not None:
        raise ValueError(
            f"{first} where the mechanism is assembled: make clamps and rods thinner, "
            "or enlarge scale_mm"
        )
    found = pieces(whole, sizes, Clamps(parts.clamps), parts.sides)
    if parts.target:
        wires = _wires(made, parts)
        target = target_piece(wires, made.ends_mm, sizes, parts.sides)
        found += [] if target is None else [target]
    return found, whole


def _wires(made: Mechanism, parts: Parts) -> tuple[Floats, Ints]:
    """Vertices, mm, and edges of the target."""
    vertices, edges = made.case.shape.wireframe(made.case.structure.r0)
    return parts.scale_mm * vertices, edges


def parts_table(found: list[Piece]) -> pd.DataFrame:
    """A row a part: how many, which nodes, its length and volume.

    The volume is that which the surfaces enclose; where rods of one body meet inside a
    ball it counts twice.
    """
    rows = [
        {
            "part": piece.name,
            "count": piece.count,
            "nodes": "-".join(map(str, piece.nodes)),
            "length_mm": piece.length_mm,
            "volume_mm3": piece.to_print.volume,
            "file": f"stl/{piece.name}.stl",
        }
        for piece in found
    ]
    return pd.DataFrame(rows)


def _at_the_end(made: Mechanism, parts: Parts) -> list[Piece]:
    """The pieces where the morph ends, without the target."""
    structure = made.case.structure
    links = links_of_all(structure)
    whole = assembly(made.ends_mm, structure.bodies, links, parts.sizes)
    return pieces(whole, parts.sizes, Clamps(parts.clamps), parts.sides)


def _write_meshes(
    path: Path,
    found: list[Piece],
    ended: list[Piece],
    places: list[Place],
    bed_mm: tuple[float, float],
) -> None:
    """Every piece on the bed, assembled, and where the morph ends, for drawing."""
    arrays: dict[str, Any] = {"names": np.array([piece.name for piece in found])}
    end = {piece.name: piece.assembled for piece in ended}
    for piece in found:
        at = {
            "bed": piece.to_print,
            "start": piece.assembled,
            "end": end.get(piece.name, piece.assembled),
        }
        for where, mesh in at.items():
            arrays[f"{piece.name}/{where}/vertices"] = mesh.vertices.astype(np.float32)
            arrays[f"{piece.name}/{where}/faces"] = mesh.faces.astype(np.int32)
    arrays["bed_mm"] = np.array(bed_mm)
    arrays["places"] = np.array([(p.bed, p.x, p.y) for p in places])
    arrays["placed"] = np.array([p.piece.name for p in places])
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **arrays)


def _cost(case: MorphCase, made: Mechanism) -> dict[str, Any]:
    """What spacing the lengths cost."""
    if made.spaced is None:
        return {"E": made.E}
    *_, drawn = case.steps()
    cost: dict[str, Any] = {
        "lengths_changed": made.spaced.changed,
        "largest_change_mm": made.spaced.largest_mm,
        "E_as_drawn": drawn.E,
        "E_spaced": made.E,
    }
    if made.spaced.held:
        names = ", ".join(made.spaced.held[:6])
        cost["held"] = (
            f"{len(made.spaced.held)} lengths stay as drawn, since closed loops fix "
            f"them: {names}"
        )
    return cost


def case_of_run(directory: Path) -> Any:
    """The case of a finished run."""
    return build(run_record(directory)["config"]["case"], "case")


def _case(words: list[str]) -> Any:
    """The case of a finished run's folder, or of Hydra overrides."""
    if len(words) == 1 and "=" not in words[0]:
        return case_of_run(Path(words[0]))
    with Composer() as composer:
        return build(composer.compose("simulate", words)["case"], "case")


@command
def main(argv: list[str] | None = None) -> int:
    """Make the parts once and say what they are."""
    parser = OneLineParser(prog="python -m pipeline.parts", description=__doc__)
    parser.add_argument("case", nargs="+", metavar="case=... or RUN")
    parser.add_argument("--out", type=output_directory, required=True)
    parser.add_argument("--parts", type=Path, default=FILE, help="file of conf/parts")
    parser.add_argument("--scale-mm", type=float)
    parser.add_argument("--spacing-mm", type=float)
    given = parser.parse_args(argv)
    settings = parts_settings(given.parts)
    for name in ("scale_mm", "spacing_mm"):
        if getattr(given, name) is not None:
            settings[name] = getattr(given, name)
    for name, value in run_step(
        parts_of(settings), _case(given.case), given.out
    ).items():
        print(f"{name}: {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
