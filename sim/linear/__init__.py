"""Symmetric factorisations of fixed pattern: order, analyse once, factorise often.

Read `sparse` (what callers use), then `ordering` (which unknown first), `symbolic` (the
places of the factor) and `fronts` (the arithmetic).
"""
