"""What axes say of the columns of steps.csv: quantity and unit."""

UNITS = {
    "E": "distance from the target $E$ (-)",
    "S": "shape factor $S$ (-)",
    "strain_energy": "strain energy (J)",
    "contact_energy": "energy of contacts (J)",
    "kinetic": "kinetic energy (J)",
    "potential": "potential energy (J)",
    "time": "time $t$ (s)",
    "x_c": "centroid $x_c$ (m)",
    "y_c": "centroid $y_c$ (m)",
    "z_c": "centroid $z_c$ (m)",
    "way_over_H": "way / $H$ (-)",
    "x_first": "$x$ of the first node (m)",
    "y_first": "$y$ of the first node (m)",
    "load": "load (N)",
    "displacement": "displacement (m)",
}
