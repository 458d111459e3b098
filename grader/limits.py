"""Every limit. Settings and ``challenge.toml`` take their defaults from here; all others are fixed."""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

# Six times a long hand-tuned kernel.
SOURCE_BYTES = 256 * KIB

# A flood reaches this within milliseconds.
OUTPUT_BYTES = 1 * MIB
OUTPUT_KEPT_BYTES = 8 * KIB
OWN_OUTPUT_KEPT_BYTES = 64 * KIB
# The reference's float64 copies multiply arrays by six.
OWN_CASE_BYTES = 256 * MIB
OWN_CASE_OPERATIONS = 2_000_000_000
OWN_VALUES = 16_384
# First elements, and checksums of parts, to compare a result with the next run's.
OWN_HEAD = 1024
OWN_PARTS = 64
WORST_ELEMENTS = 8
# A larger map takes longer than a student waits for.
ERROR_MAP_ELEMENTS = 1 << 24
# Larger results share cells.
ERROR_MAP_CELLS = 1 << 16
# Half a byte per cell for noise of all codes, in base64.
ERROR_MAP_CHARS = 48 * KIB
# Neighbouring blocks compress by a hundred.
ERROR_MAP_BLOCK_CHARS = 24 * KIB
ERROR_MAP_LAUNCHES = 64
ERROR_MAPS = 4
# To step through a failing block: 96 KiB, in base64.
STEP_CHARS = 128 * KIB
ERROR_WINDOW = 8
# Nine significant digits, a 64-bit integer, or "never written".
VALUE_CHARS = 32
PAST_TIMES = 60
# Rendering all 250,000 lines of a source takes seconds.
DIFF_LINES = 2_000
# About 0.2 s. Edited kernels need 1 % of this.
DIFF_STEPS = 1_000_000
LISTED_LINES = 20_000

# An emulated GPU's profile has up to 256,000 bytes.
MESSAGE_BYTES = 256 * KIB
ERROR_TEXT_CHARS = 8_000

# torch and Triton take about 1.2 GiB of it.
BOX_MEMORY_BYTES = 4 * GIB
# torch, Triton and a CUDA context take about 4 GiB, and torch.compile starts compilers.
GPU_BOX_MEMORY_BYTES = 24 * GIB
BOX_TMP_BYTES = 512 * MIB
# NCCL needs it.
BOX_SHM_BYTES = 256 * MIB
# torch has a few threads per core; a fork bomb needs many more.
BOX_PIDS = 256
BOX_CPUS = 2.0
# Processor time until the runner's hello; torch takes 5 s.
BOX_START_SECONDS = 60.0
# Wall-clock time over processor time.
BOX_START_PATIENCE = 10.0
# Per language and judge of a GPU: each takes 0.5 GB of GPU memory and 1 GB of host memory.
SPARE_BOXES = 8
# A busy host's engine notices late that a box is gone.
BOX_END_SECONDS = 10.0
# Wall-clock time on a GPU, processor time on the host's board.
BOX_WALL_SECONDS = 900.0
# Wall-clock time over processor time.
BOX_WALL_PATIENCE = 4.0

# Processor time of each compiler process, and the factor for all of them: compilers yield to timed runs.
COMPILE_SECONDS = 60.0
COMPILE_PATIENCE = 4.0
COMPILE_MEMORY_BYTES = 4 * GIB
COMPILE_LOG_BYTES = 64 * KIB
# Wall-clock and processor time to compile Triton's kernels ahead. A CUDA source waits at most this long. The
# rest is compiled on the GPU's time.
KERNELS_SECONDS = 10.0
KERNELS_CPU_SECONDS = 60.0
# Extra time for Triton's compiling, within JUDGING_CLOCK_SECONDS. A submission can fake that it compiles, so
# this bounds how long it holds the GPU. One block of 524,288 elements compiles for two minutes with 8 warps.
KERNELS_OF_CALL_SECONDS = 600.0
KERNELS_OF_SUBMISSION_SECONDS = 900.0
ARTEFACT_BYTES = 64 * MIB
# Fits a thousand libraries.
ARTEFACT_STORE_BYTES = 1 * GIB

