"""Every command, its module, and a line for `grader --help`, which must not import Typer."""

GROUPS = {
    "Solve": {
        "challenges": ("challenges", "List the challenges"),
        "show": ("challenges", "Show a challenge: spec, signature, cases, workloads"),
        "init": ("challenges", "Write a challenge's starter file"),
        "test": ("judging", "Judge a file on this machine, without a server"),
        "profile": ("judging", "Count the work of a file's kernels line by line, without a GPU"),
        "replay": ("judging", "Run a case of a submission again on this machine's emulated GPU"),
        "run": ("submissions", "Run a file on the server on the public cases only"),
        "submit": ("submissions", "Submit a file to the server"),
        "batch": ("batches", "Submit many kernels, and print their results as they come"),
    },
    "Follow": {
        "status": ("submissions", "Show the state of a submission, and its report"),
        "watch": ("submissions", "Follow a submission to its end and print its report"),
        "cancel": ("submissions", "Cancel a submission that is not done"),
        "history": ("submissions", "List your submissions, or others', by challenge, verdict, flag and time"),
        "quiz": ("quiz", "Show the questions on an accepted kernel, or answer one"),
        "comment": ("comments", "Show the comments on a submission, or comment on it"),
        "notice": ("notices", "Read notices, and choose which ones you get: notice list, read, choose"),
        "diff": ("diff", "Compare two submissions, or a file and a submission"),
        "compare": (
            "compare",
            "Compare an accepted kernel with staff's or others', by counters",
        ),
        "open": ("pages", "Open a page of the server in the browser"),
        "leaderboard": ("boards", "Show the leaderboard of a challenge"),
        "competition": ("competitions", "Take part in competitions, and run them: competition list, ..."),
        "verify": ("verify", "Check a certificate of a result, without a server"),
        "progress": ("progress", "Show what you have solved, track by track"),
    },
    "Account and machine": {
        "login": ("account", "Sign in to a server and keep a token for it"),
        "logout": ("account", "Revoke the kept token and delete it here"),
        "account": ("personal", "Set who reads a profile, write a portfolio, export or delete an account"),
        "config": ("config", "Show the client's settings and where each comes from"),
        "completion": (
            "completion",
            "Print a script for completion in a shell",
        ),
        "doctor": ("doctor", "Show what this machine can do, and how to fix the rest"),
    },
    "Teach": {
        "challenge": (
            "challenge",
            "Write, prove and publish challenges: challenge new, check, publish",
        ),
        "course": ("courses", "Run courses: course create, staff, join, log"),
        "roster": ("courses", "Manage who is in a course: roster import, invite, code"),
        "assignment": ("grading", "Manage assignments: assignment set, publish, extend"),
        "gradebook": ("grading", "Show and export grades: gradebook show, grades, export, override"),
        "inbox": ("results", "Review the items that need a decision by staff"),
        "regrade": ("results", "Judge again, compare, and publish what changes"),
        "void": ("results", "Void a result, with a reason that its author reads, or undo that"),
        "announcement": ("announcements", "Announce something to everybody: announcement make, list"),
        "question": ("announcements", "Ask the staff, and answer: question ask, list, answer"),
        "feedback": ("feedback", "Manage rubrics and regrade requests: feedback set, score, ask, requests"),
        "lti": ("lti", "Connect Canvas and Moodle: lti add, show, release, send"),
        "admin": ("admin", "Manage versions, queues, workers and stored data: admin queue, ..."),
    },
    "Run a platform": {
        "up": ("platform", "Start everything: Redis, web and workers; Ctrl-C stops all"),
        "worker": ("platform", "Serve the queue of a device until stopped"),
        "fleet": ("fleet", "Start workers by a scheduler while work waits: fleet run"),
        "user": ("users", "Manage accounts: user add, user password, user invite, ..."),
        "sandbox": ("platform", "Manage the box image: sandbox build"),
        "db": ("platform", "Manage the database: db upgrade"),
    },
}

COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
