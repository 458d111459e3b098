"""Looks for network services.

Mechanism: TCP to this host's own services (Redis, PostgreSQL, the web, the Docker engine), to the host behind
  the bridge, to a cloud's metadata, to a name; UDP, IPv6, and a listening port.
Surface: the network.
Gain: the queue, the database, the machine's credentials; a way to send the hidden cases out.
Challenge: twice
Defence: runtime_error
Box: docker
"""

import socket

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


def tcp(host, port):
    def action():
        with socket.create_connection((host, port), timeout=0.3):
            return True

    attempt(f"{host}:{port}", action)


def udp(host, kind):
    def action():
        with socket.socket(kind, socket.SOCK_DGRAM) as talking:
            return talking.sendto(b"hello", (host, 53)) == 5

    attempt(f"{host} udp", action)


for port in (22, 80, 2375, 2376, 5000, 5432, 6379, 8000):
    tcp("127.0.0.1", port)
for host in ("169.254.169.254", "172.17.0.1", "10.0.0.1", "1.1.1.1", "fe80::1", "2606:4700:4700::1111"):
    tcp(host, 80)
udp("8.8.8.8", socket.AF_INET)
udp("172.17.0.1", socket.AF_INET)
udp("2001:4860:4860::8888", socket.AF_INET6)
attempt("a name", lambda: socket.getaddrinfo("example.org", 80))
attempt("interfaces", lambda: [name for _, name in socket.if_nameindex() if name != "lo"])


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
