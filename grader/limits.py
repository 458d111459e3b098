"""Every limit, with its reason. Settings and ``challenge.toml`` take their defaults from here; every other limit
is fixed."""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

# A long hand-tuned kernel has about 40 KiB. Six times that leaves room and bounds what is stored.
SOURCE_BYTES = 256 * KIB

# Printing is for debugging: nobody reads 1 MiB, and a flood reaches it within milliseconds.
OUTPUT_BYTES = 1 * MIB
# The part kept in the report: a few screens.
OUTPUT_KEPT_BYTES = 8 * KIB
# Elements of a wrong output that a report shows, the largest errors first: enough to see a pattern.
WORST_ELEMENTS = 8
# Fits nine significant digits, a 64-bit integer, or "never written".
VALUE_CHARS = 32
# Newest times of one person on one plot: as many as a phone shows apart.
PAST_TIMES = 60
# Lines compared between two sources, and shown of one block: several times a long kernel. A source may have 250,000
# lines, and a page of them takes seconds to render.
DIFF_LINES = 2_000
# Line comparisons in one diff: about 0.2 s. Hostile sources of 2,000 lines need ten times as many, edited kernels a
# hundredth.
DIFF_STEPS = 1_000_000
# Lines of a source that its page numbers: ten times a long kernel. Later lines have no number.
LISTED_LINES = 20_000

# A message from the runner has a few hundred bytes, with a profile of the emulated GPU at most 256,000; error texts are
# cut to fit a quarter of it.
MESSAGE_BYTES = 256 * KIB
ERROR_TEXT_CHARS = 8_000

# torch and Triton take about 1.2 GiB once imported; the submission has the rest.
BOX_MEMORY_BYTES = 4 * GIB
# On a GPU, torch, Triton and a CUDA context take about 4 GiB of host memory, and torch.compile starts compilers.
GPU_BOX_MEMORY_BYTES = 24 * GIB
BOX_TMP_BYTES = 512 * MIB
# torch starts threads for each core. 256 is well above that and well below a fork bomb.
BOX_PIDS = 256
BOX_CPUS = 2.0
# Processor time from a box's start to its runner's hello. Importing torch takes about 5 s of it.
BOX_START_SECONDS = 60.0
# Factor from that to wall-clock time: a busy host starts boxes late.
BOX_START_PATIENCE = 10.0
# Of one language, started ahead by one judge of a GPU: each holds half a gigabyte of its memory and one of the host's.
SPARE_BOXES = 8
# Time to wait for the end of a box whose connection is gone: the engine of a busy host notices it late.
BOX_END_SECONDS = 10.0
# Time of one box for a whole submission: wall-clock time on a GPU, processor time on the host's board.
BOX_WALL_SECONDS = 900.0
# Factor from that processor time to wall-clock time: a box gets at least a quarter of a core on average.
BOX_WALL_PATIENCE = 4.0

# Processor time of each compiler process, and the factor for all of them together. Compilers yield to timed runs on
# the same host, so waiting does not count.
COMPILE_SECONDS = 60.0
COMPILE_PATIENCE = 4.0
COMPILE_MEMORY_BYTES = 4 * GIB
COMPILE_LOG_BYTES = 64 * KIB
# For the kernels of one Triton source that are compiled ahead, all of them together: by the clock in their box, and the
# processor time of that box, whose start is in it. A CUDA source waits for no longer than that behind one. What was not
# done by then is compiled on the GPU's time.
KERNELS_SECONDS = 10.0
KERNELS_CPU_SECONDS = 60.0
# On a GPU, what Triton takes to compile and tune kernels in one call, and in all calls of one submission, beside the
# time of the calls. A softmax with one block of 524,288 elements takes half a minute of a processor with 16 warps and
# about four times as long with half as many. The runner says when it compiles, and a submission can say so without
# compiling: these bound how long it holds the GPU so. All of it counts for JUDGING_CLOCK_SECONDS.
KERNELS_OF_CALL_SECONDS = 600.0
KERNELS_OF_SUBMISSION_SECONDS = 900.0
ARTEFACT_BYTES = 64 * MIB
# A compiled library has about 1 MiB, mostly CUDA runtime. This holds a thousand, so libraries of waiting submissions
# survive; the least recently used are evicted first.
ARTEFACT_STORE_BYTES = 1 * GIB

