"""Volumes of computed tomography: NIfTI, TIFF stacks, DICOM; their surface as points.

The surface is where grey values pass halfway between two materials. Where that is not
the true surface, all balls come out too large or too small by the same, as in a mesh.
"""

import logging
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from mmap import ACCESS_READ as READ
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analysis.grey_volume import materials, surface_points
from pipeline.scans.memory import available_bytes
from pipeline.scans.reading.optional import package, unreadable
from pipeline.scans.reading.source import Choices, Fault, ScanFileError, Source
from pipeline.scans.thresholds import SIZE
from sim.arrays import Floats

Load = Callable[[], NDArray[Any]]

CAUSE = "threshold of a volume"
MICRON = ("micron", "microns", "um", "\u00b5m", "\u03bcm", "\\u00B5m")
LENGTHS_MM = {"mm": 1.0, "cm": 10.0, "inch": 25.4, "meter": 1e3, "m": 1e3, "nm": 1e-6}
LENGTHS_MM |= dict.fromkeys(MICRON, 1e-3)
OME_SIZE = re.compile(r'PhysicalSize([XYZ])(Unit)?="([^"]*)"')
MUCH, MUCH_MORE = 1e9, 4  # bytes that are said, and times the file's size
DEFLATED = rb"1\.2\.840\.10008\.1\.2\.1\.99"  # a transfer syntax of DICOM
PLAIN = "export it anew, uncompressed"
UNEVEN = 0.01  # of the distance of slices by which it may differ
HANDED = "which way its axes turn is not said: taken as right-handed"


@contextmanager
def _quietly(path: Path, kind: str) -> Iterator[None]:
    """Let a package speak by one refusal alone."""
    talk = [logging.getLogger(name) for name in ("tifffile", "nibabel", "pydicom")]
    levels = [one.level for one in talk]
    for one in talk:
        one.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ScanFileError:
        raise
    except Exception as error:
        raise unreadable(path, kind, error) from error
    finally:
        for one, level in zip(talk, levels, strict=True):
            one.setLevel(level)


def read_nifti(path: Path, size: int, _choices: Choices) -> Source:
    """NIfTI, packed or not; in its own frame."""
    if not path.name.lower().endswith((".nii", ".nii.gz")):
        raise ScanFileError(
            Fault.FORMAT, path, "is packed", "unpack it; only .nii.gz is read as it is"
        )
    nibabel = package("nibabel", path)
    with _quietly(path, "NIfTI"):
        image = nibabel.load(path)
        header = image.header
        unit = header.get_xyzt_units()[0]
        placed = int(header["sform_code"]) or int(header["qform_code"])
        bare = np.diag([*header.get_zooms()[:3], 1.0])
        affine = np.asarray(image.affine if placed else bare)
        shape = tuple(n for n in image.shape if n > 1)
        kind = header.get_data_dtype()
    affine = np.diag([*3 * [LENGTHS_MM.get(unit, 1.0)], 1.0]) @ affine
    comments = ("unit mm",) if unit in LENGTHS_MM else ()
    return _source(
        "nifti", path, size, shape, kind.itemsize, affine,
        lambda: np.asanyarray(image.dataobj.get_unscaled()).reshape(shape),
        comments, () if placed else (HANDED,),
    )  # fmt: skip


def read_tiff(path: Path, size: int, _choices: Choices) -> Source:
    """A stack of pictures in one TIFF file whose voxel size ImageJ or OME states."""
    tifffile = package("tifffile", path)
    with _quietly(path, "TIFF"), tifffile.TiffFile(path) as file:
        series = file.series[0]
        shape = tuple(n for n in series.shape if n > 1)
        kind, sides = np.dtype(series.dtype), _voxel_of(file)
        coloured = "S" in series.axes
        pictures = (file.imagej_metadata or {}).get("images", 1)
    if len(shape) < 3 and pictures > 1:
        raise _wrong(path, f"breaks off within its {pictures} pictures", "copy it anew")
    if coloured:
        raise _wrong(path, "holds colours, not grey values", "save it as grey values")
    if sides is None:
        raise _wrong(
            path, "does not state how large its voxels are",
            "save it by ImageJ with its scale in mm, as OME-TIFF, or as NIfTI",
        )  # fmt: skip
    affine = np.zeros((4, 4))
    affine[[0, 1, 2, 3], [2, 1, 0, 3]] = [*sides, 1.0]
    return _source(
        "tiff", path, size, shape, kind.itemsize, affine,
        lambda: np.asarray(tifffile.imread(path)).reshape(shape), ("unit mm",),
        (HANDED,),
    )  # fmt: skip


