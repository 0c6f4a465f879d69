"""Cases from Python, and the configuration that describes an object.

A run made in Python is recorded as one that Hydra composed is, by names and values. So
the same case has the same key, and steps that build a case again can do so.
"""

import hashlib
import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np

from pipeline.cases.equilibrium import EquilibriumCase
from pipeline.cases.mechanism_motion import MechanismMotionCase
from pipeline.cases.morph import MorphCase
from pipeline.cases.origami import OrigamiCase
from pipeline.config.build_objects import ARRAY, OWN_MODULES
from pipeline.runs.run_keys import canonical
from pipeline.terminal import InputError
from sim.core.arrays import Floats
from sim.origami.fold_and_load_phases import Fold as FoldPhase
from sim.origami.folding.sheet import Contact
from sim.origami.model.sheet_material import SheetMaterial
from sim.origami.pattern.pattern import CreasePattern

P = ParamSpec("P")
T = TypeVar("T")
SHORT = 12  # entries of an array that is written out: a point, or a small matrix


@dataclass(frozen=True)
class _Call:
    """How an object was made: by which call, of which files, with which values."""

    config: dict[str, Any]
    content: Any
    values: Any


_calls: dict[int, _Call] = {}  # by the id of an object that lives


def remembered(make: Callable[P, T]) -> Callable[P, T]:
    """`make`; what it returns is described by the call that made it."""
    signature = inspect.signature(make)
    rest = [p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD]

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> T:
        thing = make(*args, **kwargs)
        if is_dataclass(thing) and isinstance(make, type):
            given = {f.name: getattr(thing, f.name) for f in fields(thing) if f.init}
        else:
            call = signature.bind(*args, **kwargs)
            call.apply_defaults()
            given = dict(call.arguments)
            for name in rest:
                given |= given.pop(name)
        config = _named(make, given, make.__name__)
        values = _values(thing, make.__name__)
        _calls[id(thing)] = _Call(config, canonical(config), values)
        weakref.finalize(thing, _calls.pop, id(thing))
        return thing

    return made


def described(value: Any, where: str) -> Any:
    """Plain data that describes an object and all it is made of.

    A part is described by the call that made it, if that is known and the part has
    not changed since; else by the values of its fields. A long array is described by
    its SHA-256.

    Raises
    ------
    InputError
        for what is neither data nor of this software, and for a file that changed
        since a part was made of it
    """
    call = _calls.get(id(value))
    if call is None or call.values != _values(value, where):
        return _values(value, where)
    if canonical(call.config) != call.content:
        raise InputError(
            f"{where}: the file that it was read from has changed: read it again"
        )
    return call.config


def _values(value: Any, where: str) -> Any:
    """The same of an object itself, however it was made."""
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size <= SHORT else _digest(value, where)
    if is_dataclass(value) and not isinstance(value, type):
        given = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
        return _named(type(value), given, where)
    if isinstance(value, Mapping):
        return {_key(k): described(v, f"{where}.{k}") for k, v in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(described(part, where) for part in value)
    if isinstance(value, Sequence):
        return [described(part, f"{where}[{i}]") for i, part in enumerate(value)]
    raise InputError(
        f"{where} is a {type(value).__name__}: a run is identified by numbers, words, "
        "arrays and dataclasses: give one of them"
    )


def _named(
    make: Callable[..., Any], given: Mapping[str, Any], where: str
) -> dict[str, Any]:
    """A class or function by its name, with what it is given."""
    name = f"{make.__module__}.{make.__qualname__}"
    if not name.startswith(OWN_MODULES):
        raise InputError(
            f"{where} is a {name}: changes to its code would not start a new run; use "
            f"a class of {' or '.join(f'{module}*' for module in OWN_MODULES)}"
        )
    parts = {key: described(part, f"{where}.{key}") for key, part in given.items()}
    return {"_target_": name, **parts}


def _key(key: Any) -> str:
    return ",".join(map(str, sorted(key))) if isinstance(key, frozenset) else str(key)


def _digest(array: Floats, where: str) -> dict[str, Any]:
    """An array by the SHA-256 of its bytes."""
    if array.dtype.hasobject:
        raise InputError(f"{where} is an array of objects: give one of numbers")
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return {ARRAY: digest, "shape": list(array.shape), "type": array.dtype.str}


Morph = MorphCase
Equilibrium = EquilibriumCase
Motion = MechanismMotionCase
Origami = OrigamiCase

SHEET = SheetMaterial(
    panel_modulus=2.0e9,
    crease_modulus=2.0e9,
    panel_thickness=0.0005,
    crease_thickness=0.0001,
    crease_width=0.002,
)  # that of conf/pattern/material.yaml


def Fold(
    pattern: CreasePattern,
    fraction: float = 0.5,
    *,
    material: SheetMaterial = SHEET,
    contact: Contact | None = None,
    increments: int = 20,
) -> OrigamiCase:
    """A sheet whose creases are hinges, its largest panel held, folds as assigned.

    Parameters
    ----------
    fraction : of each assigned fold, 0 to 1
    contact : of the sheet with itself; all of it where nothing is given
    increments : steps of the way
    """
    return OrigamiCase(
        pattern,
        material,
        "largest panel",
        [FoldPhase(fraction=fraction, increments=increments)],
        contact or Contact(),
        compliant=False,
    )
