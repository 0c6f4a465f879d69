"""Runs on disk: what names them, where they are, who works on them.

Begin with `keys`, then `runs`, `attempts`, `leases`; `checkpoints`, `digests` and
`provenance` stand on these.
"""
