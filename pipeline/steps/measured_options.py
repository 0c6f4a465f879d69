"""What the options of comparisons and deviations say for themselves under --help."""

HELP = {
    "gate_mm": "how far from the target its points may be, as the nodes place it",
    "k": "coverage factor of the verdict",
    "S_margin": "largest acceptable error of S",
    "node_margin_mm": "largest acceptable root mean square of the node distances",
    "E_margin": "largest acceptable error of E",
    "registration_sd_mm": "of each sphere, from merging views, beyond the ingest's own",
    "scan_scale_sd": "relative, of the scanner's scale",
    "scan_form_sd_mm": "of a sphere's centre along each axis, from the scanner's form",
    "print_scale_sd": "relative, of the printer",
    "printing_sd_mm": "of a node's place on its bodies, along each axis",
    "joint_play_sd_mm": "of a node in the directions that rigid bodies leave it",
}


def said(name: str, default: object = None) -> str:
    """The help of one option, with its default where it has one."""
    return HELP[name] if default is None else f"{HELP[name]}; {default} if not given"
