"""Which sphere is which node."""