# Limits on the host's board count processor time, so a busy host changes no verdict. This is the factor to the
# wall-clock limit: beside seven busy processes on two cores, a box gets at least a twentieth of a core.
CLOCK_PATIENCE = 20.0
# A box that uses less than IDLE_SHARE of a core is asleep, not starved. It ends after IDLE_PATIENCE times its limit
# by the clock. Only a load far above a hundred starves a box that much.
IDLE_PATIENCE = 3.0
IDLE_SHARE = 0.005
# Processor time to load a submission: imports and decorators, no work.
LOAD_SECONDS = 30.0
# Wall-clock time of one call on a GPU: correct kernels take milliseconds.
CASE_SECONDS = 10.0
# Processor time of one call on the host's board: at least twice what correct kernels with blocks of 64, tiles of
# 16 x 16 or one row per program need in Triton's interpreter (measured by benchmarks/slow_kernels.py).
CASE_CPU_SECONDS = 60.0
# Processor time of each case that is tried with its sizes in another order, for a hint. The verdict is known by then,
# and an endless loop must not hold a worker for minutes.
NEXT_CASE_CPU_SECONDS = 10.0
# A fault ends or corrupts the process, so the next case needs a fresh box. This many fresh boxes per submission.
FRESH_BOXES = 3

# The time of all hidden cases is rounded up to this times a power of two. A submission that sleeps to leak hidden data
# then has at most 17 distinguishable durations, up to JUDGING_CLOCK_SECONDS. An honest one waits at most as long again
# as its hidden cases took, or this long.
HIDDEN_STEP_SECONDS = 0.1

# Wall-clock time to judge one submission, all boxes together. It bounds a submission that sleeps a little in each
# call. Honest kernels take minutes.
JUDGING_CLOCK_SECONDS = 3600.0

# When nearly all cases fail, the judge tries this many other orders of the size arguments, to tell a student that
# theirs differs: every swap of two among four sizes, every order of three.
SIZE_ORDERS = 6

# Of a wrong result, the judge asks the reference this many other questions, to tell which one it answers: an argument
# that does not count, two that change places, a matrix read by columns. Each takes a reference's call, of the sizes
# below; only the first failing cases are worth it, as the rest repeat them.
OTHER_QUESTIONS = 24
EXPLAINED_CASES = 3
EXPLAINED_ELEMENTS = 1 << 18

# Times a submission is judged again after something outside killed its box. Then it is our failure, and another
# worker may take it.
KILLED_BOXES = 2

# Below this roofline time, the uncertainty of a round's fixed cost (1 to 3 us) exceeds half a percent.
RANKED_ROOFLINE_US = 400.0

# A lease outlives a few missed heartbeats and SQLite's longest lock wait. A dead worker's submission runs again within
# 30 s: one lease and one sweep. A wiped Redis has its wake-ups back after one sweep.
LEASE_SECONDS = 20.0
HEARTBEAT_SECONDS = 4.0
SWEEP_SECONDS = 4.0
# A wake-up names a function and a queue in a few hundred bytes. Longer records are not read.
WAKEUP_BYTES = 4 * KIB
# At start, a SQLite file up to this size gets a full check (indices against rows), a larger one a check page by page,
# for INTEGRITY_SECONDS at most. Checking reads about 200 MiB/s.
INTEGRITY_BYTES = 256 * MIB
INTEGRITY_SECONDS = 20.0
# Free disk space that SQLite needs: its write-ahead log alone grows to 4 MiB.
FREE_BYTES = 4 * MIB
# Seconds between trial writes of one process: load balancers ask every second.
WRITE_PROBE_SECONDS = 5.0
# Tries of a submission that our failures interrupt. Then it has failed, which is never the student's fault.
ATTEMPTS = 3
# Judge failures in a row after which its GPU is probed. Below ATTEMPTS, so one bad GPU cannot use up all tries of a
# submission.
BAD_GPU_FAILURES = 2

