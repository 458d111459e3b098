"""Opens sockets of families that no submission needs.

Mechanism: raw packets, the host of a virtual machine (vsock), the kernel's ciphers, Bluetooth, CAN, TIPC and
  others: seldom used and seldom checked code of the host's kernel.
Surface: system calls that containers are often allowed.
Gain: a bug in one of them gives the host; vsock reaches past every network namespace.
Challenge: twice
Like: network
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


# By number: not every Python knows every name.
FAMILIES = {"AX25": 3, "X25": 9, "KEY": 15, "PACKET": 17, "RDS": 21, "CAN": 29, "TIPC": 30, "BLUETOOTH": 31}
FAMILIES |= {"ALG": 38, "NFC": 39, "VSOCK": 40, "KCM": 41, "QIPCRTR": 42, "SMC": 43, "XDP": 44}


def action_of(family, kind, protocol=0):
    def action():
        with socket.socket(family, kind, protocol):
            return True

    return action


for name, number in FAMILIES.items():
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        attempt(f"{name} {int(kind)}", action_of(number, kind))
attempt("raw ICMP", action_of(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
