"""Every limit, with its reason. Settings and ``challenge.toml`` take their defaults from here; all others are fixed."""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

# Six times a long hand-tuned kernel.
SOURCE_BYTES = 256 * KIB

# Nobody reads 1 MiB of debug output, and a flood reaches it within milliseconds.
OUTPUT_BYTES = 1 * MIB
# Kept in the report: a few screens.
OUTPUT_KEPT_BYTES = 8 * KIB
# The same for the one case of a run with its own sizes: enough to filter by block and thread.
OWN_OUTPUT_KEPT_BYTES = 64 * KIB
# A run with its own sizes and inputs: arrays that the reference's float64 copies multiply by six, operations that an
# emulated GPU does within its time, and values that fit a request.
OWN_CASE_BYTES = 256 * MIB
OWN_CASE_OPERATIONS = 2_000_000_000
OWN_VALUES = 16_384
# Kept of each result to compare it with the next run's: its first elements, and checksums of parts.
OWN_HEAD = 1024
OWN_PARTS = 64
# Elements of a wrong output in a report, largest errors first: enough to see a pattern.
WORST_ELEMENTS = 8
# Elements of a wrong result of which a map is drawn: more take longer than a student waits for.
ERROR_MAP_ELEMENTS = 1 << 24
# Cells of a map: up to this many elements have a cell each.
ERROR_MAP_CELLS = 1 << 16
# Of a map's packed cells: half a byte each for noise of all codes, in base64.
ERROR_MAP_CHARS = 48 * KIB
# Of its blocks' packed cells and indices: two bytes a cell compress by a hundred for blocks of neighbours.
ERROR_MAP_BLOCK_CHARS = 24 * KIB
# Launches that write to one result.
ERROR_MAP_LAUNCHES = 64
# Failing cases of a report that have a map.
ERROR_MAPS = 4
# Of the bundle with which a page steps through a failing block: 96 KiB, in base64. One case of a report has one.
STEP_CHARS = 128 * KIB
# Rows and columns of the numbers shown around the first wrong element.
ERROR_WINDOW = 8
# Fits nine significant digits, a 64-bit integer, or "never written".
VALUE_CHARS = 32
# Newest times of one person on a plot: as many as fit a phone.
PAST_TIMES = 60
# Lines compared between two sources, or shown of one block: several times a long kernel. Rendering all 250,000 lines
# that a source may have takes seconds.
DIFF_LINES = 2_000
# Line comparisons in one diff: about 0.2 s. Hostile sources of 2,000 lines need ten times as many, edited kernels 1 %.
DIFF_STEPS = 1_000_000
# Source lines that get a number on a page: ten times a long kernel.
LISTED_LINES = 20_000

# A runner's message has a few hundred bytes, with an emulated GPU's profile up to 256,000. Error texts get a quarter.
MESSAGE_BYTES = 256 * KIB
ERROR_TEXT_CHARS = 8_000

# torch and Triton take about 1.2 GiB; the submission has the rest.
BOX_MEMORY_BYTES = 4 * GIB
# With a GPU, torch, Triton and a CUDA context take about 4 GiB of host memory, and torch.compile starts compilers.
GPU_BOX_MEMORY_BYTES = 24 * GIB
BOX_TMP_BYTES = 512 * MIB
# Of a box in which NCCL runs.
BOX_SHM_BYTES = 256 * MIB
# torch starts threads for each core. 256 is well above that and far below a fork bomb.
BOX_PIDS = 256
BOX_CPUS = 2.0
# Processor time from a box's start to its runner's hello; importing torch takes about 5 s.
BOX_START_SECONDS = 60.0
# Factor from that to wall-clock time: a busy host starts boxes late.
BOX_START_PATIENCE = 10.0
# Started ahead per language by one judge of a GPU, each with 0.5 GB of GPU memory and 1 GB of host memory.
SPARE_BOXES = 8
# Wait for the end of a box whose connection is gone: a busy host's engine notices late.
BOX_END_SECONDS = 10.0
# Time of one box for a whole submission: wall-clock on a GPU, processor time on the host's board.
BOX_WALL_SECONDS = 900.0
# Factor from that processor time to wall-clock time: a box gets at least a quarter of a core on average.
BOX_WALL_PATIENCE = 4.0

