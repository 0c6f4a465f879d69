"""Morphing of multibody structures towards target shapes, after [dJ23]."""
