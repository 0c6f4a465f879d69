"""Strains of a bend in space with first and second derivatives.

Edges e and f meet with unit tangents t, s; chi = 1 + t.s; w = (t + s) / chi. The
binormal k = 2 t x s / chi has the size 2 tan(phi/2), as in the plane. With a director a
of the section at e and b at f, turning about that director is

    q = (a + b).k / 2
    grad_e q = (s x m - q w) / |e|,  grad_f q = -(t x m + q w) / |f|

with m = (a + b) / chi. The twist has the slopes k / 2|e| and k / 2|f| (Bergou et al.
2010). Second derivatives are of the move of `frames`, from where the rod is; so they
are symmetric. Unknowns are e, the angle of e, f, the angle of f: eight, in this order.
"""

from sim.arrays import Floats
from sim.kernels import kernel
from sim.rod.space.frames import cross, dot

LOCAL = 8


@kernel
def add_outer(H: Floats, r: int, c: int, a: Floats, b: Floats, by: float) -> None:
    """Block (r, c) of H += by a b^T."""
    for i in range(3):
        for j in range(3):
            H[r + i, c + j] += by * a[i] * b[j]


@kernel
def add_unit(H: Floats, r: int, c: int, by: float) -> None:
    """Block (r, c) of H += by I."""
    for i in range(3):
        H[r + i, c + i] += by


@kernel
def add_cross(H: Floats, r: int, c: int, a: Floats, by: float) -> None:
    """Block (r, c) of H += by [a]x, the matrix of a cross product with a."""
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        H[r + i, c + j] -= by * a[k]
        H[r + i, c + k] += by * a[j]


@kernel
def mirror(H: Floats) -> None:
    """Block (f, e) of H <- that of (e, f), transposed."""
    for i in range(3):
        for j in range(3):
            H[4 + i, j] = H[j, 4 + i]


@kernel
def bend_binormal(t: Floats, s: Floats, k: Floats, w: Floats) -> float:
    """k and w of tangents t and s; chi."""
    chi = 1.0 + dot(t, s)
    cross(t, s, k)
    for a in range(3):
        k[a] *= 2.0 / chi
        w[a] = (t[a] + s[a]) / chi
    return chi


@kernel
def _angle_row(
    at: int, d: Floats, t: Floats, s: Floats, k: Floats, w: Floats, chi: float,
    size: tuple[float, float], g: Floats, H: Floats, v: Floats,
) -> None:  # fmt: skip
    """Derivatives by the angle of one edge, with d' = t_own x d and d'' = -d."""
    own = t if at == 3 else s
    cross(own, d, v)
    turned = 0.5 * dot(v, k)
    g[at] = turned
    H[at, at] = -0.5 * dot(d, k)
    for i in range(3):
        j, h = (i + 1) % 3, (i + 2) % 3
        e = (s[j] * v[h] - s[h] * v[j]) / chi - turned * w[i]
        f = -(t[j] * v[h] - t[h] * v[j]) / chi - turned * w[i]
        H[at, i] = H[i, at] = e / size[0]
        H[at, 4 + i] = H[4 + i, at] = f / size[1]


@kernel
def turn_slopes(
    t: Floats, s: Floats, k: Floats, w: Floats, chi: float,
    size: tuple[float, float], a: Floats, b: Floats, g: Floats, H: Floats,
    scratch: Floats,
) -> float:  # fmt: skip
    """q about directors a and b; g (8,) and H (8, 8) are overwritten."""
    m, u, v = scratch[0], scratch[1], scratch[2]
    H[:] = 0.0
    for i in range(3):
        m[i] = (a[i] + b[i]) / chi
    q = 0.5 * chi * dot(m, k)
    _angle_row(3, a, t, s, k, w, chi, size, g, H, u)
    _angle_row(7, b, t, s, k, w, chi, size, g, H, u)
    cross(s, m, u)
    cross(t, m, v)
    for i in range(3):
        g[i] = (u[i] - q * w[i]) / size[0]
        g[4 + i] = -(v[i] + q * w[i]) / size[1]
    ee, ff, ef = size[0] ** -2.0, size[1] ** -2.0, 1.0 / (size[0] * size[1])
    flat = q / chi
    for at, by, side, tan, d in ((0, ee, -1.0, t, a), (4, ff, 1.0, s, b)):
        c = u if at == 0 else v
        add_outer(H, at, at, w, w, 2.0 * q * by)
        add_outer(H, at, at, c, w, side * by)
        add_outer(H, at, at, w, c, side * by)
        add_unit(H, at, at, -flat * by)
        add_outer(H, at, at, tan, tan, flat * by)
        add_outer(H, at, at, k, d, 0.25 * by)
        add_outer(H, at, at, d, k, 0.25 * by)
    add_unit(H, 0, 4, -flat * ef)
    add_outer(H, 0, 4, t, s, -flat * ef)
    add_outer(H, 0, 4, w, w, 2.0 * q * ef)
    add_outer(H, 0, 4, u, w, -ef)
    add_outer(H, 0, 4, w, v, ef)
    add_cross(H, 0, 4, m, -ef)
    mirror(H)
    return q


@kernel
def twist_slopes(
    t: Floats, s: Floats, k: Floats, w: Floats, chi: float,
    size: tuple[float, float], g: Floats, H: Floats, scratch: Floats,
) -> None:  # fmt: skip
    """Of the twist; g (8,) and H (8, 8) are overwritten."""
    H[:] = 0.0
    g[3], g[7] = -1.0, 1.0
    v = scratch[0]
    for at in (0, 4):
        one = size[0] if at == 0 else size[1]
        for i in range(3):
            g[at + i] = 0.5 * k[i] / one
            v[i] = w[i] + (t[i] if at == 0 else s[i])
        add_outer(H, at, at, k, v, -0.25 / one**2)
        add_outer(H, at, at, v, k, -0.25 / one**2)
    ef = 0.5 / (size[0] * size[1])
    add_cross(H, 0, 4, t, 2.0 * ef / chi)
    add_outer(H, 0, 4, k, w, -ef)
    mirror(H)


@kernel
def to_nodes(G: Floats, K: Floats, gradient: Floats, matrix: Floats, M: Floats) -> None:
    """From (e, angle, f, angle) to (tail, angle, middle, angle, head).

    Parameters
    ----------
    G, K : (8,), (8, 8)
    gradient, matrix : (11,), (11, 11), overwritten
    M : (8, 11)
    """
    for p in range(LOCAL):
        for c in range(3):
            M[p, c], M[p, 4 + c] = -K[p, c], K[p, c] - K[p, 4 + c]
            M[p, 8 + c] = K[p, 4 + c]
        M[p, 3], M[p, 7] = K[p, 3], K[p, 7]
    for c in range(3):
        gradient[c], gradient[4 + c], gradient[8 + c] = -G[c], G[c] - G[4 + c], G[4 + c]
    gradient[3], gradient[7] = G[3], G[7]
    for c in range(LOCAL + 3):
        for p in range(3):
            matrix[p, c], matrix[4 + p, c] = -M[p, c], M[p, c] - M[4 + p, c]
            matrix[8 + p, c] = M[4 + p, c]
        matrix[3, c], matrix[7, c] = M[3, c], M[7, c]
