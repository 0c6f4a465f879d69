"""A real Slurm on one node: make test-cluster."""
