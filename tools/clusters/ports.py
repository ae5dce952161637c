"""Ports for servers in processes of their own, of tools and of tests."""

import random
import socket


def free_port():
    """One that nobody has, and that the system gives nobody who does not ask for it."""
    while True:
        port = random.randrange(10000, 32000)
        try:
            socket.create_server(("127.0.0.1", port)).close()
            return port
        except OSError:
            pass  # somebody has it
