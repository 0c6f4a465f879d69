"""Point clouds from files, format by format, damaged ones refused with their place.

Begin with `cloud`, then `source`, which says what every reader answers with.
"""
