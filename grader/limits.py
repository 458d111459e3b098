"""Every limit, once, with its reason. A limit that a course may change is a default of ``settings`` or of
``challenge.toml``; what stands here alone is fixed."""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

# A long hand-tuned kernel is some 40 KiB; ten times that leaves room and bounds what is stored for ever.
SOURCE_BYTES = 256 * KIB

# Printing is for finding mistakes: 1 MiB is far more than anyone reads, and ends a flood within milliseconds.
OUTPUT_BYTES = 1 * MIB
# What of it is kept in the report: a few screens.
OUTPUT_KEPT_BYTES = 8 * KIB
# Of a wrong output, the elements that are furthest off: enough to see a pattern, few enough for a screen.
WORST_ELEMENTS = 8
# A value in nine significant digits, or a 64-bit integer, or words such as "never written".
VALUE_CHARS = 32
# Of one person's times for a challenge, on one plot: the newest, as many as can be told apart on a phone.
PAST_TIMES = 60
# Lines of two sources that are compared, and that are shown of one run of lines: several times a long kernel. A page
# of 250,000 lines, which a source may have, takes seconds to write.
DIFF_LINES = 2_000
# Looks at a pair of lines while sources are compared: some 0.2 s. Sources of 2,000 lines made to be slow take ten times
# as many; kernels that are edited, a hundredth.
DIFF_STEPS = 1_000_000
# Lines of a source that are numbered on its page: ten times a long kernel. What follows is shown without numbers.
LISTED_LINES = 20_000

# A message of the runner is a few hundred bytes; an error text is cut to fit.
MESSAGE_BYTES = 64 * KIB
ERROR_TEXT_CHARS = 8_000

# torch and triton hold some 1.2 GiB once imported; the rest is the submission's own.
BOX_MEMORY_BYTES = 4 * GIB
# On a GPU: torch, Triton and a CUDA context hold some 4 GiB of host memory; torch.compile starts compilers beside it.
GPU_BOX_MEMORY_BYTES = 24 * GIB
BOX_TMP_BYTES = 512 * MIB
# torch starts threads per core; 256 is far above that and far below a fork bomb.
BOX_PIDS = 256
BOX_CPUS = 2.0
# Processor time from start to the runner's hello. Importing torch takes some 5 s of it; a box that has used so much and
# has not said hello never will.
BOX_START_SECONDS = 60.0
# Ten times that by the clock: a busy host starts a box late, and that is no reason to give it up.
BOX_START_PATIENCE = 10.0
# What one box may take over a whole submission: by the clock on a GPU, of its own processor time on a host's board.
BOX_WALL_SECONDS = 900.0
# A host's board gives a box the clock that it needs for it: a fourth of a core on the average.
BOX_WALL_PATIENCE = 4.0

# Processor time for each program of the compiler, and so many times more for all of them together. A compiler yields to
# whatever is timed on its host, and that it had to wait is not the student's fault.
COMPILE_SECONDS = 60.0
COMPILE_PATIENCE = 4.0
COMPILE_MEMORY_BYTES = 4 * GIB
COMPILE_LOG_BYTES = 64 * KIB
ARTEFACT_BYTES = 64 * MIB
# A library is about 1 MiB, most of it the CUDA runtime: room for those of a thousand submissions, so that what waits
# for its turn is still there when it comes. Those used longest ago go first.
ARTEFACT_STORE_BYTES = 1 * GIB

# Limits on what a box does with the host's processor count the processor time that the box has used, so that a busy
# host decides nothing. By the clock it may take so many times more: beside seven processes that never rest, a box of a
# two-core host gets a twentieth of a core at worst.
CLOCK_PATIENCE = 20.0
# A box that gets next to nothing done is not short of a processor but asleep: after so many times its limit by the
# clock, less than half a percent of a core. A host that gives a box as little has a load of far over a hundred.
IDLE_PATIENCE = 3.0
IDLE_SHARE = 0.005
# Loading runs the module's top level: imports and decorators, no work. Processor time.
LOAD_SECONDS = 30.0
# One call of one case on a GPU, by the clock: a right kernel takes milliseconds.
CASE_SECONDS = 10.0
# One call of one case on a host's board, in processor time. At least twice what right kernels with blocks of 64, tiles
# of 16 x 16 or one row a program need in Triton's interpreter (benchmarks/slow_kernels.py measures them).
CASE_CPU_SECONDS = 60.0
# After a case that used up its processor time the verdict is known. The cases after it get so much, so that an endless
# loop does not keep a worker for minutes.
NEXT_CASE_CPU_SECONDS = 10.0
# After a fault the process is gone or poisoned; three fresh boxes show a student what fails without a stampede.
FRESH_BOXES = 3

