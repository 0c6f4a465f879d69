"""Commands that a person types, one module each; `door` finds them.

A module parses, calls a step or a room below, prints. The first line of its docstring
is what `morphtrack --help` says of it.
"""
