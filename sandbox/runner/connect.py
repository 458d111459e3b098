"""How a program in a box reaches its parent: by a socket it inherited, or by one it finds in the box."""

import socket


def connect(address: str) -> socket.socket:
    """The stream socket that ``address`` names: ``fd:N`` (inherited) or ``path:/sock/s`` (to connect to).

    Raises ValueError for another form, OSError when the parent is gone.
    """
    kind, _, where = address.partition(":")
    if kind == "fd":
        connection = socket.socket(fileno=int(where))
        connection.set_inheritable(False)
        return connection
    if kind == "path":
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(where)
        return connection
    raise ValueError(f"address {address!r}: expected fd:N or path:/...")
