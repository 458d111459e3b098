"""Every limit, with its reason. Settings and ``challenge.toml`` take their defaults from here; all others are fixed."""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

# Six times a long hand-tuned kernel.
SOURCE_BYTES = 256 * KIB

# A flood reaches this within milliseconds.
OUTPUT_BYTES = 1 * MIB
# Kept in the report.
OUTPUT_KEPT_BYTES = 8 * KIB
# Kept of a run with its own sizes.
OWN_OUTPUT_KEPT_BYTES = 64 * KIB
# A run with its own sizes and inputs: the reference's float64 copies multiply arrays by six.
OWN_CASE_BYTES = 256 * MIB
OWN_CASE_OPERATIONS = 2_000_000_000
OWN_VALUES = 16_384
# Kept of each result, to compare it with the next run's: first elements, and checksums of parts.
OWN_HEAD = 1024
OWN_PARTS = 64
# Elements of a wrong output in a report, largest errors first.
WORST_ELEMENTS = 8
# A map of more elements takes longer than a student waits for.
ERROR_MAP_ELEMENTS = 1 << 24
# Wrong results with more elements share cells of the map.
ERROR_MAP_CELLS = 1 << 16
# A map's packed cells: half a byte each for noise of all codes, in base64.
ERROR_MAP_CHARS = 48 * KIB
# Packed cells and indices of a map's blocks: neighbouring blocks compress by a hundred.
ERROR_MAP_BLOCK_CHARS = 24 * KIB
# Launches that write to one result.
ERROR_MAP_LAUNCHES = 64
# Cases of a report.
ERROR_MAPS = 4
# The bundle with which a page steps through a failing block: 96 KiB, in base64.
STEP_CHARS = 128 * KIB
# Rows and columns shown around the first wrong element.
ERROR_WINDOW = 8
# Fits nine significant digits, a 64-bit integer, or "never written".
VALUE_CHARS = 32
# Newest times of one person that a plot shows.
PAST_TIMES = 60
# Compared or shown of a source: rendering all 250,000 lines that one may have takes seconds.
DIFF_LINES = 2_000
# Line comparisons in one diff: about 0.2 s. Edited kernels need 1 % of this.
DIFF_STEPS = 1_000_000
# Source lines that get a number on a page.
LISTED_LINES = 20_000

# An emulated GPU's profile has up to 256,000 bytes.
MESSAGE_BYTES = 256 * KIB
ERROR_TEXT_CHARS = 8_000

# torch and Triton take about 1.2 GiB of it.
BOX_MEMORY_BYTES = 4 * GIB
# torch, Triton and a CUDA context take about 4 GiB, and torch.compile starts compilers.
GPU_BOX_MEMORY_BYTES = 24 * GIB
BOX_TMP_BYTES = 512 * MIB
# For NCCL.
BOX_SHM_BYTES = 256 * MIB
# Well above torch's threads for each core, far below a fork bomb.
BOX_PIDS = 256
BOX_CPUS = 2.0
# Processor time until the runner's hello; importing torch takes about 5 s.
BOX_START_SECONDS = 60.0
# Factor from that to wall-clock time.
BOX_START_PATIENCE = 10.0
# Per language and judge of a GPU: each takes 0.5 GB of GPU memory and 1 GB of host memory.
SPARE_BOXES = 8
# For a box whose connection is gone: a busy host's engine notices late.
BOX_END_SECONDS = 10.0
# One box, whole submission: wall-clock on a GPU, processor time on the host's board.
BOX_WALL_SECONDS = 900.0
# Factor from that processor time to wall-clock time.
BOX_WALL_PATIENCE = 4.0

# Processor time of each compiler process, and the factor for all of them. Wall-clock time would not do:
# compilers yield to timed runs.
COMPILE_SECONDS = 60.0
COMPILE_PATIENCE = 4.0
COMPILE_MEMORY_BYTES = 4 * GIB
COMPILE_LOG_BYTES = 64 * KIB
# Compiling one Triton source's kernels ahead: wall-clock and processor time. A CUDA source waits at most this
# long. The rest is compiled on the GPU's time.
KERNELS_SECONDS = 10.0
KERNELS_CPU_SECONDS = 60.0
# Extra time on a GPU for Triton's compiling and tuning, per call and per submission; it counts towards
# JUDGING_CLOCK_SECONDS. The runner reports when it compiles and a submission can fake that, so this bounds
# how long it holds the GPU. A softmax with one block of 524,288 elements compiles for half a minute with 16
# warps, two minutes with 8.
KERNELS_OF_CALL_SECONDS = 600.0
KERNELS_OF_SUBMISSION_SECONDS = 900.0
ARTEFACT_BYTES = 64 * MIB
# A thousand compiled libraries; the least recently used are evicted.
ARTEFACT_STORE_BYTES = 1 * GIB

