"""conf/lab.yaml, composed and checked: the bench that a real scan comes from."""

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from pipeline.config.checking import checked
from pipeline.config.hydra import composed_file
from pipeline.config.models import Entry, Positive
from pipeline.terminal.errors import InputError

LAB = Path("conf/lab.yaml")
LEAST, MOST = 1e-7, 0.02  # errors over lengths that instruments have
SHORTEST_MM, LARGEST_FORM_MM = 1.0, 5.0
COLDEST_C, WARMEST_C = -20.0, 60.0
ORCID = re.compile(r"(\d{4}-){3}\d{3}[\dX]")


def _orcid(text: str) -> str:
    """An ORCID whose check digit holds [ISO 7064, MOD 11-2]."""
    total = 0
    for digit in text.replace("-", "")[:-1] if ORCID.fullmatch(text) else "":
        total = (total + int(digit)) * 2
    if not ORCID.fullmatch(text) or "0123456789X"[(12 - total % 11) % 11] != text[-1]:
        raise ValueError(f"is {text!r}: no ORCID ends so, such as 0000-0002-1825-0097")
    return text


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise ValueError(f"is {text!r}: give a day as '2026-01-15'") from error


def _check_share(error_mm: float, length_mm: float) -> None:
    """Refuse an error of a length that was written in another unit than the length."""
    share = error_mm / length_mm
    if length_mm < SHORTEST_MM or not LEAST <= share <= MOST:
        raise ValueError(
            f"says {error_mm:g} mm over {length_mm:g} mm, {100 * share:.2g} %: give "
            f"both in mm, {100 * LEAST:g} to {100 * MOST:g} %, of {SHORTEST_MM:g} mm "
            "or more"
        )


def _form(value: float) -> float:
    if value > LARGEST_FORM_MM:
        raise ValueError(
            f"is {value:g}: give it in mm, {LARGEST_FORM_MM:g} at most; certificates "
            "may say micrometres"
        )
    return value


def _celsius(value: float) -> float:
    if not COLDEST_C <= value <= WARMEST_C:
        raise ValueError(
            f"is {value:g}: give degrees Celsius, {COLDEST_C:g} to {WARMEST_C:g}"
        )
    return value


def _joined(between: str, *texts: str | None) -> str:
    return between.join(filter(None, texts))


Form = Annotated[Positive, AfterValidator(_form)]
Celsius = Annotated[float, Field(allow_inf_nan=False), AfterValidator(_celsius)]
Word = Annotated[str, Field(min_length=1)]
Orcid = Annotated[str, AfterValidator(_orcid)]
Day = Annotated[str, AfterValidator(_day)]


class Operator(Entry):
    """Who scanned."""

    name: Word
    orcid: Orcid | None = None

    @property
    def called(self) -> str:
        """Name and ORCID."""
        return _joined(" ", self.name, self.orcid)


class Instrument(Entry):
    """A printer or scanner as its plate says."""

    serial_number: Word
    maker: str = ""
    model: str = ""

    @property
    def called(self) -> str:
        """Maker, model and serial number."""
        return _joined(
            " ", self.maker, self.model, f"serial number {self.serial_number}"
        )


class PrintingError(Entry):
    """What a first print of this printer taught, mm; both standard deviations.

    Attributes
    ----------
    sd_mm : of a node's place on its bodies, along each axis
    joint_play_sd_mm : of a node in the directions that rigid bodies leave it
    learnt : what from, such as the folder of a calibration
    """

    sd_mm: Positive | None = None
    joint_play_sd_mm: Positive | None = None
    learnt: str = ""

    @property
    def settings(self) -> dict[str, float]:
        """What a comparison assumes in place of its own defaults."""
        found = {
            "printing_sd_mm": self.sd_mm,
            "joint_play_sd_mm": self.joint_play_sd_mm,
        }
        return {name: value for name, value in found.items() if value is not None}


class PrintJob(Entry):
    """What was printed, and when."""

    name: Word
    date: Day | None = None

    @property
    def called(self) -> str:
        """Name and day."""
        return _joined(" of ", self.name, self.date)