# Wall-clock time over processor time on the host's board: a busy host must change no verdict.
CLOCK_PATIENCE = 20.0
# A box that uses less than IDLE_SHARE of a core is asleep, not starved: it ends after IDLE_PATIENCE times its
# limit in wall-clock time.
IDLE_PATIENCE = 3.0
IDLE_SHARE = 0.005
# Processor time.
LOAD_SECONDS = 30.0
# Wall-clock time on a GPU: correct kernels take milliseconds.
CASE_SECONDS = 10.0
# Processor time on the host's board: at least twice what correct kernels need in Triton's interpreter
# (benchmarks/slow_kernels.py).
CASE_CPU_SECONDS = 60.0
# Processor time per case retried with reordered sizes.
NEXT_CASE_CPU_SECONDS = 10.0
# Wall-clock time of a checker's answer.
CHECKER_SECONDS = 30.0
CHECKER_CHARS = 300
# A fault ends or corrupts the process, so the next case needs a new one.
FRESH_BOXES = 3

# The hidden cases' time is rounded up to this times a power of two. A submission that sleeps to leak hidden
# data has at most 17 distinguishable durations.
HIDDEN_STEP_SECONDS = 0.1

# Wall-clock time in all boxes: bounds a submission that sleeps. Honest kernels take minutes.
JUDGING_CLOCK_SECONDS = 3600.0

# Tried when nearly all cases fail: every swap of two among four sizes, every order of three.
SIZE_ORDERS = 6

# What a wrong result might answer: an argument ignored, two swapped, a matrix read by columns. Each costs a
# call of the reference.
OTHER_QUESTIONS = 400
OTHER_QUESTIONS_SECONDS = 1.0
EXPLAINED_CASES = 3
EXPLAINED_ELEMENTS = 1 << 18

# Retries of a submission whose box was killed from outside.
KILLED_BOXES = 2

# Below this, the uncertainty of a round's fixed cost (1 to 3 us) exceeds half a percent.
RANKED_ROOFLINE_US = 400.0

# Outlives a few missed heartbeats and SQLite's longest lock wait.
LEASE_SECONDS = 20.0
HEARTBEAT_SECONDS = 4.0
SWEEP_SECONDS = 4.0
# A pilot takes no submission in the last part of its lifetime: nearly all are judged within a minute or two.
PILOT_LEAD_SECONDS = 120.0
PILOT_LEAD_SHARE = 0.2
# A wake-up has a few hundred bytes.
WAKEUP_BYTES = 4 * KIB
# A worker over HTTPS asks for work this long at a time: shorter than proxies' usual 60 s.
WORK_WAIT_SECONDS = 20.0
# Threads of a web process that sleep for waiting workers; as many workers wait for a thread.
WORK_WAITING = 128
# Larger libraries are sent in parts, which fit into REQUEST_BYTES as text.
ARTEFACT_PART_BYTES = 1 * MIB
# A worker's request, unpacked: a report has at most a few MiB.
WORKER_BODY_BYTES = 32 * MIB
# SQLite files up to this size get a full check at start, larger ones a check page by page for at most
# INTEGRITY_SECONDS, at 200 MiB/s.
INTEGRITY_BYTES = 256 * MIB
INTEGRITY_SECONDS = 20.0
# SQLite's write-ahead log alone grows to 4 MiB.
FREE_BYTES = 4 * MIB
# Load balancers ask every second.
WRITE_PROBE_SECONDS = 5.0
# Tries of a submission after our failures.
ATTEMPTS = 3
# Below ATTEMPTS, so one bad GPU cannot use up a submission's tries.
BAD_GPU_FAILURES = 2

