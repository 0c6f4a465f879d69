"""Ports of this machine."""

import socket


def free_port() -> int:
    """A port that no process listens on."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])
