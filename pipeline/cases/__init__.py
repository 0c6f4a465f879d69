"""What conf/case builds: problems, each with a recorder for one run.

A case is frozen and does nothing until the first of its `steps()` is asked for. Its
`recorder()` lives for one run: it sees every step, and says what is written of it
(`pipeline.steps.simulate` calls both). To read: `record`, then `morph`, `origami` and
`robots`, one for each solver; the others are made like these.
"""