# Wrong passwords from one address: a class signs in within a minute, and every fifth mistypes. Constant
# guessing gets 4,800 a day.
WRONG_PASSWORDS_PER_MINUTE = 60
WRONG_PASSWORDS_PER_HOUR = 200
# After that, tries per account and hour, so a guessing neighbour does not lock a class out.
WRONG_PASSWORDS_REGARDLESS = 1
# Wrong passwords from all addresses: stops a botnet.
SIGN_IN_PER_ACCOUNT = 40
SIGN_IN_WINDOW_MINUTES = 15
# Each takes 50 ms, 64 MiB and four threads. Concurrent guesses exceed a limit by at most this many.
PASSWORDS_AT_ONCE = 2
# At 50 ms each the last one waits ten seconds.
SIGN_INS_WAITING = 400
# A class at once; the rest stays free in a flood.
SIGN_INS_WAITING_PER_ADDRESS = 200
# Two classes at once, from one address.
SIGN_UPS_PER_MINUTE = 300
SIGN_UPS_PER_HOUR = 600
LINK_TRIES_PER_MINUTE = 10
# A class takes three each within a minute.
SIGN_ON_STEPS_PER_MINUTE = 1_000
# From one address. A program stops at its first; at the start of a term a class has one each.
BAD_TOKENS_PER_MINUTE = 300
METRICS_TOKENS_PER_MINUTE = 120
# Providers give each customer a /64 or more.
IPV6_CLIENT_BITS = 64
# A term and its resits.
TOKEN_DAYS = 180
# Not every read of a token may write its last use.
TOKEN_USE_SECONDS = 600.0
# Retry-After without a database.
RETRY_SECONDS = 5
SUBMIT_PER_MINUTE = 30
# Editors save a second or two after typing stops.
DRAFTS_PER_MINUTE = 90
# Too few to fill the queue.
WAITING_PER_USER = 10
# Stops loops, not people.
QUOTA = 200
QUOTA_HOURS = 24.0
# A batch's lines reach the queue a few at a time. Thousands of kernels of 3 KiB each.
BATCH_ENTRIES = 10_000
BATCH_BYTES = 32 * MIB
# JSON may double a source.
BATCH_LINE_BYTES = 2 * SOURCE_BYTES
BATCH_ID_CHARS = 128
# Unfinished ones of one account.
BATCHES_AT_ONCE = 4
# Places that a batch leaves for what its sender submits by hand.
BATCH_LEAVES_WAITING = 2
BATCH_LEAVES_RUNS = 1
# Parts of files, and looks at results.
BATCH_CALLS_PER_MINUTE = 120
# Kept results of a finished one.
BATCH_DAYS = 30
BATCH_RESULTS = 500
# A call for results may wait, below proxies' usual 30 s, and holds one of a process's eight threads.
BATCH_WAIT_SECONDS = 20.0
BATCH_WAITS_AT_ONCE = 2
INBOX_DECIDED = 200
# A larger regrade keeps a GPU busy for minutes: it must be confirmed by name.
REGRADE_UNCONFIRMED = 20
REASON_CHARS = 500

NAME_CHARS = 64
SLUG_CHARS = 64
TITLE_CHARS = 120
# Ten times a large course.
ROSTER_ROWS = 5_000
FILENAME_CHARS = 128
RULES_CHARS = 100_000
COMPETITION_CHALLENGES = 26
TEAM_SIZE = 20
# A final of 500 x 51 repeats of 6 s each takes 42 hours of one GPU.
FINALISTS = 500
# Pages ask every five seconds.
BOARD_SECONDS = 1.0
FINAL_REPEATS = 51
REQUEST_BYTES = 2 * MIB

