"""Origami as bars and hinges, with contact: Sect. 4 and 5 of [ZF19]."""