# Wrong passwords from one address, at all accounts together. A class signs in behind one address within a minute, and
# every fifth mistypes; right passwords do not count. Somebody who guesses all the time has 4,800 a day left.
WRONG_PASSWORDS_PER_MINUTE = 60
WRONG_PASSWORDS_PER_HOUR = 200
# Once they are used up, each account may still be tried from there until so many tries at it failed within an hour: a
# neighbour who guesses does not lock a class out. Over 400 accounts this adds 400 guesses an hour.
WRONG_PASSWORDS_REGARDLESS = 1
# Wrong passwords at one account from all addresses together, so that many addresses cannot search for it.
SIGN_IN_PER_ACCOUNT = 40
SIGN_IN_WINDOW_MINUTES = 15
# Passwords that a process checks at once: each takes about 50 ms, 64 MiB and four threads of the hash. Guesses that are
# checked at the same time are counted after it, so a limit is exceeded by this many at most.
PASSWORDS_AT_ONCE = 2
# Sign-ins and sign-ups that wait in one process for their turn: at 50 ms each the last one waits ten seconds.
SIGN_INS_WAITING = 400
# Those of one address: a class at once. The rest stays free for others while somebody floods the queue.
SIGN_INS_WAITING_PER_ADDRESS = 200
# Accounts that are made from one address, and links that are asked for or used there: two classes at once.
SIGN_UPS_PER_MINUTE = 300
SIGN_UPS_PER_HOUR = 600
# Tries to make an account with one personal link. Each hashes a password.
LINK_TRIES_PER_MINUTE = 10
# Steps of a sign-in by another site from one address: a class takes three each within a minute.
SIGN_ON_STEPS_PER_MINUTE = 1_000
# Answers 401 per minute to bad tokens from one address. A program with an expired token stops at its first; at the
# start of a term a class has one each.
BAD_TOKENS_PER_MINUTE = 300
# The same for the token of /metrics, which its operator chose.
METRICS_TOKENS_PER_MINUTE = 120
# An IPv6 prefix that counts as one client: providers give each customer a /64 or more.
IPV6_CLIENT_BITS = 64
# A term and its resits.
TOKEN_DAYS = 180
# Seconds between updates of a token's last use: recording each use would turn every read into a write.
TOKEN_USE_SECONDS = 600.0
# Retry-After when the database does not answer.
RETRY_SECONDS = 5
# A class of 200 before a deadline submits about once a minute each.
SUBMIT_PER_MINUTE = 30
# An editor saves its draft after a second or two without typing; two open editors stay below this.
DRAFTS_PER_MINUTE = 90
# Waiting or running at once for one user: enough to compare ideas, too few to fill the queue.
WAITING_PER_USER = 10
# Submissions per challenge and day: one every five minutes for sixteen hours. It stops loops, not people.
QUOTA = 200
QUOTA_HOURS = 24.0
# Items of the staff's inbox that are decided of at once: a page of them.
INBOX_DECIDED = 200
# A regrade of more submissions than this takes a typed name: it keeps a GPU busy for minutes.
REGRADE_UNCONFIRMED = 20
# The reason shown while a queue is paused: a sentence or two.
REASON_CHARS = 500

NAME_CHARS = 64
# Of courses, assignments and challenges, as they stand in addresses.
SLUG_CHARS = 64
# Of courses and assignments, and names of people in full: what fits a heading.
TITLE_CHARS = 120
# Rows of a roster that are imported at once: ten times a large course, and a second of work.
ROSTER_ROWS = 5_000
FILENAME_CHARS = 128
# Competitions: rules of some pages, as many challenges as fit a board's columns, a team that fits one table.
RULES_CHARS = 100_000
COMPETITION_CHALLENGES = 26
TEAM_SIZE = 20
# The most of a final: 500 finalists x 51 repeats of 6 s each are 42 hours of one GPU.
FINALISTS = 500
# How old the answer may be to whether a competition's board has changed: pages ask every five seconds.
BOARD_SECONDS = 1.0
FINAL_REPEATS = 51
REQUEST_BYTES = 2 * MIB