# The largest challenge here has 40 files and 130 KiB. In base64 an upload fits a request.
BUNDLE_ARCHIVE_BYTES = 1 * MIB
BUNDLE_BYTES = 4 * MIB
BUNDLE_FILES = 200
CATALOGUE_CHALLENGES = 100
# This repository has 900 files and 3 MiB.
GIT_FILES = 5_000
GIT_BYTES = 32 * MIB
GIT_FETCH_BYTES = 64 * MIB
GIT_SECONDS = 120.0
GIT_MEMORY_BYTES = 2 * GIB
GIT_LEASE_SECONDS = 300.0
HOOKS_PER_MINUTE = 20
# Hundreds of small judgements in one box.
CHECK_SECONDS = 3600.0
CHECK_MEMORY_BYTES = 8 * GIB
CHECK_PIDS = 1024
CHECK_TMP_BYTES = 1 * GIB
CHECK_ANSWER_BYTES = 4 * MIB
# For a check whose wake-up was lost.
CHECK_LOOK_SECONDS = 10.0
# Stops a script in a loop.
UPLOADS_PER_MINUTE = 20
# Requests that take seconds of a processor: per account and minute, and at once per process.
COSTLY_PER_MINUTE = 20
COMPARISONS_AT_ONCE = 2

# Twice a long kernel, which takes 0.1 s. Nested brackets grow by indentation. ruff reserves several hundred
# MiB of addresses.
FORMAT_BYTES = 64 * KIB
FORMAT_OUTPUT_BYTES = 256 * KIB
FORMAT_MEMORY_BYTES = 1 * GIB
FORMAT_SECONDS = 5.0
FORMATS_AT_ONCE = 2

# Per web process (there are two). At the limit, the connection idle longest is closed.
CONNECTIONS = 2048
# A class of 150 behind one router, with six per browser.
CONNECTIONS_PER_ADDRESS = 1024
# Per connection: a socket and two spill files.
OPEN_FILES = 4 * CONNECTIONS
# A long source takes eight seconds at 256 kbit/s.
REQUEST_SECONDS = 30.0
# A new connection costs a round trip.
IDLE_SECONDS = 15.0
# 1 MB at 70 kbit/s.
ANSWER_SECONDS = 120.0
# A client reads its answer while it still sends a refused upload.
LINGER_SECONDS = 2.0
# Addresses, cookies and tokens take 2 KiB.
HEADER_BYTES = 32 * KIB
# Larger uploads go to a file.
BODY_IN_MEMORY_BYTES = 64 * KIB
# Per process: 256 long sources.
BODIES_BYTES = 64 * MIB

