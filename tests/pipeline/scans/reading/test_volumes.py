"""Volumes of computed tomography: their surface comes in mm, in the file's frame."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import pydicom
import pytest
import tifffile
from pydicom.uid import ExplicitVRLittleEndian

from analysis.spheres.find import find_spheres
from analysis.spheres.picks import PickOptions
from pipeline.scans.reading import volumes
from pipeline.scans.reading.cloud import read_cloud
from pipeline.scans.reading.source import ScanFileError
from pipeline.scans.reading.units import Unit
from sim.arrays import Floats
from tests.helpers.grey_volumes import scanned_volume

CENTRE, RADIUS, SIDE = np.array([4.0, 6.0, 5.0]), 3.0, 0.4
SIZE = (22, 32, 26)
GREY = np.round(
    1000
    * scanned_volume(
        np.random.default_rng(24), CENTRE[None], RADIUS, SIDE, SIZE, noise=0.0
    )
).astype(np.int16)


def nifti(path: Path, affine: Floats, code: int = 1, unit: str = "mm") -> Path:
    image = nibabel.Nifti1Image(GREY, affine)
    image.header.set_xyzt_units(unit)
    image.set_sform(affine, code)
    image.set_qform(affine, code)
    nibabel.save(image, path)
    return path


def dicom_slice(number: int) -> bytes:
    """A slice along x; rows along y, columns along z."""
    one = pydicom.Dataset()
    one.file_meta = pydicom.dataset.FileMetaDataset()
    one.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    one.file_meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.2"
    one.file_meta.MediaStorageSOPInstanceUID = f"1.2.3.{number + 1}"
    one.SOPClassUID, one.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.2", "1.2.3"
    one.SeriesInstanceUID = "1.2.9"
    one.Rows, one.Columns = GREY.shape[1:]
    one.PixelSpacing = [SIDE, SIDE]
    one.ImageOrientationPatient = [0, 0, 1, 0, 1, 0]
    one.ImagePositionPatient = [100 + SIDE * number, 0, 0]
    one.RescaleSlope, one.RescaleIntercept = 2.0, -1000.0
    one.SamplesPerPixel, one.PhotometricInterpretation = 1, "MONOCHROME2"
    one.BitsAllocated, one.BitsStored, one.HighBit = 16, 16, 15
    one.PixelRepresentation = 1
    one.PixelData = GREY[number].tobytes()
    file = io.BytesIO()
    one.save_as(file, enforce_file_format=True)
    return file.getvalue()


def dicom(path: Path, numbers: list[int]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, number in enumerate(numbers):
            archive.writestr(f"ct/IM{name:03}", dicom_slice(number))
        archive.writestr("ct/README.txt", b"a series")
    return path


def tiff(path: Path) -> Path:
    tifffile.imwrite(
        path, GREY, imagej=True, resolution=(1 / SIDE, 1 / SIDE),
        metadata={"spacing": SIDE, "unit": "mm", "axes": "ZYX"},
    )  # fmt: skip
    return path


def ome(path: Path) -> Path:
    micron = {f"PhysicalSize{axis}": 1e3 * SIDE for axis in "XYZ"}
    units = {f"PhysicalSize{axis}Unit": "\u00b5m" for axis in "XYZ"}
    tifffile.imwrite(path, GREY, ome=True, metadata={"axes": "ZYX", **micron, **units})
    return path


def check(path: Path, centre: Floats) -> None:
    """All points on the ball, all around it."""
    points = read_cloud(path, Unit.MM).points - centre
    assert len(points) > 500
    assert np.linalg.norm(points, axis=1) == pytest.approx(RADIUS, abs=0.05)
    np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=0.01)


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
def test_nifti_comes_in_its_frame(tmp_path: Path, name: str) -> None:
    affine = np.array(
        [[0, 0, SIDE, 5], [-SIDE, 0, 0, -7], [0, SIDE, 0, 2], [0, 0, 0, 1.0]]
    )
    x, y, z = CENTRE
    path = nifti(tmp_path / name, affine)
    check(path, np.array([z + 5, -x - 7, y + 2]))
    with pytest.raises(ScanFileError, match=r"E-UNIT .* its unit as mm, not inch"):
        read_cloud(path, Unit.INCH)


def test_nifti_in_microns_or_without_a_frame(tmp_path: Path) -> None:
    scale = np.diag([*3 * [SIDE], 1.0])
    path = nifti(tmp_path / "a.nii", np.diag([1e3, 1e3, 1e3, 1]) @ scale, unit="micron")
    check(path, CENTRE)
    path = nifti(tmp_path / "b.nii", scale, code=0)
    check(path, CENTRE)
    assert "right-handed" in read_cloud(path, Unit.MM).notes[0]


def test_tiff_stacks_of_imagej_and_ome(tmp_path: Path) -> None:
    for path in (tiff(tmp_path / "a.tif"), ome(tmp_path / "a.ome.tiff")):
        check(path, CENTRE[::-1])


def test_slices_of_dicom_in_any_order(tmp_path: Path) -> None:
    numbers = np.random.default_rng(0).permutation(SIZE[0]).tolist()
    check(dicom(tmp_path / "a.zip", numbers), CENTRE + np.array([100, 0, 0]))


def frames(path: Path) -> Path:
    """One file of all slices."""
    whole = pydicom.dcmread(io.BytesIO(dicom_slice(0)))
    whole.NumberOfFrames = SIZE[0]
    whole.PixelData = GREY.tobytes()
    measures, turn, shared = (pydicom.Dataset() for _ in range(3))
    measures.PixelSpacing = whole.PixelSpacing
    turn.ImageOrientationPatient = whole.ImageOrientationPatient
    shared.PixelMeasuresSequence = pydicom.Sequence([measures])
    shared.PlaneOrientationSequence = pydicom.Sequence([turn])
    whole.SharedFunctionalGroupsSequence = pydicom.Sequence([shared])
    each = []
    for number in range(SIZE[0]):
        place, frame = pydicom.Dataset(), pydicom.Dataset()
        place.ImagePositionPatient = [100 + SIDE * number, 0, 0]
        frame.PlanePositionSequence = pydicom.Sequence([place])
        each.append(frame)
    whole.PerFrameFunctionalGroupsSequence = pydicom.Sequence(each)
    whole.save_as(path)
    return path


def test_frames_of_dicom_in_one_file(tmp_path: Path) -> None:
    check(frames(tmp_path / "a.dcm"), CENTRE + np.array([100, 0, 0]))


def bare(path: Path) -> Path:
    tifffile.imwrite(path, GREY)
    return path


def flat(path: Path) -> Path:
    nibabel.save(nibabel.Nifti1Image(np.ones((9, 9, 9), np.int16), np.eye(4)), path)
    return path


def noise(path: Path) -> Path:
    grey = np.random.default_rng(0).normal(size=(20, 20, 20)).astype(np.float32)
    nibabel.save(nibabel.Nifti1Image(grey, np.eye(4)), path)
    return path


def cut(path: Path) -> Path:
    whole = tiff(path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def one(path: Path) -> Path:
    path.write_bytes(dicom_slice(0))
    return path


def packed(path: Path) -> Path:
    path.write_bytes(b"\x1f\x8b")
    return path


@pytest.mark.parametrize(
    ("make", "name", "said"),
    [
        (bare, "a.tif", "does not state how large its voxels are"),
        (cut, "a.tif", "breaks off within its"),
        (flat, "a.nii", "all have one grey value"),
        (noise, "a.nii", "no two heaps"),
        (one, "a.dcm", "DICOM"),
        (packed, "a.xyz.gz", "is packed: unpack it"),
        (packed, "a.nii.gz", "cannot be read as NIfTI"),
        (packed, "a.tiff", "cannot be read as TIFF"),
        (packed, "a.zip", "cannot be read as DICOM"),
        (lambda p: dicom(p, [0, 1, 2, 4]), "a.zip", "evenly spaced: is one missing"),
        (lambda p: dicom(p, []), "a.zip", "no slices of DICOM"),
    ],
)
def test_volumes_that_cannot_be_used_are_refused(
    tmp_path: Path, make: Callable[[Path], Path], name: str, said: str
) -> None:
    with pytest.raises(ScanFileError, match=said) as refused:
        read_cloud(make(tmp_path / name), Unit.MM)
    assert refused.value.code == "E-FORMAT"
    assert "\n" not in str(refused.value)


def endless(path: Path) -> Path:
    """Zeros, each eight of them an element, that pack to a thousandth."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("IM0", bytes(8 * 200_000))
    return path