# Processor time of each compiler process, and the factor for all of them together. Waiting does not count, as compilers
# yield to timed runs.
COMPILE_SECONDS = 60.0
COMPILE_PATIENCE = 4.0
COMPILE_MEMORY_BYTES = 4 * GIB
COMPILE_LOG_BYTES = 64 * KIB
# Compiling one Triton source's kernels ahead: wall-clock time, and processor time including the box's start. A CUDA
# source waits at most this long. Unfinished kernels are compiled on the GPU's time.
KERNELS_SECONDS = 10.0
KERNELS_CPU_SECONDS = 60.0
# On a GPU: extra time for Triton's compiling and tuning in one call, and in all calls of one submission. A softmax with
# one block of 524,288 elements takes half a minute of a processor with 16 warps, and about four times that with half as
# many. The runner reports when it compiles, and a submission can fake that: these limits bound how long it holds the
# GPU that way. It counts towards JUDGING_CLOCK_SECONDS.
KERNELS_OF_CALL_SECONDS = 600.0
KERNELS_OF_SUBMISSION_SECONDS = 900.0
ARTEFACT_BYTES = 64 * MIB
# A compiled library has about 1 MiB, mostly CUDA runtime. A thousand fit, so libraries of waiting submissions survive;
# the least recently used are evicted.
ARTEFACT_STORE_BYTES = 1 * GIB

# Limits on the host's board count processor time, so a busy host changes no verdict. This factor gives the wall-clock
# limit: next to seven busy processes on two cores, a box gets at least a twentieth of a core.
CLOCK_PATIENCE = 20.0
# A box that uses less than IDLE_SHARE of a core is asleep, not starved, unless the load is far above 100. It ends after
# IDLE_PATIENCE times its limit in wall-clock time.
IDLE_PATIENCE = 3.0
IDLE_SHARE = 0.005
# Processor time to load a submission: imports and decorators, no work.
LOAD_SECONDS = 30.0
# Wall-clock time of one call on a GPU: correct kernels take milliseconds.
CASE_SECONDS = 10.0
# Processor time of one call on the host's board: at least twice what correct kernels with blocks of 64, tiles of
# 16 x 16 or one row per program need in Triton's interpreter (measured by benchmarks/slow_kernels.py).
CASE_CPU_SECONDS = 60.0
# Processor time per case retried with reordered sizes, for a hint: an endless loop must not hold a worker for minutes.
NEXT_CASE_CPU_SECONDS = 10.0
# For one answer of a challenge's checker, by the clock; and the length of its reason.
CHECKER_SECONDS = 30.0
CHECKER_CHARS = 300
# Fresh boxes per submission: a fault ends or corrupts the process, so the next case needs a new one.
FRESH_BOXES = 3

# The time of all hidden cases is rounded up to this times a power of two. A submission that sleeps to leak hidden data
# then has at most 17 distinguishable durations up to JUDGING_CLOCK_SECONDS; an honest one at most takes twice as long.
HIDDEN_STEP_SECONDS = 0.1

# Wall-clock time to judge one submission in all boxes: bounds one that sleeps a little in each call. Honest kernels
# take minutes.
JUDGING_CLOCK_SECONDS = 3600.0

# When nearly all cases fail, other orders of the size arguments are tried, as the student's may differ: every swap of
# two among four sizes, every order of three.
SIZE_ORDERS = 6

# For a wrong result, other questions that it might answer: an argument ignored, two swapped, a matrix read by columns.
# Each costs a call of the reference, so only the first failing, small cases are explained, for this long.
OTHER_QUESTIONS = 400
OTHER_QUESTIONS_SECONDS = 1.0
EXPLAINED_CASES = 3
EXPLAINED_ELEMENTS = 1 << 18

# Retries of a submission whose box was killed from outside. Then it is our failure, and another worker may take it.
KILLED_BOXES = 2

# Below this roofline time, the uncertainty of a round's fixed cost (1 to 3 us) exceeds half a percent.
RANKED_ROOFLINE_US = 400.0

# A lease outlives a few missed heartbeats and SQLite's longest lock wait. A dead worker's submission restarts within
# 30 s: one lease and one sweep. After a wiped Redis, one sweep restores the wake-ups.
LEASE_SECONDS = 20.0
HEARTBEAT_SECONDS = 4.0
SWEEP_SECONDS = 4.0
# A wake-up has a few hundred bytes; longer records are not read.
WAKEUP_BYTES = 4 * KIB
# At start, a SQLite file up to this size gets a full check (indices against rows), a larger one a check page by page,
# for at most INTEGRITY_SECONDS. It reads about 200 MiB/s.
INTEGRITY_BYTES = 256 * MIB
INTEGRITY_SECONDS = 20.0
# Free disk space for SQLite: its write-ahead log alone grows to 4 MiB.
FREE_BYTES = 4 * MIB
# Interval of trial writes per process: load balancers ask every second.
WRITE_PROBE_SECONDS = 5.0
# Tries of a submission interrupted by our failures. Then it fails, at no cost for the student.
ATTEMPTS = 3
# Consecutive judge failures before the GPU is probed. Below ATTEMPTS, so one bad GPU cannot use up a submission's
# tries.
BAD_GPU_FAILURES = 2

