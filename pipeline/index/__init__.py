"""MLflow, the index of the files that are the result."""