def deflated(path: Path) -> Path:
    """A data set that unpacks to a thousand times its size."""
    syntax = pydicom.uid.DeflatedExplicitVRLittleEndian
    content = dicom_slice(0).replace(b"1.2.840.10008.1.2.1\0", syntax.encode())
    path.write_bytes(content)
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("IM0", content)
    return path


@pytest.mark.parametrize(
    ("make", "name", "said"),
    [
        (endless, "a.zip", "a header in it has no end"),
        (deflated, "a.zip", "it is deflated"),
        (deflated, "a.dcm", "it is deflated"),
    ],
)
def test_what_unpacks_to_any_size_is_refused_before_it_is(
    tmp_path: Path, make: Callable[[Path], Path], name: str, said: str
) -> None:
    with pytest.raises(ScanFileError, match=said):
        read_cloud(make(tmp_path / name), Unit.MM)


def test_a_volume_larger_than_memory_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volumes, "available_bytes", lambda: 1e4)
    with pytest.raises(ScanFileError, match=r"E-MEMORY .* its voxels take"):
        read_cloud(nifti(tmp_path / "a.nii", np.eye(4)), Unit.MM)


def test_balls_in_a_volume_are_found_and_their_common_bias_is_said(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    grid = 17.0 * np.indices((2, 2, 1)).reshape(3, 4).T + 9.0
    centres = grid + rng.uniform(-1.0, 1.0, grid.shape)
    values = scanned_volume(rng, centres, 6.0, 0.5, (70, 70, 36))
    affine = np.diag([0.5, 0.5, 0.5, 1.0])
    path = tmp_path / "a.nii"
    nibabel.save(nibabel.Nifti1Image((1000 * values).astype(np.int16), affine), path)
    cloud = read_cloud(path, Unit.MM)
    picks = find_spheres(cloud.points, PickOptions(6.0, fused=cloud.bias))
    assert len(picks.spheres) == len(centres)
    errors = picks.centres - centres[
        np.linalg.norm(picks.centres[:, None] - centres, axis=2).argmin(axis=1)
    ]  # fmt: skip
    squares = [
        e @ np.linalg.solve(s.covariance, e) / 3
        for e, s in zip(errors, picks.spheres, strict=True)
    ]
    assert np.abs(errors).max() < 0.02
    assert 0.3 < np.mean(squares) < 2.5
    assert picks.fusion is not None
    assert "threshold of a volume" in picks.fusion.told