# Wrong passwords from one address, over all accounts. A class signs in behind one address within a minute, and every
# fifth mistypes; right passwords do not count. Constant guessing gets 4,800 a day.
WRONG_PASSWORDS_PER_MINUTE = 60
WRONG_PASSWORDS_PER_HOUR = 200
# After that, each account can still be tried from there until this many tries at it failed within an hour, so a
# guessing neighbour does not lock a class out. Over 400 accounts this adds 400 guesses an hour.
WRONG_PASSWORDS_REGARDLESS = 1
# Wrong passwords for one account from all addresses: a botnet cannot search for it.
SIGN_IN_PER_ACCOUNT = 40
SIGN_IN_WINDOW_MINUTES = 15
# Passwords checked at once per process: each takes about 50 ms, 64 MiB and four threads. Concurrent guesses are counted
# only afterwards, so a limit is exceeded by at most this many.
PASSWORDS_AT_ONCE = 2
# Sign-ins and sign-ups queued per process: at 50 ms each the last one waits ten seconds.
SIGN_INS_WAITING = 400
# Of these from one address: a class at once. The rest stays free while somebody floods the queue.
SIGN_INS_WAITING_PER_ADDRESS = 200
# Accounts made, and links requested or used, from one address: two classes at once.
SIGN_UPS_PER_MINUTE = 300
SIGN_UPS_PER_HOUR = 600
# Tries to make an account with one personal link; each hashes a password.
LINK_TRIES_PER_MINUTE = 10
# Steps of single sign-on from one address: a class takes three each within a minute.
SIGN_ON_STEPS_PER_MINUTE = 1_000
# 401 answers per minute to bad tokens from one address. A program stops at its first; at the start of a term a class
# has one each.
BAD_TOKENS_PER_MINUTE = 300
# The same for the token of /metrics, which the operator chose.
METRICS_TOKENS_PER_MINUTE = 120
# An IPv6 prefix that counts as one client: providers give each customer a /64 or more.
IPV6_CLIENT_BITS = 64
# A term and its resits.
TOKEN_DAYS = 180
# Interval of updates of a token's last use, so not every read becomes a write.
TOKEN_USE_SECONDS = 600.0
# Retry-After when the database does not answer.
RETRY_SECONDS = 5
# A class of 200 before a deadline submits about once a minute each.
SUBMIT_PER_MINUTE = 30
# Editors save a draft a second or two after typing stops; two open editors stay below this.
DRAFTS_PER_MINUTE = 90
# One user's submissions waiting or running: enough to compare ideas, too few to fill the queue.
WAITING_PER_USER = 10
# Submissions per challenge and day: one every five minutes for sixteen hours. It stops loops, not people.
QUOTA = 200
QUOTA_HOURS = 24.0
# Inbox items decided at once: a page of them.
INBOX_DECIDED = 200
# A larger regrade must be confirmed by typing its name: it keeps a GPU busy for minutes.
REGRADE_UNCONFIRMED = 20
# The reason shown while a queue is paused: a sentence or two.
REASON_CHARS = 500

NAME_CHARS = 64
# Slugs of courses, assignments and challenges, in URLs.
SLUG_CHARS = 64
# Titles of courses and assignments, full names of people: what fits a heading.
TITLE_CHARS = 120
# Rows of one roster import: ten times a large course, and a second of work.
ROSTER_ROWS = 5_000
FILENAME_CHARS = 128
# Competitions: rules of some pages, as many challenges as fit a board's columns, a team that fits one table.
RULES_CHARS = 100_000
COMPETITION_CHALLENGES = 26
TEAM_SIZE = 20
# A final of 500 finalists x 51 repeats of 6 s each takes 42 hours of one GPU.
FINALISTS = 500
# Pages ask every five seconds whether a competition's board changed; the answer may be this old.
BOARD_SECONDS = 1.0
FINAL_REPEATS = 51
REQUEST_BYTES = 2 * MIB

