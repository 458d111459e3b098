import socket


def connect(address: str) -> socket.socket:
    """``address``: ``fd:N`` (an inherited stream socket) or ``path:/sock/s``.

    Raises ValueError for another form, OSError if the parent is gone.
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
