"""An elastic structure that a controller steps: observe, act, step.

    world = MorphWorld(loaded)
    seen = world.observe()                        # Equilibrium: nodes, tensions, ...
    world.act(rest_lengths={0: 1.2})              # an elastic link is an actuator
    world.act(force=weights, target=Sphere(2.0))
    seen = world.step()                           # at rest again

There is no time: a step goes to the rest that descent leads to, by
`sim.morph.statics.equilibrium`, from where the structure is; so a chain of steps is
that of equilibria, to the last bit. A step that does not converge leaves the world as
it was.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from sim.arrays import Floats
from sim.morph.statics.equilibrium import Equilibrium, EquilibriumOptions, at_rest
from sim.morph.statics.loaded import LoadedStructure
from sim.morph.targets.protocol import Target


@dataclass(frozen=True, eq=False)
class SavedMorph:
    """Where a world was, and what it was told."""

    loaded: LoadedStructure
    found: Equilibrium


class MorphWorld:
    """An elastic structure at rest."""

    def __init__(
        self, loaded: LoadedStructure, options: EquilibriumOptions | None = None
    ) -> None:
        self._options = options or EquilibriumOptions()
        self._loaded = loaded
        self._found = at_rest(loaded, self._options)

    @property
    def loaded(self) -> LoadedStructure:
        """The structure with what it has been told."""
        return self._loaded

    def observe(self) -> Equilibrium:
        """Nodes, tensions, moments and reactions at the last rest."""
        return self._found

    def act(
        self,
        *,
        rest_lengths: Mapping[int, float] | None = None,
        rest_angles: Mapping[int, float] | None = None,
        force: Floats | None = None,
        target: Target | None = None,
    ) -> None:
        """Change what the next step finds a rest for.

        Parameters
        ----------
        rest_lengths, rest_angles : of elastic links and hinges, by number; rad
        force : (n, 3) loads
        target : that nodes hang on
        """
        elastic = self._loaded.elastic
        elastic = replace(
            elastic,
            rest_length=_changed("link", elastic.rest_length, rest_lengths),
            rest_angle=_changed("hinge", elastic.rest_angle, rest_angles),
        )
        loaded = replace(self._loaded, elastic=elastic)
        if force is not None:
            if force.shape != loaded.force.shape:
                raise ValueError(
                    f"forces have shape {force.shape}: give one [x, y, z] for each of "
                    f"{len(loaded.force)} nodes"
                )
            loaded = replace(loaded, force=force.copy())
        if target is not None:
            loaded = replace(loaded, target=target)
        self._loaded = loaded

    def step(self) -> Equilibrium:
        """Come to rest under what has been told.

        Raises
        ------
        NotConvergedError
            where no rest is found; the world is where it was.
        """
        self._found = at_rest(self._loaded, self._options, self._found)
        return self._found

    def save(self) -> SavedMorph:
        """Where the world is, to come back to."""
        return SavedMorph(self._loaded, self._found)

    def restore(self, saved: SavedMorph) -> None:
        """Go back to where the world was."""
        self._loaded, self._found = saved.loaded, saved.found


def _changed(name: str, values: Floats, told: Mapping[int, float] | None) -> Floats:
    out = values.copy()
    for i, value in (told or {}).items():
        if not 0 <= i < len(values):
            raise ValueError(
                f"there is no elastic {name} {i}: there are {len(values)}, from 0 on"
            )
        if not np.isfinite(value):
            raise ValueError(
                f"elastic {name} {i} is told {value}: give a finite number"
            )
        out[i] = value
    return out
