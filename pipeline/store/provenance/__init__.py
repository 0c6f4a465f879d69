"""From a result back to its scans, and whether each link still holds.

Read `sidecar` (what a file stands on), `chain` (the runs behind it), then `origin` and
`printed` (a copied file, a printed number).
"""