# The catalogue's largest challenge has 40 files and 130 KiB. In base64 an upload fits a request.
BUNDLE_ARCHIVE_BYTES = 1 * MIB
BUNDLE_BYTES = 4 * MIB
BUNDLE_FILES = 200
# A course's catalogue: as many challenges as a course assigns in years, each within the limits above.
CATALOGUE_CHALLENGES = 100
# A git repository that is a catalogue: the one here has 900 files and 3 MiB. Beyond these it is not read.
GIT_FILES = 5_000
GIT_BYTES = 32 * MIB
GIT_FETCH_BYTES = 64 * MIB
GIT_SECONDS = 120.0
GIT_MEMORY_BYTES = 2 * GIB
# Fetching, and waiting for a worker that ended while it did.
GIT_LEASE_SECONDS = 300.0
# Calls of a webhook, per key: a push every few seconds is a script in a loop.
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
# Uploads per account: a class of authors edits freely, a script in a loop is stopped.
UPLOADS_PER_MINUTE = 20
# Requests that take seconds of a processor, such as comparing a class's sources or packing a person's data: per account
# and minute, and at once per process.
COSTLY_PER_MINUTE = 20
COMPARISONS_AT_ONCE = 2

# Formatting a source: twice a long kernel, which takes 0.1 s. Output may be longer than input by its indentation, of
# nested brackets without end. ruff reserves several hundred MiB of addresses.
FORMAT_BYTES = 64 * KIB
FORMAT_OUTPUT_BYTES = 256 * KIB
FORMAT_MEMORY_BYTES = 1 * GIB
FORMAT_SECONDS = 5.0
FORMATS_AT_ONCE = 2

# Connections per web process (there are two). An idle one costs a file descriptor and a few kilobytes, not a thread. At
# the limit, a new connection closes the one idle longest.
CONNECTIONS = 2048
# A class of 150 behind one router, with six connections per browser.
CONNECTIONS_PER_ADDRESS = 1024
# Per connection: itself, two spill files for upload and answer; and the databases.
OPEN_FILES = 4 * CONNECTIONS
# For a whole request: a long source takes eight seconds at 256 kbit/s.
REQUEST_SECONDS = 30.0
# Browsers keep connections open, and a new one costs a round trip.
IDLE_SECONDS = 15.0
# For sending an answer: 1 MB at 70 kbit/s.
ANSWER_SECONDS = 120.0
# For a client to read its last answer while it still sends a refused upload.
LINGER_SECONDS = 2.0
# Addresses, cookies and tokens take 2 KiB.
HEADER_BYTES = 32 * KIB
# Larger uploads go to a file until they are complete.
BODY_IN_MEMORY_BYTES = 64 * KIB
# Incomplete uploads per process: 256 long sources.
BODIES_BYTES = 64 * MIB

# An e-mail address has at most 254 characters (RFC 5321); an IPv6 address with a zone has fewer than 64.
EMAIL_CHARS = 254
ADDRESS_CHARS = 64
# A quarter of an account's wrong passwords, so no single address can lock out unknown devices.
SIGN_IN_PER_ADDRESS_AND_ACCOUNT = 10
# A browser keeps its own counter for this long after its owner signed in.
KNOWN_DEVICE_DAYS = 180
# A reset link must survive a coffee break; a link that confirms an address, a day.
RESET_MINUTES = 60
PROOF_HOURS = 24
# An operator may start a platform in the evening and read its log in the morning.
FIRST_ADMIN_HOURS = 24
# Mails to one mailbox per purpose, so that a stranger cannot flood it.
MAILS_PER_HOUR = 3
# Mails waiting to be sent. With more, the mail server is in trouble, and people ask again.
MAILS_WAITING = 200
MAIL_SECONDS = 20.0
# An invitation covers a course: its seats, its term.
INVITATION_USES = 1000
INVITATION_DAYS = 180
# Enough time to open a page and sign in. A code of eight letters has 34 random bits, and one user gets this many
# guesses a minute.
DEVICE_CODE_MINUTES = 10
DEVICE_POLL_SECONDS = 5
DEVICE_GUESSES_PER_MINUTE = 10
# Wrong join codes per address or user: half a class may try last term's code. Constant guessing finds one of a hundred
# codes (34 random bits each) in four years, and only gains a place in a course.
WRONG_JOIN_CODES_PER_MINUTE = 120
# One user's wrong codes of teams and of competition invitations, which are as long as join codes.
WRONG_TEAM_CODES_PER_MINUTE = 10
# Codes for command lines requested from one address. They cost almost nothing, and a class logs in within a minute.
DEVICE_CODES_PER_MINUTE = 300
# Codes waiting for approval: more are a flood. One address can have 3,000.
DEVICE_CODES_WAITING = 20_000
# Nobody pages further by number, and counting a term's million rows takes longer than reading the newest.
LISTED_MOST = 10_000
# One user's runs (public cases only): one every half minute for an hour; two at once, as a new run replaces the last
# one for the same challenge.
RUNS_PER_HOUR = 120
RUNS_AT_ONCE = 2
# Runs per minute, counted apart from submissions.
RUN_PER_MINUTE = 30
# Those of them under Nsight Compute or compute-sanitizer, each of which holds a GPU for seconds.
CARD_TOOL_RUNS_PER_HOUR = 20
CARD_TOOL_SECONDS = 60.0
# Launches that Nsight Compute counts, and errors of compute-sanitizer that are kept.
CARD_LAUNCHES = 16
CARD_FINDINGS = 20
# Runs count for nothing, so they are removed after this.
RUN_DAYS = 30
# Latest submissions counted in a profile: several years of the most diligent, in milliseconds.
PROFILE_SUBMISSIONS = 5_000
# Ranks on a profile: each needs a walk over a board's entries.
PROFILE_RANKS = 40
# Reports opened to find one that beats torch.compile.
PROFILE_REPORTS = 5
# Requests to providers of single sign-on and to learning platforms: for the former, people wait.
OUTBOUND_CONNECT_SECONDS = 5.0
OUTBOUND_READ_SECONDS = 10.0
# For a whole answer, however slowly it drips in.
OUTBOUND_TOTAL_SECONDS = 20.0
# A provider's document or keys have a few KiB.
OUTBOUND_BYTES = 1 * MIB
# A token with a hundred groups still fits a header.
OUTBOUND_TOKEN_CHARS = 64 * KIB
# Other sites change keys and addresses some weeks ahead, or at once after a leak. An unknown key is fetched at most
# this often: anyone can send a token that names one.
KEYS_KEPT_SECONDS = 3600.0
KEYS_AGAIN_SECONDS = 10.0
# How far another site's clock may be off.
CLOCK_SKEW_SECONDS = 60
# From the button to the return: time to find a second factor.
SIGN_ON_MINUTES = 15
# Sign-ons in progress per browser (tabs): more would outgrow its cookie.
SIGN_ONS_AT_ONCE = 3
# OpenID Connect allows 255 characters for a person's id. An authority is an issuer, for a learning platform with our
# client id.
SUBJECT_CHARS = 255
AUTHORITY_CHARS = 512

