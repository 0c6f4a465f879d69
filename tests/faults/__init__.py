"""What goes wrong on real machines, done on purpose: make test-faults."""