# The hidden cases of a judgement end this long after they began, or after twice, four times, ... as long: a submission
# that sleeps can choose among some ten steps instead of any number of milliseconds. An honest one loses at most as much
# as its hidden cases take, and seldom more than this.
HIDDEN_STEP_SECONDS = 0.25

# All that judging one submission may take by the clock, every box of it together: whoever sleeps a little in each call,
# in box after box, holds a worker no longer than this. Honest kernels end within minutes.
JUDGING_CLOCK_SECONDS = 3600.0

# Where nearly all cases fail, they are called again with the sizes in so many other orders, to tell who takes them in
# another one: every exchange of two out of four sizes, every order of three.
SIZE_ORDERS = 6

# What was in a box that somebody outside ended is judged anew so often. A host that goes on killing is our failure, and
# another worker may have better luck.
KILLED_BOXES = 2

# Below this roofline time the uncertainty of a round's fixed cost (1 to 3 us) is more than half a percent of the time.
RANKED_ROOFLINE_US = 400.0

# The lease must outlive a few missed heartbeats and SQLite's longest wait for its lock. A dead worker's submission is
# found after a lease and a sweep at most, and shall run again within 30 s; a wiped Redis has its wake-ups back after a
# sweep.
LEASE_SECONDS = 20.0
HEARTBEAT_SECONDS = 4.0
SWEEP_SECONDS = 4.0
# A wake-up names a function and a queue: some hundred bytes. What is longer is none, and is not read.
WAKEUP_BYTES = 4 * KIB
# When a platform starts, a SQLite file up to this size is checked in full, indices against rows; a larger one page by
# page, and neither for longer than this: a start shall not wait for minutes. Checking reads some 200 MiB a second.
INTEGRITY_BYTES = 256 * MIB
INTEGRITY_SECONDS = 20.0
# With less room than this on the disk of a SQLite file, writes fail sooner or later: its log alone grows to 4 MiB.
FREE_BYTES = 4 * MIB
# Whether a write works is tried this often at most, by each process: load balancers ask every second.
WRITE_PROBE_SECONDS = 5.0
# Our own failures are retried this often before the submission is given up as failed (never the student's fault).
ATTEMPTS = 3
# One failure of a judge may be chance; after this many in a row its GPU is probed. Below ATTEMPTS, so that one bad GPU
# cannot use up the tries of a submission.
BAD_GPU_FAILURES = 2

# argon2 costs some 50 ms of CPU a guess; more than this a minute from one address is not a person.
SIGN_IN_PER_MINUTE = 10
# At one account, from wherever they come: many addresses must not add up to a search. Right ones count, too, so that
# guesses in parallel are not weighed before the first is known to be wrong; nobody signs in this often.
SIGN_IN_PER_ACCOUNT = 40
SIGN_IN_WINDOW_MINUTES = 15
# Answers 401 to tokens that one address may get: a program with an old token stops at its first.
BAD_TOKENS_PER_MINUTE = 120
# Providers give each customer a whole /64 of IPv6 or more, so one person has 2^64 addresses: counted as one client.
IPV6_CLIENT_BITS = 64
# A term and its repeats; who is still there signs in again.
TOKEN_DAYS = 180
# Noting each use would make a write of every read.
TOKEN_USE_SECONDS = 600.0
# After this a database that did not answer is asked again.
RETRY_SECONDS = 5
# A class of 200 before a deadline submits about once a minute each.
SUBMIT_PER_MINUTE = 30
# An editor keeps its draft when nothing was typed for a second or two; two of them at once stay below.
DRAFTS_PER_MINUTE = 90
# Waiting or running at once for one user: enough to compare ideas, too few to fill the queue.
WAITING_PER_USER = 10
# For one challenge within a day: an attempt every five minutes for sixteen hours. It stops loops, not people.
QUOTA = 200
QUOTA_HOURS = 24.0
# Why a queue is paused: a sentence or two.
REASON_CHARS = 500