class Material(Entry):
    """What it was printed of."""

    name: Word
    maker: str = ""
    batch: str = ""

    @property
    def called(self) -> str:
        """Name and batch."""
        return _joined(", batch ", self.name, self.batch)


class Permitted(Entry):
    """A largest permissible error, and the longest length it was tested on, mm."""

    mpe_mm: Positive
    length_mm: Positive

    @model_validator(mode="after")
    def _in_mm(self) -> Self:
        _check_share(self.mpe_mm, self.length_mm)
        return self


class Certificate(Entry):
    """What a laboratory says of the scanner.

    Attributes
    ----------
    probing_form_mpe_mm : PF, of the range of radial residuals on one ball
    sphere_spacing, length : SD and E
    """

    number: Word
    date: Day
    laboratory: str = ""
    kind: Literal["VDI/VDE 2634-2", "VDI/VDE 2634-3", "ISO 10360-13"]
    probing_form_mpe_mm: Form | None = None
    sphere_spacing: Permitted | None = None
    length: Permitted | None = None

    @property
    def called(self) -> str:
        """Number and date."""
        return f"certificate {self.number} of {self.date}"

    @property
    def of_scale(self) -> Permitted | None:
        """The error of lengths that permits more, relative to its length."""
        given = [one for one in (self.sphere_spacing, self.length) if one is not None]
        return max(given, key=lambda one: one.mpe_mm / one.length_mm, default=None)


class BallBar(Entry):
    """Two balls at a calibrated distance; U is expanded by k."""

    name: Word
    length_mm: Positive
    U_mm: Positive
    k: Positive = 2.0
    certificate: str = ""

    @model_validator(mode="after")
    def _in_mm(self) -> Self:
        _check_share(self.U_mm, self.length_mm)
        return self

    @property
    def called(self) -> str:
        """Name and certificate."""
        return _joined(", certificate ", self.name, self.certificate)


class Conditions(Entry):
    """What was noted of the room and of the surface."""

    temperature_c: Celsius | None = None
    note: str = ""


class Lab(Entry):
    """Everything the bench states; None where it states nothing."""

    operator: Operator | None = None
    printer: Instrument | None = None
    printing: PrintingError | None = None
    print_job: PrintJob | None = None
    material: Material | None = None
    scanner: Instrument | None = None
    certificate: Certificate | None = None
    ball_bar: BallBar | None = None
    conditions: Conditions | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """What of it a comparison assumes: see ComparisonSettings."""
        found: dict[str, Any] = dict(self.printing.settings if self.printing else {})
        if self.certificate is not None:
            scale, form = (
                self.certificate.of_scale,
                self.certificate.probing_form_mpe_mm,
            )
            if scale is not None:
                found |= {"scan_mpe_mm": scale.mpe_mm}
                found |= {"scan_mpe_length_mm": scale.length_mm}
            if form is not None:
                found |= {"scan_form_mpe_mm": form}
            if scale is not None or form is not None:
                found |= {"scan_certificate": self.certificate.called}
        if self.ball_bar is not None:
            bar = self.ball_bar
            found |= {"ball_bar_mm": bar.length_mm, "ball_bar_u_mm": bar.U_mm / bar.k}
            found |= {"ball_bar": bar.name}
        return found


def _over(base: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with the values of `change`, down to the leaves."""
    merged = dict(base)
    for name, value in change.items():
        below = merged.get(name)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            value = _over(below, value)
        merged[name] = value
    return merged


def read_lab(
    path: Path = LAB, change: Mapping[str, Any] | None = None, where: str = ""
) -> Lab:
    """The bench as a file states it; of no file, nothing.

    Parameters
    ----------
    change : what one comparison states of its own, key by key
    where : it states it
    """
    stated = composed_file(path) if path.is_file() else {}
    checked(Lab, stated, str(path))
    return checked(Lab, _over(stated, change or {}), where or str(path))


def bench_named(path: Path | None) -> Lab:
    """The bench in a file that was named, or in conf/lab.yaml where it is there."""
    if path is not None and not path.is_file():
        raise InputError(f"{path} does not exist: name a file such as {LAB}")
    return read_lab(path or LAB)