# RFC 5321 allows 254; an IPv6 address with a zone has fewer than 64.
EMAIL_CHARS = 254
ADDRESS_CHARS = 64
# No single address can lock out unknown devices.
SIGN_IN_PER_ADDRESS_AND_ACCOUNT = 10
# A browser has its own counter this long after its owner signed in.
KNOWN_DEVICE_DAYS = 180
RESET_MINUTES = 60
PROOF_HOURS = 24
FIRST_ADMIN_HOURS = 24
# To one mailbox per purpose: a stranger cannot flood it.
MAILS_PER_HOUR = 3
MAILS_WAITING = 200
MAIL_SECONDS = 20.0
# A course's seats, its term.
INVITATION_USES = 1000
INVITATION_DAYS = 180
# A code has 34 random bits, and one user gets this many guesses a minute.
DEVICE_CODE_MINUTES = 10
DEVICE_POLL_SECONDS = 5
DEVICE_GUESSES_PER_MINUTE = 10
# Half a class may try last term's code. Constant guessing finds one of a hundred codes (34 random bits) in
# four years, and only gains a place in a course.
WRONG_JOIN_CODES_PER_MINUTE = 120
# Codes of teams and invitations are as long as join codes.
WRONG_TEAM_CODES_PER_MINUTE = 10
# A class logs in from one address within a minute.
DEVICE_CODES_PER_MINUTE = 300
DEVICE_CODES_WAITING = 20_000
# Counting a term's million rows takes longer than reading the newest.
LISTED_MOST = 10_000
# A new run replaces the last one for the challenge, so two overlap.
RUNS_PER_HOUR = 120
RUNS_AT_ONCE = 2
# Counted apart from submissions.
RUN_PER_MINUTE = 30
# Each holds a GPU for seconds.
CARD_TOOL_RUNS_PER_HOUR = 20
CARD_TOOL_SECONDS = 60.0
# Nsight Compute's launches, and compute-sanitizer's errors.
CARD_LAUNCHES = 16
CARD_FINDINGS = 20
# Runs count for nothing.
RUN_DAYS = 30
PROFILE_SUBMISSIONS = 5_000
# Each needs a walk over a board.
PROFILE_RANKS = 40
# Opened to find one that beats torch.compile.
PROFILE_REPORTS = 5
# People wait for single sign-on meanwhile.
OUTBOUND_CONNECT_SECONDS = 5.0
OUTBOUND_READ_SECONDS = 10.0
# However slowly an answer drips in.
OUTBOUND_TOTAL_SECONDS = 20.0
# A document or keys have a few KiB.
OUTBOUND_BYTES = 1 * MIB
# A hundred groups still fit a header.
OUTBOUND_TOKEN_CHARS = 64 * KIB
# Anyone can send a token that names an unknown key.
KEYS_KEPT_SECONDS = 3600.0
KEYS_AGAIN_SECONDS = 10.0
CLOCK_SKEW_SECONDS = 60
# Time to find a second factor.
SIGN_ON_MINUTES = 15
# More tabs would outgrow the cookie.
SIGN_ONS_AT_ONCE = 3
# OpenID Connect allows 255 for a person's id. An authority is an issuer, perhaps with our client id.
SUBJECT_CHARS = 255
AUTHORITY_CHARS = 512

COMMENT_CHARS = 8_000
NOTE_CHARS = 4_000
# Hundreds of kernels, whose PDF takes seconds.
PORTFOLIO_BYTES = 1 * MIB
PORTFOLIO_SUBMISSIONS = 200
# Per web process, and the wait for a turn.
PORTFOLIOS_AT_ONCE = 1
PORTFOLIO_SECONDS = 20.0
ANNOUNCEMENT_CHARS = 20_000
PATH_CHARS = 200
# Content, time and signature.
SIGNED_KEY_CHARS = 500
REGRADE_REQUESTS = 3
# Per submission; per student and course.
COMMENTS = 500
QUESTIONS_OPEN = 20
# Posts and reports of errors that a person writes in 24 hours: a lively discussion, and no flood.
POSTS_A_DAY = 60
THREADS_LISTED = 30
NOTICE_DAYS = 180
# Not every comment may be a mail.
DIGEST_MINUTES = 30
# Renewed before each mail, which may take several times MAIL_SECONDS.
CHORE_LEASE_SECONDS = 300.0
# If a mail server may have accepted a digest, it is sent once more with the same Message-ID. Some servers
# would keep every copy.
DIGEST_TRIES = 2
# Our part has 42 characters, a domain at most 253.
MESSAGE_ID_CHARS = 320
DIGEST_LINES = 30
# URLs of gradebook columns carry ids and queries.
URL_CHARS = 1024
# From a click to the platform's token, including a second factor; then to choose an account, a course or an
# assignment.
LAUNCH_MINUTES = 15
CHOOSE_MINUTES = 60
# Links, deployments and hosts of one platform.
LTI_ENTRIES = 200
# Keeps a deleted account's source that counts for a team, if a competition has no results.
TEAM_SOURCE_DAYS = 90
# Doubles up to the most: 22 tries take three days.
SCORE_RETRY_SECONDS = 30.0
SCORE_RETRY_MOST_SECONDS = 6 * 3600.0
SCORE_TRIES = 22
# Several requests, each of which may time out.
SCORE_HELD_SECONDS = 180.0
# A course of 500 takes up to 1 s.
SCORES_COMPARED_SECONDS = 30.0
SCORES_AT_ONCE = 50
