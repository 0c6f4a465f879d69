"""What pydantic says of a configuration file, on one line: what, where, the remedy."""

import difflib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from pipeline.terminal.errors import InputError

if TYPE_CHECKING:  # slow to import
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

Model = TypeVar("Model", bound="BaseModel")

# What a value of the wrong kind should have been, by the kind of pydantic's error.
KINDS = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "finite_number": "a finite number",
    "float_type": "a number",
    "int_type": "a whole number",
    "list_type": "a list",
    "model_type": "a mapping",
    "string_type": "a word",
    "too_short": "a list with an entry or more",
    "tuple_type": "a list",
}


def did_you_mean(word: str, known: list[str]) -> str:
    """A question that names the closest of `known`, or nothing."""
    close = difflib.get_close_matches(word, known, 1)
    return f", did you mean {close[0]}?" if close else ""


def _place(parts: tuple[int | str, ...]) -> str:
    """A dotted name, with numbers of list entries in brackets; none of kinds of one."""
    named = [p for p in parts if isinstance(p, int) or not p.startswith("[")]
    text = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in named)
    return text.removeprefix(".")


def _least(limit: Any) -> str:
    return f"{limit:g} or more"


def no_key(key: str, known: list[str]) -> str:
    """What is said of a key that is none of `known`."""
    return f"has no key {key!r}: it knows {', '.join(known)}{did_you_mean(key, known)}"


def refuse_unknown(given: Iterable[str], known: list[str], where: str) -> None:
    """Refuse a key that nobody reads."""
    for key in given:
        if key not in known:
            raise InputError(f"{where} {no_key(key, known)}")


def _kind(error: "ErrorDetails") -> str:
    """What the value should have been, and is not."""
    kind, context, value = error["type"], error.get("ctx", {}), error["input"]
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        choices = context["expected"].replace(" or ", ", ").replace("'", "")
        return f"is {value!r}: choose one of {choices.lstrip(', ')}"
    if kind == "greater_than":
        sound = "a positive number" if context["gt"] == 0 else f"above {context['gt']}"
    elif kind == "less_than":
        sound = f"below {context['lt']}"
    elif kind == "greater_than_equal":
        sound = _least(context["ge"])
    else:
        sound = KINDS.get(kind, error["msg"])
    return f"must be {sound}, not {value!r}"


def _said(error: "ErrorDetails", file: str, known: Callable[[Any], list[str]]) -> str:
    """One error of a model as a line."""
    loc = error["loc"]
    if error["type"] in ("extra_forbidden", "missing"):
        within = " ".join(filter(None, (f"{file}:", _place(loc[:-1]))))
        within = within.removesuffix(":") if len(loc) == 1 else within
        if error["type"] == "missing":
            return f"{within} has no {loc[-1]}: add one"
        return f"{within} {no_key(str(loc[-1]), known(loc[:-1]))}"
    return f"{file}: {_place(loc)} {_kind(error)}"


def _fields_at(model: "type[BaseModel]", loc: tuple[int | str, ...]) -> list[str]:
    """Names that the model within `model` at `loc` knows."""
    found: Any = model
    for part in loc:
        fields = getattr(found, "model_fields", {})
        if part in fields:
            found = _inner_model(fields[part].annotation)
    return list(getattr(found, "model_fields", {}))


def _inner_model(annotation: Any) -> Any:
    """The model in an annotation such as dict[str, Model]."""
    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _inner_model(argument)
        if found is not None:
            return found
    return None


def checked(model: type[Model], value: Any, file: str) -> Model:
    """The model that `value`, the content of `file`, describes.

    Raises
    ------
    InputError
        with the first thing that is wrong: where it is, its value, what it should be
    """
    from pydantic import ValidationError

    try:
        return model.model_validate(value)
    except ValidationError as error:
        found = error.errors(include_url=False)
        # A misspelt key leaves another one missing: the first is the one to mend.
        found.sort(key=lambda one: one["type"] != "extra_forbidden")
        said = _said(found[0], file, lambda loc: _fields_at(model, loc))
        raise InputError(said) from error
