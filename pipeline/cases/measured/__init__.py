"""The measured sets: what conf/measured names by `_target_`, a module a set.

Each class is an experiment (pipeline.cases.experiment); its physics stands in sim.
"""
