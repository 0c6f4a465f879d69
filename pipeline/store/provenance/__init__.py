"""From a result back to its scans, and whether each link still holds.

Read `sidecar` (what a file stands on), `chain` (the runs behind it), then `origin` (a
copied file).
"""
