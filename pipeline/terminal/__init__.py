"""What a person sees and types: errors of one line, arguments, names, progress.

Begin with `errors`: every command ends through it.
"""
