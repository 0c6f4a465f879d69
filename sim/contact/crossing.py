"""Whether a surface passes through itself: edges that pierce triangles."""

from sim.arrays import Floats, Ints
from sim.contact.candidates import boxes, overlaps
from sim.contact.surface import share_tag
from sim.kernels import kernel


@kernel
def _volume(a: Floats, b: Floats, c: Floats, d: Floats) -> float:
    """Six times the signed volume of a tetrahedron."""
    out = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out += (b[i] - a[i]) * (
            (c[j] - a[j]) * (d[k] - a[k]) - (c[k] - a[k]) * (d[j] - a[j])
        )
    return out


@kernel
def pierces(p: Floats, q: Floats, a: Floats, b: Floats, c: Floats) -> bool:
    """Whether the edge p-q passes through the inside of the triangle a-b-c."""
    above, below = _volume(a, b, c, p), _volume(a, b, c, q)
    if above * below >= 0.0:
        return False
    u, v, w = _volume(p, q, a, b), _volume(p, q, b, c), _volume(p, q, c, a)
    return bool((u > 0.0 and v > 0.0 and w > 0.0) or (u < 0.0 and v < 0.0 and w < 0.0))


@kernel
def crossings(edge: Ints, triangle: Ints, tag: Ints, x: Floats) -> Ints:
    """(k, 2) rows of edges and the triangles they pierce, joined ones left out.

    Parameters
    ----------
    edge, triangle : (e, 2), (t, 3) nodes
    tag : (n, 2) vertices of the pattern that nodes stem from
    x : (n, 3) m
    """
    found = overlaps(boxes(edge, x, 0.0), boxes(triangle, x, 0.0), False)
    kept = 0
    for k in range(len(found)):
        i, t = found[k, 0], found[k, 1]
        joined = False
        for a in range(2):
            for b in range(3):
                u, v = edge[i, a], triangle[t, b]
                joined = joined or u == v or share_tag(tag, u, v)
        if joined:
            continue
        p, q = x[edge[i, 0]], x[edge[i, 1]]
        corner = triangle[t]
        if pierces(p, q, x[corner[0]], x[corner[1]], x[corner[2]]):
            found[kept, 0], found[kept, 1] = i, t
            kept += 1
    return found[:kept].copy()
