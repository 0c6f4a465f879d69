"""Tables and figures from what was simulated and what was scanned."""
