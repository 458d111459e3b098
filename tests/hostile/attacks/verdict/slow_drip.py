"""Answers one byte at a time.

Mechanism: sends its answer byte by byte, each just before a timeout.
Surface: deadlines that restart with every byte.
Gain: a judge that waits for ever; others wait behind it.
Challenge: twice
Defence: time_limit
Limits: IDLE_PATIENCE 1
"""

import json
import struct
import time

import protocol


def drip(connection, message):
    body = json.dumps(message).encode()
    for byte in struct.pack("<I", len(body)) + body:
        connection.send(bytes([byte]))
        time.sleep(0.2)


def solve(x, out, n):
    protocol.send = drip
    out.copy_(2 * x)
