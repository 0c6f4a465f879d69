"""A moving shape as VTK files: a polygonal mesh a step, and the list of them.

The XML formats of VTK, as ParaView and PyVista read them: PolyData (.vtp) for each
step, with lines and triangles between the nodes, and a collection (.pvd) of the steps.
"""

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from pipeline.store.files import write_text
from sim.arrays import Floats, Ints

HEAD = '<?xml version="1.0"?>\n<VTKFile type="{}" version="0.1">\n'


def write_vtk_series(
    folder: Path, r: Floats, links: Ints, faces: Ints, times: Sequence[float]
) -> Path:
    """Write a file a step and steps.pvd into `folder`; return the latter.

    Parameters
    ----------
    r : (steps, n, 3) positions
    links : (q, 2) nodes of lines
    faces : (t, 3) nodes of triangles
    times : of the steps, or their numbers
    """
    rows = []
    for step, (nodes, time) in enumerate(zip(r, times, strict=True)):
        name = f"step{step:05d}.vtp"
        write_text(folder / name, _polydata(nodes, nodes - r[0], links, faces))
        rows.append(
            f"<DataSet timestep={quoteattr(repr(float(time)))} file={quoteattr(name)}/>"
        )
    text = HEAD.format("Collection") + "<Collection>\n" + "\n".join(rows)
    path = folder / "steps.pvd"
    write_text(path, f"{text}\n</Collection>\n</VTKFile>\n")
    return path


def _polydata(nodes: Floats, moved: Floats, links: Ints, faces: Ints) -> str:
    counts = f'NumberOfPoints="{len(nodes)}" NumberOfLines="{len(links)}"'
    return (
        f"{HEAD.format('PolyData')}<PolyData>\n"
        f'<Piece {counts} NumberOfPolys="{len(faces)}">\n'
        f"<PointData>\n{_array(moved, 'displacement')}</PointData>\n"
        f"<Points>\n{_array(nodes)}</Points>\n"
        f"<Lines>\n{_cells(links)}</Lines>\n<Polys>\n{_cells(faces)}</Polys>\n"
        "</Piece>\n</PolyData>\n</VTKFile>\n"
    )


def _cells(nodes: Ints) -> str:
    ends = nodes.shape[1] * np.arange(1, len(nodes) + 1)
    return _array(nodes.ravel(), "connectivity") + _array(ends, "offsets")


def _array(values: NDArray[np.generic], name: str = "") -> str:
    """Numbers as text, at full precision; what is not finite as VTK reads it."""
    kind = "Float64" if np.issubdtype(values.dtype, np.floating) else "Int64"
    said = f" Name={quoteattr(name)}" if name else ""
    size = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    text = " ".join(map(repr, values.ravel().tolist()))
    return f'<DataArray type="{kind}"{said}{size} format="ascii">{text}</DataArray>\n'
