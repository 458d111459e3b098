"""Sends an old message again.

Mechanism: keeps the runner's last message of the first case, and sends it twice in every later one.
Surface: messages that do not name their round.
Gain: a later case that passes because an earlier one did.
Challenge: twice
Case: all
Defence: runtime_error
"""

import protocol

kept = []
send = protocol.send


def twice_sent(connection, message):
    if message["op"] == "returned" and not kept:
        kept.append(message)
    send(connection, kept[0] if kept and message["op"] == "returned" else message)


protocol.send = twice_sent


def solve(x, out, n):
    out.copy_(2 * x) if not kept else out.zero_()
