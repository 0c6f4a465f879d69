"""Files, command lines and tools around the solvers.

Begin with `steps` (what is done), `cases` (what is simulated) and `store` (what a run
is on disk); `workflow` says how what is wanted gets made, docs/architecture.md why.
"""