# Factor from processor time to wall-clock limits on the host's board: a busy host must change no verdict.
CLOCK_PATIENCE = 20.0
# A box that uses less than IDLE_SHARE of a core is asleep, not starved. It ends after IDLE_PATIENCE times its
# limit in wall-clock time.
IDLE_PATIENCE = 3.0
IDLE_SHARE = 0.005
# Processor time.
LOAD_SECONDS = 30.0
# Wall-clock time of one call on a GPU: correct kernels take milliseconds.
CASE_SECONDS = 10.0
# Processor time of one call on the host's board: at least twice what correct kernels need in Triton's
# interpreter (measured by benchmarks/slow_kernels.py).
CASE_CPU_SECONDS = 60.0
# Processor time per case retried with reordered sizes, for a hint.
NEXT_CASE_CPU_SECONDS = 10.0
# One answer of a challenge's checker, wall-clock time; and the length of its reason.
CHECKER_SECONDS = 30.0
CHECKER_CHARS = 300
# Per submission: a fault ends or corrupts the process, so the next case needs a new one.
FRESH_BOXES = 3

# The time of all hidden cases is rounded up to this times a power of two. A submission that sleeps to leak
# hidden data then has at most 17 distinguishable durations.
HIDDEN_STEP_SECONDS = 0.1

# Wall-clock time to judge one submission in all boxes: bounds one that sleeps in each call. Honest kernels
# take minutes.
JUDGING_CLOCK_SECONDS = 3600.0

# Orders of the size arguments tried when nearly all cases fail: every swap of two among four, every order of
# three.
SIZE_ORDERS = 6

# Other questions that a wrong result might answer: an argument ignored, two swapped, a matrix read by
# columns. Each costs a call of the reference.
OTHER_QUESTIONS = 400
OTHER_QUESTIONS_SECONDS = 1.0
EXPLAINED_CASES = 3
EXPLAINED_ELEMENTS = 1 << 18

# Retries of a submission whose box was killed from outside, before another worker may take it.
KILLED_BOXES = 2

# Below this roofline time, the uncertainty of a round's fixed cost (1 to 3 us) exceeds half a percent.
RANKED_ROOFLINE_US = 400.0

# A lease outlives a few missed heartbeats and SQLite's longest lock wait. A dead worker's submission restarts
# after one lease and one sweep.
LEASE_SECONDS = 20.0
HEARTBEAT_SECONDS = 4.0
SWEEP_SECONDS = 4.0
# Longer records are not read. A wake-up has a few hundred bytes.
WAKEUP_BYTES = 4 * KIB
# At start, a SQLite file up to this size gets a full check (indices against rows), a larger one a check page
# by page for at most INTEGRITY_SECONDS, at about 200 MiB/s.
INTEGRITY_BYTES = 256 * MIB
INTEGRITY_SECONDS = 20.0
# SQLite's write-ahead log alone grows to 4 MiB.
FREE_BYTES = 4 * MIB
# Interval of trial writes per process: load balancers ask every second.
WRITE_PROBE_SECONDS = 5.0
# Tries of a submission interrupted by our failures.
ATTEMPTS = 3
# Consecutive judge failures before the GPU is probed. Below ATTEMPTS, so one bad GPU cannot use up a
# submission's tries.
BAD_GPU_FAILURES = 2

