"""What a comparison assumes of scanner and print, and what it asks of a simulation."""

from dataclasses import dataclass

from sim.core.options import Checked, NotNegative, Positive

SCAN_SCALE_SD = 1e-3  # relative: 0.05 to 0.1 % is usual of scanners


@dataclass(frozen=True)
class Acceptance(Checked):
    """What is asked of the simulation.

    Parameters
    ----------
    k : coverage factor of the verdict
    S_margin : largest acceptable error of the shape factor
    node_margin_mm : largest acceptable root mean square of the node distances
    E_margin : largest acceptable error of the distance from the target
    """

    k: Positive = 2.0
    S_margin: Positive = 0.02
    node_margin_mm: Positive = 3.0
    E_margin: Positive = 0.02


@dataclass(frozen=True)
class UncertaintyOptions(Checked):
    """What is known of scanner, printer and joints, as standard deviations.

    Parameters
    ----------
    registration_sd_mm : of each sphere, from merging the views, where the ingest has
        not accounted for it
    scan_scale_sd : relative, of the scanner's calibration; where it is not
        stated, `SCAN_SCALE_SD`, a usual one
    print_scale_sd : relative, of the printer
    printing_sd_mm : of a node's place on its bodies, along each axis
    joint_play_sd_mm : of a node in the directions that rigid bodies leave it
    scan_form_sd_mm : of a centre along each axis, from the scanner's error of form
    """

    registration_sd_mm: NotNegative = 0.0
    scan_scale_sd: NotNegative = SCAN_SCALE_SD
    print_scale_sd: NotNegative = 1e-3
    printing_sd_mm: NotNegative = 0.03
    joint_play_sd_mm: NotNegative = 0.1
    scan_form_sd_mm: NotNegative = 0.0


@dataclass(frozen=True)
class SeriesTerms(Checked):
    """What is known and asked, in the unit of the measured values.

    Parameters
    ----------
    u : standard uncertainty of a measured value where its row states none
    u_simulated : of a simulated one, from numbers that went in and from discretisation
    margin : largest acceptable error, root mean square; 0: not stated
    """

    u: NotNegative = 0.0
    u_simulated: NotNegative = 0.0
    margin: NotNegative = 0.0
