"""Robots of rods: each is a case that `simulate` takes as it is."""

from pipeline.api.cases import remembered
from pipeline.cases.robots import JumperCase, StarCase
from pipeline.cases.rod_in_space import TendonArmCase
from pipeline.cases.user_rods import OwnRodCase, RodFileCase

__all__ = ["arm", "from_file", "from_nodes", "jumper", "star"]

from_file = remembered(RodFileCase)
from_nodes = OwnRodCase
star = StarCase
jumper = JumperCase
arm = TendonArmCase
