"""Every command: its name, the module whose Typer app holds it, and one line of help.

`grader --help` is printed from this table, without importing Typer or any command. A test checks that the table and the
Typer apps agree, so that the table cannot go stale.
"""

GROUPS = {
    "Solve": {
        "challenges": ("challenges", "List the challenges"),
        "show": ("challenges", "Show a challenge: spec, signature, cases, workloads"),
        "init": ("challenges", "Write a challenge's starter file to begin from"),
        "test": ("judging", "Judge a file on this machine, without a server"),
        "run": ("runs", "Run a file on the server by the public cases alone"),
        "submit": ("submissions", "Submit a file to the server"),
    },
    "Follow": {
        "status": ("submissions", "Show where a submission is"),
        "watch": ("watch", "Follow a submission to its end and print its report"),
        "cancel": ("submissions", "Cancel a submission that is not done"),
        "history": ("submissions", "List your submissions"),
        "diff": ("diff", "Show what differs between two submissions, or a file and one"),
        "open": ("pages", "Open a page of the server in the browser"),
        "leaderboard": ("boards", "Show the leaderboard of a challenge"),
        "progress": ("progress", "Show what you have solved, track by track"),
    },
    "Account and machine": {
        "login": ("account", "Sign in to a server and keep a token for it"),
        "logout": ("account", "Revoke the kept token and forget it"),
        "config": ("config", "Show the client's settings and where each comes from"),
        "completion": (
            "completion",
            "Print what makes a shell complete commands, challenges and submissions",
        ),
        "doctor": ("machine", "Say what this machine can and cannot do, and the mend"),
    },
    "Teach": {
        "challenge": ("challenge", "Make challenges: challenge new, challenge check, challenge diff"),
        "admin": ("admin", "Manage versions of challenges, queues and workers: rejudge, queue, worker"),
    },
    "Run a platform": {
        "up": ("platform", "Start everything: Redis, web and workers; Ctrl-C ends all"),
        "worker": ("platform", "Serve the queue of a device until ended"),
        "user": ("users", "Manage accounts: user add, user password, user invite, ..."),
        "sandbox": ("boxes", "Manage the box image: sandbox build"),
        "db": ("database", "Manage the database: db upgrade"),
    },
}

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