# From one address, over all accounts: a class signs in behind one address within a minute, and every fifth
# mistypes. Constant guessing gets 4,800 a day.
WRONG_PASSWORDS_PER_MINUTE = 60
WRONG_PASSWORDS_PER_HOUR = 200
# After that, each account can still be tried from there until this many tries failed within an hour, so a
# guessing neighbour does not lock a class out.
WRONG_PASSWORDS_REGARDLESS = 1
# Wrong passwords for one account from all addresses: stops a botnet.
SIGN_IN_PER_ACCOUNT = 40
SIGN_IN_WINDOW_MINUTES = 15
# Passwords checked at once per process: each takes about 50 ms, 64 MiB and four threads. Concurrent guesses
# exceed a limit by at most this many.
PASSWORDS_AT_ONCE = 2
# Queued per process: at 50 ms each the last one waits ten seconds.
SIGN_INS_WAITING = 400
# A class at once. The rest stays free while somebody floods the queue.
SIGN_INS_WAITING_PER_ADDRESS = 200
# Accounts made, and links requested or used, from one address: two classes at once.
SIGN_UPS_PER_MINUTE = 300
SIGN_UPS_PER_HOUR = 600
# Tries to make an account with one personal link.
LINK_TRIES_PER_MINUTE = 10
# Steps of single sign-on from one address: a class takes three each within a minute.
SIGN_ON_STEPS_PER_MINUTE = 1_000
# 401 answers to bad tokens from one address. A program stops at its first; at the start of a term a class has
# one each.
BAD_TOKENS_PER_MINUTE = 300
# The same for the token of /metrics.
METRICS_TOKENS_PER_MINUTE = 120
# An IPv6 prefix that counts as one client: providers give each customer a /64 or more.
IPV6_CLIENT_BITS = 64
# A term and its resits.
TOKEN_DAYS = 180
# Interval of updates of a token's last use, so not every read becomes a write.
TOKEN_USE_SECONDS = 600.0
# Retry-After when the database does not answer.
RETRY_SECONDS = 5
SUBMIT_PER_MINUTE = 30
# Editors save a draft a second or two after typing stops.
DRAFTS_PER_MINUTE = 90
# One user's submissions waiting or running: too few to fill the queue.
WAITING_PER_USER = 10
# Submissions per challenge and day: stops loops, not people.
QUOTA = 200
QUOTA_HOURS = 24.0
# Decided at once: a page of them.
INBOX_DECIDED = 200
# A larger regrade keeps a GPU busy for minutes: its name must be typed to confirm it.
REGRADE_UNCONFIRMED = 20
# The reason shown while a queue is paused.
REASON_CHARS = 500

NAME_CHARS = 64
# Slugs of courses, assignments and challenges, in URLs.
SLUG_CHARS = 64
# Titles of courses and assignments, full names of people.
TITLE_CHARS = 120
# One roster import: ten times a large course, and a second of work.
ROSTER_ROWS = 5_000
FILENAME_CHARS = 128
# Competitions: as many challenges as fit a board's columns, a team that fits one table.
RULES_CHARS = 100_000
COMPETITION_CHALLENGES = 26
TEAM_SIZE = 20
# A final of 500 finalists x 51 repeats of 6 s each takes 42 hours of one GPU.
FINALISTS = 500
# Age of an answer to pages that ask every five seconds whether a competition's board changed.
BOARD_SECONDS = 1.0
FINAL_REPEATS = 51
REQUEST_BYTES = 2 * MIB

# The largest challenge here has 40 files and 130 KiB. In base64 an upload fits a request.
BUNDLE_ARCHIVE_BYTES = 1 * MIB
BUNDLE_BYTES = 4 * MIB
BUNDLE_FILES = 200
# A course's catalogue, each challenge within the limits above.
CATALOGUE_CHALLENGES = 100
# A git repository that is a catalogue: this one has 900 files and 3 MiB.
GIT_FILES = 5_000
GIT_BYTES = 32 * MIB
GIT_FETCH_BYTES = 64 * MIB
GIT_SECONDS = 120.0
GIT_MEMORY_BYTES = 2 * GIB
GIT_LEASE_SECONDS = 300.0
# Calls of a webhook, per key.
HOOKS_PER_MINUTE = 20
# Checking an upload: hundreds of small judgements in one box, in the background.
CHECK_SECONDS = 3600.0
CHECK_MEMORY_BYTES = 8 * GIB
CHECK_PIDS = 1024
CHECK_TMP_BYTES = 1 * GIB
# A check's answer: findings with details, and every submission that was run.
CHECK_ANSWER_BYTES = 4 * MIB
# Interval at which workers look for a waiting check whose wake-up was lost.
CHECK_LOOK_SECONDS = 10.0
# Per account: stops a script in a loop.
UPLOADS_PER_MINUTE = 20
# Requests that take seconds of a processor, such as comparing a class's sources: per account and minute, and
# at once per process.
COSTLY_PER_MINUTE = 20
COMPARISONS_AT_ONCE = 2

