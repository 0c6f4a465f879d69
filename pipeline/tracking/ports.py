"""Ports of this machine, for the servers of the index."""

import socket

from pipeline.terminal.errors import InputError, one_line

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as asked:
        asked.bind((LOOPBACK, 0))
        return int(asked.getsockname()[1])


def check_port(host: str, port: int) -> None:
    """Refuse a port that is taken, or an address of another machine."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        raise InputError(
            f"port {port} of {host} is not to be had ({one_line(error)}): "
            "give another --port"
        ) from error