# An uploaded challenge: the largest of the course has 40 files and 130 KiB. Packed and in base64 it fits a request.
BUNDLE_ARCHIVE_BYTES = 1 * MIB
BUNDLE_BYTES = 4 * MIB
BUNDLE_FILES = 200
# Checking one: hundreds of small judgements one after the other in one box, in the background.
CHECK_SECONDS = 3600.0
CHECK_MEMORY_BYTES = 8 * GIB
CHECK_PIDS = 1024
CHECK_TMP_BYTES = 1 * GIB
# What a check tells: findings with their details, and every submission that was run.
CHECK_ANSWER_BYTES = 4 * MIB
# Workers look this often for a check that waits and whose wake-up was lost.
CHECK_LOOK_SECONDS = 10.0
# Uploads of one account: a class of authors edits, a script that loops is stopped.
UPLOADS_PER_MINUTE = 20
# What takes seconds of a processor, such as comparing a class's sources or packing all that is kept of a person: of one
# account in a minute, and comparisons that a process runs at once.
COSTLY_PER_MINUTE = 20
COMPARISONS_AT_ONCE = 2

# Connections to one web process (there are two). An idle connection costs a file descriptor and a few kilobytes, not a
# thread. At the limit, each new connection closes the one that has been idle longest.
CONNECTIONS = 2048
# From one address: a class of 150 behind one router, whose browsers open six each.
CONNECTIONS_PER_ADDRESS = 1024
# File descriptors: each connection, two spill files for its upload and answer, and the databases.
OPEN_FILES = 4 * CONNECTIONS
# From the first byte of a request to its last: a long source takes eight seconds at 256 kbit/s.
REQUEST_SECONDS = 30.0
# Idle time before a connection is closed. Browsers keep connections open; a new one costs a round trip.
IDLE_SECONDS = 15.0
# Time to send an answer: 1 MB takes this long at 70 kbit/s.
ANSWER_SECONDS = 120.0
# Time for a client to read its last answer while it still sends a refused upload.
LINGER_SECONDS = 2.0
# Addresses, cookies and tokens take 2 KiB.
HEADER_BYTES = 32 * KIB
# Part of an upload kept in memory; the rest goes to a file until the upload is complete.
BODY_IN_MEMORY_BYTES = 64 * KIB
# Incomplete uploads to one process, all together: 256 long sources.
BODIES_BYTES = 64 * MIB

# Accounts. An e-mail address has 254 characters at most (RFC 5321); an IPv6 address with a zone is below 64.
EMAIL_CHARS = 254
ADDRESS_CHARS = 64
# One address has a quarter of an account's wrong passwords, so that no single address can lock out unknown devices.
SIGN_IN_PER_ADDRESS_AND_ACCOUNT = 10
# Days for which a browser that its owner has signed in with has a counter of its own.
KNOWN_DEVICE_DAYS = 180
# A reset link must survive a coffee break; a link that confirms an address, a day.
RESET_MINUTES = 60
PROOF_HOURS = 24
# An operator may start a platform in the evening and read its log in the morning.
FIRST_ADMIN_HOURS = 24
# Mails to one mailbox per purpose, so that a stranger cannot flood it.
MAILS_PER_HOUR = 3
# Mails waiting to be sent. Beyond this the mail server is in trouble, and people ask again.
MAILS_WAITING = 200
MAIL_SECONDS = 20.0
# An invitation is for a course: its seats, its term.
INVITATION_USES = 1000
INVITATION_DAYS = 180
# Ten minutes are enough to open a page and sign in. A code of eight letters has 34 random bits, and one user gets this
# many guesses a minute.
DEVICE_CODE_MINUTES = 10
DEVICE_POLL_SECONDS = 5
DEVICE_GUESSES_PER_MINUTE = 10
# Wrong join codes from one address, or of one user: half a class may try the code of last term. Somebody who guesses at
# this rate all the time finds one of a hundred codes (34 random bits each) in four years, and is a student of a course
# then.
WRONG_JOIN_CODES_PER_MINUTE = 120
# Wrong codes of teams and of invitations to competitions, of one user. They are as long as join codes.
WRONG_TEAM_CODES_PER_MINUTE = 10
# Codes for command lines that are asked for from one address. They cost almost nothing, and a class behind one address
# logs in within a minute.
DEVICE_CODES_PER_MINUTE = 300
# Codes waiting for approval, all together: beyond this somebody floods the table. One address can have 3,000.
DEVICE_CODES_WAITING = 20_000
# Nobody pages further by number, and counting a term's million rows takes longer than reading the newest.
LISTED_MOST = 10_000
# Runs (public cases only) of one user: one every half a minute for an hour; two at once, since a new run replaces the
# last one for the same challenge.
RUNS_PER_HOUR = 120
RUNS_AT_ONCE = 2
# Runs per minute, counted apart from submissions.
RUN_PER_MINUTE = 30
# Days a run is kept: it counts for nothing.
RUN_DAYS = 30
# Latest submissions that a profile counts: several years of the most diligent, in a few milliseconds.
PROFILE_SUBMISSIONS = 5_000
# Boards on a profile with a rank: each needs a walk over that board's entries.
PROFILE_RANKS = 40
# Reports opened to find one that beats torch.compile.
PROFILE_REPORTS = 5
# Requests to providers of single sign-on and to learning platforms: people wait for the former.
OUTBOUND_CONNECT_SECONDS = 5.0
OUTBOUND_READ_SECONDS = 10.0
# All of an answer, however slowly it drips in.
OUTBOUND_TOTAL_SECONDS = 20.0
# A document of a provider, or its keys, has a few KiB.
OUTBOUND_BYTES = 1 * MIB
# A token with a hundred groups in it still fits a header.
OUTBOUND_TOKEN_CHARS = 64 * KIB
# Public keys and addresses of other sites: they change them some weeks ahead, or at once after a leak. A key that is
# not known is asked for anew, at most this often: anyone can send a token that names one.
KEYS_KEPT_SECONDS = 3600.0
KEYS_AGAIN_SECONDS = 10.0
# How far another site's clock may be off.
CLOCK_SKEW_SECONDS = 60
# From the button to the way back: time to find a second factor.
SIGN_ON_MINUTES = 15
# Begun at once in one browser: tabs. More would outgrow its cookie.
SIGN_ONS_AT_ONCE = 3
# Who another site knows somebody as: OpenID Connect allows 255 letters of a subject. An issuer; of a learning
# platform also what it calls us.
SUBJECT_CHARS = 255
AUTHORITY_CHARS = 512

