"""The edge to Hydra and YAML: compose, build, refuse in one line.

Begin with `hydra`, which composes, and `build_objects`, which makes objects of what is
composed; `value_types` and `config_files` check files, `workflow_file` says what one
may hold.
"""