NAME_CHARS = 64
FILENAME_CHARS = 128
REQUEST_BYTES = 2 * MIB

# Connections to one process of the web, of which there are two. A connection that waits for its client costs a file
# descriptor and some kilobytes, never a thread. When there are too many, the one that kept us waiting longest is closed
# for each new one.
CONNECTIONS = 512
# From one address: a class behind one router, with idle connections closed a little early, if it is a large one.
CONNECTIONS_PER_ADDRESS = 128
# Each connection, two files that an upload and an answer may be spilled to, and the databases'.
OPEN_FILES = 4 * CONNECTIONS
# From its first byte to its last: a long source takes eight seconds over 256 kbit/s.
REQUEST_SECONDS = 30.0
# Without a byte of a request. Browsers keep a connection in the hope of a next page; a new one costs a round trip.
IDLE_SECONDS = 15.0
# Of an answer, from when some of it was left to send to its last byte: 1 MB takes as long over 70 kbit/s.
ANSWER_SECONDS = 120.0
# For a client to hear its last answer to the end, while it may still be sending what was refused.
LINGER_SECONDS = 2.0
# Addresses, cookies and tokens take 2 KiB.
HEADER_BYTES = 32 * KIB
# Of an upload; the rest is in a file until all of it is there.
BODY_IN_MEMORY_BYTES = 64 * KIB
# Of all uploads to one process that are not complete: 256 long sources.
BODIES_BYTES = 64 * MIB

# Accounts. An e-mail address has 254 characters at most (RFC 5321); an IPv6 address with a zone is below 64.
EMAIL_CHARS = 254
ADDRESS_CHARS = 64
# One address has a fourth of what an account takes, so that no single one can shut it for devices that are not known.
SIGN_IN_PER_ADDRESS_AND_ACCOUNT = 10
# A browser in which its owner has signed in before is counted by itself for so long, whatever others try.
KNOWN_DEVICE_DAYS = 180
# A reset link waits in a mailbox while somebody fetches a coffee; a link that proves an address may wait for a day.
RESET_MINUTES = 60
PROOF_HOURS = 24
# Whoever runs a platform may start it in the evening and look into its log in the morning.
FIRST_ADMIN_HOURS = 24
# To one mailbox, for each purpose: more is a nuisance that a stranger could cause.
MAILS_PER_HOUR = 3
# What waits to be sent at once; beyond it the server of the mail is in trouble, and people ask again.
MAILS_WAITING = 200
MAIL_SECONDS = 20.0
# An invitation is for a course: so many seats, so long a term.
INVITATION_USES = 1000
INVITATION_DAYS = 180
# Ten minutes suffice to open a page and sign in; the code of eight letters has 34 random bits, and of guesses at
# it so many a minute are taken from one user.
DEVICE_CODE_MINUTES = 10
DEVICE_POLL_SECONDS = 5
DEVICE_GUESSES_PER_MINUTE = 10
# They cost next to nothing, and a class behind one address logs in within a few minutes.
DEVICE_CODES_PER_MINUTE = 60
# Waiting to be approved at once, in all: beyond it somebody floods, and the table must not grow.
DEVICE_CODES_WAITING = 5_000
# Nobody pages further by number, and counting a term's million for each look at its newest takes longer than the look.
LISTED_MOST = 10_000
# Runs, by public cases alone, of one user: one every half a minute for an hour on end; and two at once, since a new one
# takes the place of the last one for the same challenge.
RUNS_PER_HOUR = 120
RUNS_AT_ONCE = 2
# Who presses the button again and again is counted apart from who submits.
RUN_PER_MINUTE = 30
# Nobody looks at a run of last month; it stands for nothing.
RUN_DAYS = 30
# A profile counts these of its person's latest submissions: several years of the most diligent, and still a few
# milliseconds.
PROFILE_DEEDS = 5_000
# Boards on a profile whose ranks are counted: each takes a walk over that board's entries.
PROFILE_RANKS = 40
# Reports that are opened in search of one that beats torch.compile.
PROFILE_REPORTS = 5