# A comment or a question is a page of text at most; announcements are longer.
COMMENT_CHARS = 8_000
ANNOUNCEMENT_CHARS = 20_000
# A page of ours, as a notice leads to it.
PATH_CHARS = 200
# A signed key of a mail's link: its content, a moment and the signature.
SIGNED_KEY_CHARS = 500
# Regrades of an assignment that a student may ask for where its staff say nothing else.
REGRADE_REQUESTS = 3
# Of one submission; of one course in which a student still waits for an answer.
COMMENTS = 500
QUESTIONS_OPEN = 20
# Notices that are older are removed.
NOTICE_DAYS = 180
# A digest collects what happened for this long. Nobody wants a mail for every comment.
DIGEST_MINUTES = 30
# A process that sends digests renews its lease before each mail, and a mail server may take several waits of
# MAIL_SECONDS for one. So long they wait where it died.
CHORE_LEASE_SECONDS = 300.0
# A digest of which nobody knows whether the mail server took it is sent again once, under the same Message-ID. More
# copies would annoy where a server keeps them all, and the site shows the notices in any case.
DIGEST_TRIES = 2
# Our own part has 42 characters, a domain at most 253.
MESSAGE_ID_CHARS = 320
# Lines of a digest; the site shows all.
DIGEST_LINES = 30
# Of a platform's addresses: those of a gradebook's columns carry ids and queries.
URL_CHARS = 1024
# From a click in a learning platform to its token, with a second factor in between; and then to choose an account, a
# course or an assignment.
LAUNCH_MINUTES = 15
CHOOSE_MINUTES = 60
# Links of assignments, deployments of a platform, its hosts: of a university, some.
LTI_ENTRIES = 200
# The source of a deleted account that counts for a team is kept until the results, and so long after the end of a
# competition whose results never come.
TEAM_SOURCE_DAYS = 90
# Grades are sent one by one. One that a platform does not take is tried again after half a minute, then after twice as
# long each time, up to six hours: 22 tries are three days, in which somebody mends it.
SCORE_RETRY_SECONDS = 30.0
SCORE_RETRY_MOST_SECONDS = 6 * 3600.0
SCORE_TRIES = 22
# How long a worker may take for one: several requests, each of which may time out.
SCORE_HELD_SECONDS = 180.0
# How often grades are compared with what platforms have: a course of 500 takes a tenth of a second, or a second where
# nothing of it is kept.
SCORES_COMPARED_SECONDS = 30.0
# Sent in one go before others are looked at.
SCORES_AT_ONCE = 50
