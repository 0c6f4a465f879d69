"""Kinds of values in configuration files: strict, without unknown keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic_core import PydanticCustomError, core_schema

from pipeline.config.config_files import UNKNOWN_KEY, no_key
from pipeline.terminal import commas


class Entry(BaseModel):
    """A mapping of a configuration file: values of the stated kinds, no other keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _mapping_of_known_keys(cls, value: Any) -> Any:
        known = list(cls.model_fields)
        if not isinstance(value, Mapping | BaseModel):
            keys = ", ".join(known)
            raise ValueError(f"must be a mapping, not {value!r}: its keys are {keys}")
        for key in value if isinstance(value, Mapping) else ():
            if key not in known:
                problem = {"error": no_key(str(key), known)}
                raise PydanticCustomError(UNKNOWN_KEY, "{error}", problem)
        return value


class OneOf(Entry):
    """A mapping of which exactly one key has a value: one of `among`, or of all."""

    remedy: ClassVar[str]
    among: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="after")
    def _one(self) -> Self:
        if len(self.named) != 1:
            named = ", ".join(self.named) or "none"
            raise ValueError(f"names {named}: {self.remedy}")
        return self

    @property
    def named(self) -> list[str]:
        """Keys that have a value, sorted."""
        given = sorted(self.model_fields_set & (self.among or self.model_fields_set))
        return [name for name in given if getattr(self, name) is not None]


def _words(value: Any) -> tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return tuple(value)
    raise ValueError(f"must be a list of words, not {value!r}")


def _mapping(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"must be a mapping, not {value!r}")
    return {str(k): v for k, v in value.items()}


@dataclass(frozen=True)
class numbers:  # noqa: N801 - stands in annotations, as a function would
    """A list with an entry of each kind; those after `least` may be left out: None."""

    most: int
    least: int | None = None

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(
            self._entries, handler(source)
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "minItems": self.least or self.most}

    def _entries(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise ValueError(f"must be a list, not {value!r}")
        if not (self.least or self.most) <= len(value) <= self.most:
            size = f"{self.least} or {self.most}" if self.least else f"{self.most}"
            raise ValueError(f"is {value}: it needs {size} numbers{commas(value)}")
        return (*value, *[None] * (self.most - len(value)))


LARGEST_COORDINATE = 1e50  # its sixth power is still a number


def _coordinate(value: float) -> float:
    if not abs(value) <= LARGEST_COORDINATE:
        raise ValueError(f"is {value}: give a number up to {LARGEST_COORDINATE:g}")
    return value


def _not_vanishing(value: float) -> float:
    if not value * LARGEST_COORDINATE >= 1.0:
        raise ValueError(f"is {value}: give {1.0 / LARGEST_COORDINATE:g} or more")
    return _coordinate(value)


T = TypeVar("T")
Rows = Annotated[list[T], Field(default_factory=list)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Settings = Annotated[dict[str, Any], BeforeValidator(_mapping)]
Positive = Annotated[
    float, Field(gt=0, allow_inf_nan=False), AfterValidator(_not_vanishing)
]
Coordinate = Annotated[float, AfterValidator(_coordinate)]
Point = Annotated[tuple[Coordinate, Coordinate, Coordinate], numbers(3)]
Count = Annotated[int, Field(ge=0)]
NotNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]
AtLeastOne = Annotated[int, Field(ge=1)]
