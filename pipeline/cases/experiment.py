"""What one measured set brings to the frame: its inputs, its quantities, its model.

A class of pipeline.cases.measured named by `model: {_target_: ...}` in
conf/measured/<set>.yaml. The frame calls, in this order: `inputs` for every record;
`predict`, as often as fit, draws and refinement want; and only when all predictions are
written, `measured`. So `inputs` must read nothing that is to be predicted:
`FoundRecord.columns` reads the columns that are asked for and no others.
"""

from collections.abc import Mapping
from typing import Protocol, Self, runtime_checkable

from analysis.measured.series import Quantities, RecordInputs
from pipeline.formats.record_files import FoundRecord


class Experiment(Protocol):
    """A measured set; every method gives the same twice for the same arguments."""

    def inputs(self, record: FoundRecord) -> RecordInputs:
        """What is known of a record before it is compared.

        Raises
        ------
        InputError
            where the record cannot be predicted: it is then named with this reason
        """
        ...

    def predict(
        self, parameters: Mapping[str, float], record: RecordInputs
    ) -> Quantities:
        """Every quantity of a record.

        Parameters
        ----------
        parameters : all inputs of conf/measured/<set>.yaml, fitted or not, by name

        Raises
        ------
        NotConvergedError
            where the solver finds no state
        """
        ...

    def measured(self, record: FoundRecord, predicted: Quantities) -> Quantities:
        """The same quantities as measured, in the same unit, by the same extractor.

        Parameters
        ----------
        predicted : of this record, for sets whose places are compared after a rigid
            motion or whose nodes are found by continuity; others leave it alone
        """
        ...

    def refined(self) -> Self:
        """The same model with half the step; itself where nothing is discretised."""
        ...


@runtime_checkable
class Placing(Protocol):
    """An experiment that chooses how a record lies on what is predicted of it."""

    def placing(
        self, record: FoundRecord, predicted: Quantities
    ) -> Mapping[str, float | list[float]]:
        """What was chosen, among what, and how well each choice fits."""
        ...


@runtime_checkable
class WholeCurves(Protocol):
    """An experiment of which some values are taken over the whole of a curve."""

    @property
    def over(self) -> Mapping[str, str]:
        """By quantity, the curve: compared only where all of it is measured."""
        ...
