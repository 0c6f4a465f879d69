"""A share of the long tests, drawn by their names: all shares together are all."""

from zlib import crc32


def in_share(name: str, share: str) -> bool:
    """Whether a test of this name is in the share K/N, the K-th of N."""
    one, _, many = share.partition("/")
    if not (one.isdigit() and many.isdigit() and 1 <= int(one) <= int(many)):
        raise ValueError(f"a share is K/N with K from 1 to N, not {share}")
    return crc32(name.encode()) % int(many) == int(one) - 1