def _voxel_of(file: Any) -> tuple[float, float, float] | None:
    """x, y and z of a voxel, mm, by OME or ImageJ."""
    if file.ome_metadata:
        said = {a + u: text for a, u, text in OME_SIZE.findall(file.ome_metadata)}
        if not set("XYZ") <= set(said):
            return None
        mm = [LENGTHS_MM.get(said.get(f"{a}Unit", "um"), np.nan) for a in "XYZ"]
        x, y, z = (float(said[a]) * scale for a, scale in zip("XYZ", mm, strict=True))
        return x, y, z
    said = file.imagej_metadata or {}
    tags = file.pages[0].tags
    scale = LENGTHS_MM.get(str(said.get("unit", "")))
    if scale is None or "spacing" not in said or "XResolution" not in tags:
        return None
    each = [tags[name].value for name in ("XResolution", "YResolution")]
    x, y = (scale * below / above for above, below in each)
    return x, y, scale * float(said["spacing"])


def read_dicom(path: Path, size: int, _choices: Choices) -> Source:
    """DICOM of many frames in one file, or a zip archive of slices."""
    pydicom = package("pydicom", path)
    slices: list[Any]
    with _quietly(path, "DICOM"):
        if path.suffix.lower() == ".zip":
            slices = _unzipped(path, pydicom)
            places = [_vector(one, "ImagePositionPatient") for one in slices]
            turn = _vector(slices[0], "ImageOrientationPatient")
            sides = _vector(slices[0], "PixelSpacing")
        else:
            with path.open("rb") as file, mmap(file.fileno(), 0, access=READ) as held:
                _check_deflated(path, held)
            slices = [pydicom.dcmread(path, defer_size=1 << 16)]
            places, turn, sides = _frames(slices[0])
        rows, columns = int(slices[0].Rows), int(slices[0].Columns)
    if len(places) < 2:
        raise _wrong(
            path, "holds one slice", "pack all slices of the series into one .zip"
        )
    down, along = turn[3:], turn[:3]
    order, step = _stacked(path, np.array(places), np.cross(along, down))
    affine = np.eye(4)
    affine[:3] = np.column_stack(
        [step, down * sides[0], along * sides[1], places[order[0]]]
    )
    return _source(
        "dicom", path, size, (len(places), rows, columns), 4, affine,
        lambda: _grey(slices, order), ("unit mm",), (),
    )  # fmt: skip


def _unzipped(path: Path, pydicom: Any) -> list[Any]:
    """The slices in an archive, whose pixels are parsed later."""
    with zipfile.ZipFile(path) as archive:
        files = [item for item in archive.infolist() if not item.is_dir()]
        _check_room(path, sum(item.file_size for item in files))
        found = []
        for item in files:
            slice_ = _Slice(path, archive.read(item))
            _check_deflated(path, slice_.getbuffer())
            one = pydicom.dcmread(slice_, force=True)
            found += [one] if "ImagePositionPatient" in one else []
    if not found:
        raise _wrong(path, "holds no slices of DICOM", "pack the slices of one series")
    series = {str(one.get("SeriesInstanceUID", "")) for one in found}
    if len(series) > 1:
        raise _wrong(path, f"holds {len(series)} series", "pack the slices of one")
    return found


class _Slice(BytesIO):
    """A slice, read in no more parts than its header may have: zeros are elements."""

    def __init__(self, path: Path, content: bytes) -> None:
        super().__init__(content)
        self._path, self._parts = path, 100_000

    def read(self, size: int | None = -1) -> bytes:
        self._parts -= 1
        if self._parts < 0:
            raise _wrong(self._path, "a header in it has no end", PLAIN)
        return super().read(size)


