"""The mechanism as it was printed: lengths, offsets and play from several scans.

Begin with `model`, then `adjust` and `doubts`.
"""
