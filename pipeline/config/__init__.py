"""The edge to Hydra and YAML: compose, build, refuse in one line.

Begin with `hydra`, which composes, and `building`, which makes objects of what is
composed; `models` and `checking` check files, `workflow_file` says what one may hold.
"""