# A comment or a question is a page of text at most; announcements are longer.
COMMENT_CHARS = 8_000
# A private note on a submission: lists show its beginning, and carry all of it.
NOTE_CHARS = 4_000
# Sources of a portfolio: hundreds of kernels, of which a PDF takes seconds to write.
PORTFOLIO_BYTES = 1 * MIB
# Submissions that one may name for it.
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
# Posts and reports of errors that a person writes in 24 hours: a lively discussion, and no flood.
POSTS_A_DAY = 60
# Threads on a page of a discussion.
THREADS_LISTED = 30
# Older notices are removed.
NOTICE_DAYS = 180
# Collects notices for this long: nobody wants a mail for every comment.
DIGEST_MINUTES = 30
# The lease of a process that sends digests, renewed before each mail, which may take several times MAIL_SECONDS. If the
# process dies, digests wait this long.
CHORE_LEASE_SECONDS = 300.0
# If it is unknown whether the mail server accepted a digest, it is sent once more with the same Message-ID. Further
# copies would annoy people whose server keeps them all, and the site shows the notices anyway.
DIGEST_TRIES = 2
# Our part has 42 characters, a domain at most 253.
MESSAGE_ID_CHARS = 320
# Lines of a digest; the site shows all notices.
DIGEST_LINES = 30
# URLs of a learning platform: those of gradebook columns carry ids and queries.
URL_CHARS = 1024
# From a click in the learning platform to its token, including a second factor; then to choose an account, a course or
# an assignment.
LAUNCH_MINUTES = 15
CHOOSE_MINUTES = 60
# Assignment links, deployments and hosts of one learning platform.
LTI_ENTRIES = 200
# A deleted account's source that counts for a team is kept until the results, or this long after the competition's end.
TEAM_SOURCE_DAYS = 90
# If a platform refuses a grade, it is sent again after half a minute, then after twice as long each time, up to six
# hours: 22 tries take three days, enough for somebody to fix it.
SCORE_RETRY_SECONDS = 30.0
SCORE_RETRY_MOST_SECONDS = 6 * 3600.0
SCORE_TRIES = 22
# Lease on one grade: several requests, each of which may time out.
SCORE_HELD_SECONDS = 180.0
# Interval of comparing grades with those that platforms have: a course of 500 takes 0.1 s, or 1 s if nothing is cached.
SCORES_COMPARED_SECONDS = 30.0
# Grades sent in one batch.
SCORES_AT_ONCE = 50