def _check_deflated(path: Path, content: mmap | memoryview) -> None:
    """Refuse a data set that unpacks to whatever size, before it is."""
    if re.search(DEFLATED, content):
        raise _wrong(path, "it is deflated", PLAIN)


def _vector(item: Any, name: str) -> Floats:
    return np.array([float(value) for value in getattr(item, name)])


def _frames(item: Any) -> tuple[list[Floats], Floats, Floats]:
    """Places, axes and sides of pixels of the frames of one file, mm."""
    shared = item.SharedFunctionalGroupsSequence[0]
    each = item.PerFrameFunctionalGroupsSequence
    sides = _vector(shared.PixelMeasuresSequence[0], "PixelSpacing")
    turn = _vector(shared.PlaneOrientationSequence[0], "ImageOrientationPatient")
    places = [
        _vector(one.PlanePositionSequence[0], "ImagePositionPatient") for one in each
    ]
    return places, turn, sides


def _stacked(path: Path, places: Floats, normal: Floats) -> tuple[list[int], Floats]:
    """The order of slices along their normal, and the step from one to the next."""
    order = np.argsort(places @ normal)
    steps = np.diff(places[order], axis=0)
    step = steps.mean(axis=0)
    if not (np.abs(steps - step) < UNEVEN * np.linalg.norm(step)).all():
        raise _wrong(
            path, "its slices are not evenly spaced: is one missing?",
            "pack all slices of one series",
        )  # fmt: skip
    return order.tolist(), step


def _grey(slices: list[Any], order: list[int]) -> NDArray[Any]:
    """(slices, rows, columns) of the slices in order."""
    if len(slices) == 1:
        return np.asarray(slices[0].pixel_array)[order]
    return np.array(
        [
            slices[k].pixel_array * np.float32(slices[k].get("RescaleSlope", 1.0))
            + np.float32(slices[k].get("RescaleIntercept", 0.0))
            for k in order
        ]
    )


def _source(
    kind: str, path: Path, size: int, shape: tuple[int, ...], itemsize: int,
    affine: Floats, load: Load, comments: tuple[str, ...], notes: tuple[str, ...],
) -> Source:  # fmt: skip
    if len(shape) != 3:
        raise _wrong(path, f"has {len(shape)} axes, not 3", "export one volume")
    if not np.isfinite(affine).all() or abs(np.linalg.det(affine)) < 1e-30:
        raise _wrong(path, "its voxels have no size", "export it again with its scale")
    need = int(np.prod(shape)) * itemsize
    _check_room(path, need)
    if need > max(MUCH, MUCH_MORE * size):
        notes = (*notes, f"its voxels take {need / 1e9:.1f} GB of memory")
    blocks = _blocks(path, kind, load, affine)
    return Source(kind, blocks, comments=comments, notes=notes, bias=CAUSE)


def _check_room(path: Path, need: int) -> None:
    if need > (there := available_bytes()):
        raise ScanFileError(
            Fault.MEMORY, path,
            f"its voxels take {need / 1e9:.1f} GB, {there / 1e9:.1f} GB are free",
            "crop the volume, or use a larger machine",
        )  # fmt: skip


def _blocks(path: Path, kind: str, load: Load, affine: Floats) -> Iterator[Floats]:
    """Points of the surface in the file's frame."""
    with _quietly(path, kind):
        values = load()
    try:
        level = materials(values).halfway
    except ValueError as error:
        raise _wrong(path, str(error), "crop it to the part in air") from error
    found = 0
    for places in surface_points(values, level):
        found += len(places)
        if found > SIZE.most_points:
            raise _wrong(
                path, f"its surface has more than {SIZE.most_points} points",
                "crop the volume, or smooth it",
            )  # fmt: skip
        yield places @ affine[:3, :3].T + affine[:3, 3]


def _wrong(path: Path, problem: str, remedy: str) -> ScanFileError:
    return ScanFileError(Fault.FORMAT, path, problem, remedy)
