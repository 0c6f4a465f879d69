"""Measured sets: what conf/measured names, fitted, predicted and compared.

Begin with `set_file` and `records`; `fit`, `predict` and `compare` are the steps, which
leave what `prediction_file` reads. The others are the sets, a module each, which
conf/measured names by `_target_`.
"""
