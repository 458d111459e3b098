"""Looks for secrets in environments and command lines.

Mechanism: reads its own environment, that of every process it sees, their command lines, and their memory.
Surface: the worker's environment, if it passes it on.
Gain: the database's password, the secret of the seeds (with it the hidden cases), a cloud's credentials.
Challenge: twice
Like: host_files
Defence: runtime_error
Box: docker
"""

import os

won, refused = [], []


def attempt(name, action):
    try:
        found = action()
    except Exception as error:
        refused.append(f"{name}: {error}")
    else:
        (won if found else refused).append(name)


WORDS = "GRADER_SECRET GRADER_DATABASE GRADER_REDIS GRADER_DATA GRADER_TOKEN HOSTILE_CANARY".split()
WORDS += [
    "TOKEN=",
    "PASSWORD=",
    "SECRET=",
    "AWS_",
    "AZURE_",
    "GOOGLE_",
    "postgresql://",
    "postgresql+",
    "redis://",
    "SSH_AUTH",
    "DOCKER_HOST",
]


def looked(path):
    def action():
        with open(path, "rb") as file:
            text = file.read(1 << 20)
        return [word for word in WORDS if word.encode() in text]

    attempt(path, action)


def others():
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (os.getpid(), 1)]


attempt("its own", lambda: [name for name in os.environ if any(word in f"{name}=" for word in WORDS)])
for pid in ("1", "self", *others()):
    for what in ("environ", "cmdline"):
        looked(f"/proc/{pid}/{what}")
attempt("other processes", others)


def solve(x, out, n):
    if not won:
        raise PermissionError("; ".join(refused))
    print("won:", won)
    out.copy_(2 * x)
