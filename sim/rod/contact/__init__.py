"""Ground and exact Coulomb friction of a node."""