# Formatting a source: twice a long kernel, which takes 0.1 s. Nested brackets grow without end by
# indentation. ruff reserves several hundred MiB of addresses.
FORMAT_BYTES = 64 * KIB
FORMAT_OUTPUT_BYTES = 256 * KIB
FORMAT_MEMORY_BYTES = 1 * GIB
FORMAT_SECONDS = 5.0
FORMATS_AT_ONCE = 2

# Per web process (there are two). At the limit, a new connection closes the one idle longest.
CONNECTIONS = 2048
# A class of 150 behind one router, with six connections per browser.
CONNECTIONS_PER_ADDRESS = 1024
# Per connection: itself, two spill files for upload and answer; and the databases.
OPEN_FILES = 4 * CONNECTIONS
# A whole request: a long source takes eight seconds at 256 kbit/s.
REQUEST_SECONDS = 30.0
# A new connection costs browsers a round trip.
IDLE_SECONDS = 15.0
# Sending an answer: 1 MB at 70 kbit/s.
ANSWER_SECONDS = 120.0
# For a client to read its last answer while it still sends a refused upload.
LINGER_SECONDS = 2.0
# Addresses, cookies and tokens take 2 KiB.
HEADER_BYTES = 32 * KIB
# Larger uploads go to a file until they are complete.
BODY_IN_MEMORY_BYTES = 64 * KIB
# Incomplete uploads per process: 256 long sources.
BODIES_BYTES = 64 * MIB

# RFC 5321 allows 254 characters; an IPv6 address with a zone has fewer than 64.
EMAIL_CHARS = 254
ADDRESS_CHARS = 64
# A quarter of an account's wrong passwords, so no single address can lock out unknown devices.
SIGN_IN_PER_ADDRESS_AND_ACCOUNT = 10
# A browser keeps its own counter for this long after its owner signed in.
KNOWN_DEVICE_DAYS = 180
# A link that resets a password, and one that confirms an address.
RESET_MINUTES = 60
PROOF_HOURS = 24
# An operator may start a platform in the evening and read its log in the morning.
FIRST_ADMIN_HOURS = 24
# Mails to one mailbox per purpose, so that a stranger cannot flood it.
MAILS_PER_HOUR = 3
MAILS_WAITING = 200
MAIL_SECONDS = 20.0
# An invitation covers a course: its seats, its term.
INVITATION_USES = 1000
INVITATION_DAYS = 180
# A code of eight letters has 34 random bits, and one user gets this many guesses a minute.
DEVICE_CODE_MINUTES = 10
DEVICE_POLL_SECONDS = 5
DEVICE_GUESSES_PER_MINUTE = 10
# Per address or user: half a class may try last term's code. Constant guessing finds one of a hundred codes
# (34 random bits each) in four years, and only gains a place in a course.
WRONG_JOIN_CODES_PER_MINUTE = 120
# One user's wrong codes of teams and competition invitations, which are as long as join codes.
WRONG_TEAM_CODES_PER_MINUTE = 10
# Codes for command lines requested from one address: a class logs in within a minute.
DEVICE_CODES_PER_MINUTE = 300
# Codes waiting for approval. One address can have 3,000.
DEVICE_CODES_WAITING = 20_000
# Counting a term's million rows takes longer than reading the newest.
LISTED_MOST = 10_000
# One user's runs (public cases only). A new run replaces the last one for the same challenge, so two overlap.
RUNS_PER_HOUR = 120
RUNS_AT_ONCE = 2
# Runs, counted apart from submissions.
RUN_PER_MINUTE = 30
# Those under Nsight Compute or compute-sanitizer, each of which holds a GPU for seconds.
CARD_TOOL_RUNS_PER_HOUR = 20
CARD_TOOL_SECONDS = 60.0
# Launches that Nsight Compute counts, and errors of compute-sanitizer that are kept.
CARD_LAUNCHES = 16
CARD_FINDINGS = 20
# Runs count for nothing, so they are removed after this.
RUN_DAYS = 30
# Latest submissions counted in a profile, in milliseconds.
PROFILE_SUBMISSIONS = 5_000
# Ranks on a profile: each needs a walk over a board's entries.
PROFILE_RANKS = 40
# Reports opened to find one that beats torch.compile.
PROFILE_REPORTS = 5
# Requests to providers of single sign-on, for which people wait, and to learning platforms.
OUTBOUND_CONNECT_SECONDS = 5.0
OUTBOUND_READ_SECONDS = 10.0
# A whole answer, however slowly it drips in.
OUTBOUND_TOTAL_SECONDS = 20.0
# A provider's document or keys have a few KiB.
OUTBOUND_BYTES = 1 * MIB
# A token with a hundred groups still fits a header.
OUTBOUND_TOKEN_CHARS = 64 * KIB
# An unknown key is fetched at most this often: anyone can send a token that names one.
KEYS_KEPT_SECONDS = 3600.0
KEYS_AGAIN_SECONDS = 10.0
# How far another site's clock may be off.
CLOCK_SKEW_SECONDS = 60
# From the button to the return: time to find a second factor.
SIGN_ON_MINUTES = 15
# Per browser (tabs): more would outgrow its cookie.
SIGN_ONS_AT_ONCE = 3
# OpenID Connect allows 255 characters for a person's id. An authority is an issuer, for a learning platform
# with our client id.
SUBJECT_CHARS = 255
AUTHORITY_CHARS = 512

