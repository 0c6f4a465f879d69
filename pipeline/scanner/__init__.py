"""A virtual lab: prints a simulated part and scans it. All it makes is synthetic."""
