"""What a FOLD file may say in the entries that are read; others are left alone."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from pipeline.config.models import Coordinate, Rows

Edge = Annotated[list[int], Field(min_length=2, max_length=2)]


class FoldFrame(BaseModel):
    """A frame, or what a file says of its own; null where a program left it open."""

    model_config = ConfigDict(extra="ignore", strict=True)

    vertices_coords: list[list[Coordinate]] | None = None
    edges_vertices: Rows[Edge]
    edges_assignment: Rows[str | None]
    edges_foldAngle: Rows[float | None]  # noqa: N815 - as the format writes it
    faces_vertices: list[list[int]] | None = None
    frame_unit: str = "unit"
    frame_classes: Rows[str]
    frame_inherit: bool = False
    frame_parent: int = 0


class FoldFile(FoldFrame):
    """A file with its further frames."""

    file_frames: Rows[FoldFrame]
