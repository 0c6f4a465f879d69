"""What the options of comparisons and deviations say for themselves under --help."""

HELP = {
    "gate_mm": "how far from the target its points may be, as the nodes place it",
    "k": "coverage factor of the verdict",
    "S_margin": "largest acceptable error of S",
    "node_margin_mm": "largest acceptable root mean square of the node distances",
    "E_margin": "largest acceptable error of E",
    "registration_sd_mm": "of each sphere, from merging views, beyond the ingest's own",
    "scan_scale_sd": "relative, of the scanner's scale",
    "scan_mpe_mm": "in its place: largest error its certificate permits a length",
    "scan_mpe_length_mm": "the longest length of the certificate",
    "scan_form_mpe_mm": "largest probing form error (PF) its certificate permits",
    "scan_certificate": "what these were read from, as the budget is to name it",
    "ball_bar_mm": "calibrated distance of two balls that lie in the scene",
    "ball_bar_u_mm": "its standard uncertainty",
    "ball_bar": "its name",
    "print_scale_sd": "relative, of the printer",
    "printing_sd_mm": "of a node's place on its bodies, along each axis",
    "joint_play_sd_mm": "of a node in the directions that rigid bodies leave it",
}


def said(name: str, default: object = None) -> str:
    """The help of one option, with its default where it has one."""
    return HELP[name] if default is None else f"{HELP[name]}; {default} if not given"
