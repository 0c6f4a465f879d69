"""What conf/case builds: one module a solver."""
