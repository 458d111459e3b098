"""Sends open files to the judge.

Mechanism: sends every message with dozens of open descriptors, so that the judge's own run out; writes nothing.
Surface: the socket, which can carry descriptors both ways.
Gain: a judge that runs out of descriptors: not the student's fault.
Challenge: twice
Defence: wrong_answer
"""

import json
import os
import socket
import struct

import protocol


def send_with_files(connection, message):
    body = json.dumps(message).encode()
    files = [os.open("/dev/null", os.O_RDONLY) for _ in range(200)]
    socket.send_fds(connection, [struct.pack("<I", len(body)) + body], files)
    for descriptor in files:
        os.close(descriptor)


protocol.send = send_with_files


def solve(x, out, n):
    pass
