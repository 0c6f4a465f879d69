"""The papers' figures, one module a paper: functions from tables to a Figure."""