# A comment or a question is a page of text at most; announcements are longer.
COMMENT_CHARS = 8_000
# A private note on a submission: lists carry all of it.
NOTE_CHARS = 4_000
# Sources of a portfolio: hundreds of kernels, of which a PDF takes seconds to write.
PORTFOLIO_BYTES = 1 * MIB
PORTFOLIO_SUBMISSIONS = 200
# PDFs that a web process writes at once, and how long one waits for its turn.
PORTFOLIOS_AT_ONCE = 1
PORTFOLIO_SECONDS = 20.0
ANNOUNCEMENT_CHARS = 20_000
# Path of a page that a notice links to.
PATH_CHARS = 200
# Signed key in a mail's link: content, time and signature.
SIGNED_KEY_CHARS = 500
# Regrades of an assignment that a student may request by default.
REGRADE_REQUESTS = 3
# Comments per submission; one student's unanswered questions per course.
COMMENTS = 500
QUESTIONS_OPEN = 20
NOTICE_DAYS = 180
# Collects notices, so that not every comment is a mail.
DIGEST_MINUTES = 30
# Of a process that sends digests, renewed before each mail, which may take several times MAIL_SECONDS.
CHORE_LEASE_SECONDS = 300.0
# If it is unknown whether the mail server accepted a digest, it is sent once more with the same Message-ID.
# Some servers would keep every copy.
DIGEST_TRIES = 2
# Our part has 42 characters, a domain at most 253.
MESSAGE_ID_CHARS = 320
DIGEST_LINES = 30
# A learning platform's URLs of gradebook columns carry ids and queries.
URL_CHARS = 1024
# From a click in the learning platform to its token, including a second factor; then to choose an account, a
# course or an assignment.
LAUNCH_MINUTES = 15
CHOOSE_MINUTES = 60
# Assignment links, deployments and hosts of one learning platform.
LTI_ENTRIES = 200
# A deleted account's source that counts for a team is kept until the results, or this long after the
# competition's end.
TEAM_SOURCE_DAYS = 90
# A refused grade is sent again after this, then after twice as long each time up to the most: 22 tries take
# three days.
SCORE_RETRY_SECONDS = 30.0
SCORE_RETRY_MOST_SECONDS = 6 * 3600.0
SCORE_TRIES = 22
# Lease on one grade: several requests, each of which may time out.
SCORE_HELD_SECONDS = 180.0
# Interval of comparing grades with those that platforms have: a course of 500 takes up to 1 s.
SCORES_COMPARED_SECONDS = 30.0
SCORES_AT_ONCE = 50
