"""How time steps are made."""

from dataclasses import dataclass

from sim.choice import Choice
from sim.limits import (
    refuse_negative,
    refuse_unless_count,
    refuse_unless_positive,
)
from sim.rod.contact.coulomb import ContactRule


class Integrator(Choice):
    """How internal forces are weighted in a step.

    newmark is the rule of [Hu20], which may gain energy where amplitudes are large;
    energy_momentum keeps energy, and angular momentum, at any amplitude.
    """

    NEWMARK = "newmark"
    ENERGY_MOMENTUM = "energy_momentum"


@dataclass(frozen=True)
class StepOptions:
    """Time steps; h and the tolerance are as in simulators derived from [Hu20]'s.

    accuracy : m, error of a step; 0 makes every step h long, else h is the longest
    tolerance : m, error that Newton's iteration may leave
    complementarity : residual of the contact problem that a step may leave
    landing : gap with which a node may land, as a fraction of the shortest edge; at
        most contact_gap
    contact_gap : distance from the ground at which a contact may end a step, likewise
    shortest : part of h, shorter than which no step is made but on a ground, where none
        so long will do
    closing : fraction of the gap of a contact that a step closes
    residual : of the largest force on a node, which may be unbalanced after a step
    strain : largest stretch of an edge
    balance : of the energies at work, which a step, or all of them, may make or lose
    locate_reversals : cut steps where sliding reverses, in place of an error of first
        order in h
    reuse : contraction up to which a factorisation is kept; 0 renews it always
    """

    h: float = 2.5e-3  # s
    integrator: Integrator = Integrator.NEWMARK
    accuracy: float = 0.0
    tolerance: float = 1e-9
    contact: ContactRule = ContactRule.EXACT
    complementarity: float = 1e-9  # m/s
    landing: float = 5e-5
    contact_gap: float = 1e-4
    closing: float = 0.2
    shortest: float = 1.0 / 64.0  # of h
    max_newton: int = 25
    reuse: float = 0.1
    residual: float = 1e-6
    strain: float = 1.0
    balance: float = 0.1
    locate_reversals: bool = False

    def __post_init__(self) -> None:
        for name, kind in (("contact", ContactRule), ("integrator", Integrator)):
            object.__setattr__(self, name, kind(getattr(self, name)))
        refuse_unless_positive(
            self, "h", "tolerance", "complementarity", "landing", "shortest", of="steps"
        )
        refuse_unless_positive(self, "contact_gap", of="steps")
        refuse_unless_positive(self, "residual", "strain", "balance", of="steps")
        refuse_negative(self, "accuracy", "reuse", "closing", of="steps")
        refuse_unless_count(self, "max_newton", of="steps")
        if self.locate_reversals and self.contact is not ContactRule.EXACT:
            raise ValueError(
                "steps: locate_reversals is of contact exact, not "
                f"{self.contact.value}: leave it out"
            )
        for name in ("shortest", "closing"):
            value = getattr(self, name)
            if value > 1.0:
                raise ValueError(f"steps: {name} is {value}: give a fraction up to 1")

    @property
    def steadier(self) -> str:
        """What to try where steps do not converge, or make energy."""
        other = self.integrator is Integrator.NEWMARK
        return f"choose a smaller h{', or integrator energy_momentum' * other}"


CONSERVING = StepOptions(integrator=Integrator.ENERGY_MOMENTUM)  # of rods of one's own
