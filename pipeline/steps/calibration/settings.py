"""What a calibration estimates, as a command line or a file gives it."""

from dataclasses import dataclass, fields

import numpy as np

from analysis.as_built.model import Free, Unknowns
from analysis.validation.uncertainty import UncertaintyOptions

PAIR = "two nodes such as 3-7"
PLACE = "a pose and a node such as wide:5"


@dataclass(frozen=True)
class Settings:
    """What is estimated.

    Parameters
    ----------
    links, bodies, joints : own (each deviates by itself), equal (those of one nominal
        value together) or nominal (not at all)
    link_play, joint_play : estimate play
    scatter : estimate how much more centres scatter than stated
    scale : estimate the scanner's scale
    scan_scale_sd : relative, of the scanner's calibration, unless `scale`
    references : pairs of nodes, such as 3-7, whose distance is as nominal
    leave_out : pose and node, such as wide:5, that are taken as not seen
    again : simulate and compare every pose again
    """

    links: str = "own"
    bodies: str = "own"
    joints: str = "nominal"
    link_play: bool = True
    joint_play: bool = False
    scatter: bool = True
    scale: bool = False
    scan_scale_sd: float = UncertaintyOptions.scan_scale_sd
    references: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    again: bool = True

    def __post_init__(self) -> None:
        _ = self.unknowns, self.places
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is bool and not isinstance(value, bool):
                raise ValueError(f"{field.name} must be true or false, not {value!r}")
        if not 0.0 <= self.scan_scale_sd < np.inf:
            raise ValueError(
                f"scan_scale_sd must be zero or positive, not {self.scan_scale_sd}"
            )

    @property
    def unknowns(self) -> Unknowns:
        """What is estimated."""
        return Unknowns(
            links=Free(self.links),
            bodies=Free(self.bodies),
            joints=Free(self.joints),
            link_play=self.link_play,
            joint_play=self.joint_play,
            scatter=self.scatter,
            scale=self.scale,
            references=tuple(_pair(text) for text in self.references),
        )

    @property
    def places(self) -> tuple[tuple[str, int], ...]:
        """Poses and nodes that are left out."""
        return tuple(_place(text) for text in self.leave_out)


def _pair(text: str) -> tuple[int, int]:
    a, _, b = str(text).partition("-")
    if not (a.isdigit() and b.isdigit()):
        raise ValueError(f"the reference {text!r} is no pair of nodes: give {PAIR}")
    return int(a), int(b)


def _place(text: str) -> tuple[str, int]:
    pose, _, node = str(text).rpartition(":")
    if not (pose and node.isdigit()):
        raise ValueError(f"{text!r} to leave out is no place: give {PLACE}")
    return pose, int(node)
