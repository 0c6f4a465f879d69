"""Scan files and what the steps on scans share: tables, seeds, labels, hints.

`reading` has the formats; `spheres` the table that ingest leaves.
"""
