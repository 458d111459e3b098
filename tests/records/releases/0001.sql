-- Rows that a grader of revision 0001 wrote: three accounts, submissions in several states, reports, a token.
-- Plain SQL for SQLite and PostgreSQL. A statement ends with a line that ends in ');'.

INSERT INTO users (id, name, name_key, password_hash, role, created_at)
VALUES (1, 'ada', 'ada', '$argon2id$v=19$m=65536,t=3,p=4$ehQuR98ARkUPE7TD66E0+w$i4jEcilPnY4gYFHmw+g1u6rdvPWRy1z5jYtu8MRrJ04', 'student', '2026-11-21 23:19:21.236303');
INSERT INTO users (id, name, name_key, password_hash, role, created_at)
VALUES (2, 'Bob', 'bob', '$argon2id$v=19$m=65536,t=3,p=4$PeJloHDZ0XMuX2NdiBPuPw$yxtPAw9LIVC20S5Evt2QFaUkKc71x5qu4Bo+5sN6gCE', 'student', '2026-11-21 23:19:22.110909');
INSERT INTO users (id, name, name_key, password_hash, role, created_at)
VALUES (3, 'teacher', 'teacher', '$argon2id$v=19$m=65536,t=3,p=4$BVAv+NhSpZCPkWMGaaj92Q$GdbQMUyazdJc52u4xWn24ZfaXDdrp6bp1H5n8JA7lWo', 'staff', '2026-11-21 23:19:23.054433');

INSERT INTO workers (id, name, device, languages, host, pid, started_at, heartbeat, ended_at)
VALUES (1, 'host-1', 'cpu', 'triton', 'vm', 30351, '2026-11-21 23:19:24.708885', '2026-11-21 23:19:24.708885', NULL);

INSERT INTO baselines (id, challenge, version, workload, baseline, device_model, torch, time_us, created_at)
VALUES (1, 'vector_add', 1, '2^16', 'eager', 'a small processor', '2.13', 1064.375, '2026-11-21 23:19:24.730103');

INSERT INTO tokens (id, user_id, sha256, label, created_at)
VALUES (1, 1, 'cfc38c68c676f2f4a4ce0bb8402adfc5e61d3e9807218f4ed69bfc8ff31a5e2d', 'ada''s laptop', '2026-11-21 23:19:23.063681');

INSERT INTO submissions (id, public_id, user_id, challenge, version, language, device, source, filename, idempotency_key, priority, state, attempt, failures, worker, lease_until, progress, cancel_requested, created_at, claimed_at, started_at, finished_at, verdict, error, time_us, ci_lo_us, ci_hi_us, speedup, passed, total)
VALUES (1, 'hfxy82zaq3', 1, 'vector_add', 1, 'triton', 'cpu', 'import triton


def solve(a, b, out, n):
    out.copy_(a + b)  # <b>not bold</b>
', 'add.py', NULL, 0, 'done', 1, 0, NULL, NULL, '{}', FALSE, '2026-11-21 23:19:23.107298', '2026-11-21 23:19:24.024673', '2026-11-21 23:19:24.024673', '2026-11-21 23:19:24.062121', 'accepted', '', 900.0, 873.0, 936.0, 1.31, 3, 3);
INSERT INTO submissions (id, public_id, user_id, challenge, version, language, device, source, filename, idempotency_key, priority, state, attempt, failures, worker, lease_until, progress, cancel_requested, created_at, claimed_at, started_at, finished_at, verdict, error, time_us, ci_lo_us, ci_hi_us, speedup, passed, total)
VALUES (2, '750hmpjye6', 2, 'vector_add', 1, 'triton', 'cpu', 'import triton


def solve(a, b, out, n):
    out.copy_(a + b)  # <b>not bold</b>
', 'add.py', NULL, 0, 'done', 1, 0, NULL, NULL, '{}', FALSE, '2026-11-21 23:19:24.111568', '2026-11-21 23:19:24.190087', '2026-11-21 23:19:24.190087', '2026-11-21 23:19:24.222184', 'accepted', '', 812.5, 788.125, 845.0, 1.31, 3, 3);
INSERT INTO submissions (id, public_id, user_id, challenge, version, language, device, source, filename, idempotency_key, priority, state, attempt, failures, worker, lease_until, progress, cancel_requested, created_at, claimed_at, started_at, finished_at, verdict, error, time_us, ci_lo_us, ci_hi_us, speedup, passed, total)
VALUES (3, 'san3e1h4x6', 1, 'vector_add', 1, 'triton', 'cpu', 'import triton


def solve(a, b, out, n):
    out.copy_(a + b)  # <b>not bold</b>
', 'add.py', NULL, 0, 'done', 1, 0, NULL, NULL, '{}', FALSE, '2026-11-21 23:19:24.270222', '2026-11-21 23:19:24.325404', '2026-11-21 23:19:24.325404', '2026-11-21 23:19:24.356360', 'wrong_answer', '', NULL, NULL, NULL, NULL, 1, 4);
INSERT INTO submissions (id, public_id, user_id, challenge, version, language, device, source, filename, idempotency_key, priority, state, attempt, failures, worker, lease_until, progress, cancel_requested, created_at, claimed_at, started_at, finished_at, verdict, error, time_us, ci_lo_us, ci_hi_us, speedup, passed, total)
VALUES (4, '7bqek084yx', 2, 'vector_add', 1, 'triton', 'cpu', 'import triton


def solve(a, b, out, n):
    out.copy_(a + b)  # <b>not bold</b>
', 'add.py', NULL, 0, 'done', 1, 0, NULL, NULL, '{}', FALSE, '2026-11-21 23:19:24.381194', '2026-11-21 23:19:24.430653', '2026-11-21 23:19:24.430653', '2026-11-21 23:19:24.454159', 'compile_error', '', NULL, NULL, NULL, NULL, 0, 0);
INSERT INTO submissions (id, public_id, user_id, challenge, version, language, device, source, filename, idempotency_key, priority, state, attempt, failures, worker, lease_until, progress, cancel_requested, created_at, claimed_at, started_at, finished_at, verdict, error, time_us, ci_lo_us, ci_hi_us, speedup, passed, total)
VALUES (5, 'd8c7ktkyfq', 2, 'vector_add', 1, 'triton', 'cpu', 'import triton


def solve(a, b, out, n):
    out.copy_(a + b)  # <b>not bold</b>
', 'add.py', NULL, 0, 'failed', 1, 1, NULL, NULL, '{}', FALSE, '2026-11-21 23:19:24.486682', '2026-11-21 23:19:24.540955', '2026-11-21 23:19:24.540955', '2026-11-21 23:19:25.608128', 'internal_error', 'The box could not be made.', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO submissions (id, public_id, user_id, challenge, version, language, device, source, filename, idempotency_key, priority, state, attempt, failures, worker, lease_until, progress, cancel_requested, created_at, claimed_at, started_at, finished_at, verdict, error, time_us, ci_lo_us, ci_hi_us, speedup, passed, total)
VALUES (6, 'n9f6sramab', 1, 'vector_add', 1, 'triton', 'cpu', 'import triton


def solve(a, b, out, n):
    out.copy_(a + b)  # <b>not bold</b>
', 'add.py', NULL, 0, 'queued', 0, 0, NULL, NULL, '{}', FALSE, '2026-11-21 23:19:24.650530', NULL, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL);

INSERT INTO reports (submission_id, attempt, body, created_at)
VALUES (1, 1, '{"verdict":"accepted","flags":["similar"],"challenge":"vector_add","version":1,"language":"triton","device":"cpu","representative":false,"cases":[{"name":"basic","category":"basic","verdict":"accepted","seed":7,"sizes":{"n":1024},"detail":"","hint":"","mismatch":null,"output":"","seconds":0.012,"hidden":false},{"name":"nan","category":"nan","verdict":"accepted","seed":8,"sizes":{"n":500},"detail":"","hint":"","mismatch":null,"output":"hello","seconds":null,"hidden":false},{"name":"secret","category":"prime","verdict":"accepted","seed":99,"sizes":{"n":31},"detail":"","hint":"","mismatch":null,"output":"","seconds":null,"hidden":true}],"workloads":[{"name":"2^16","sizes":{"n":65536},"ranked":true,"time_us":900.0,"ci_us":[873.0,936.0],"rounds":41,"baselines_us":{"eager":1179.0,"compile":810.0},"speedup":1.31,"sol":0.62,"host_us":null,"gated":true,"charged_us":0.0},{"name":"2^12","sizes":{"n":4096},"ranked":false,"time_us":72.0,"ci_us":[69.84,74.88],"rounds":41,"baselines_us":{"eager":94.32000000000001,"compile":64.8},"speedup":1.31,"sol":0.62,"host_us":null,"gated":true,"charged_us":0.0}],"score":{"time_us":900.0,"speedup":1.31,"ci":[873.0,936.0],"passed":3,"total":3},"compiler_log":"","detail":"","hint":"","environment":{"torch":"2.13","cpu":"a small one"},"breakdown_s":{"box":0.31,"cases":1.2}}', '2026-11-21 23:19:24.079608');
INSERT INTO reports (submission_id, attempt, body, created_at)
VALUES (2, 1, '{"verdict":"accepted","flags":["similar"],"challenge":"vector_add","version":1,"language":"triton","device":"cpu","representative":false,"cases":[{"name":"basic","category":"basic","verdict":"accepted","seed":7,"sizes":{"n":1024},"detail":"","hint":"","mismatch":null,"output":"","seconds":0.012,"hidden":false},{"name":"nan","category":"nan","verdict":"accepted","seed":8,"sizes":{"n":500},"detail":"","hint":"","mismatch":null,"output":"hello","seconds":null,"hidden":false},{"name":"secret","category":"prime","verdict":"accepted","seed":99,"sizes":{"n":31},"detail":"","hint":"","mismatch":null,"output":"","seconds":null,"hidden":true}],"workloads":[{"name":"2^16","sizes":{"n":65536},"ranked":true,"time_us":812.5,"ci_us":[788.125,845.0],"rounds":41,"baselines_us":{"eager":1064.375,"compile":731.25},"speedup":1.31,"sol":0.62,"host_us":null,"gated":true,"charged_us":0.0},{"name":"2^12","sizes":{"n":4096},"ranked":false,"time_us":65.0,"ci_us":[63.05,67.60000000000001],"rounds":41,"baselines_us":{"eager":85.15,"compile":58.5},"speedup":1.31,"sol":0.62,"host_us":null,"gated":true,"charged_us":0.0}],"score":{"time_us":812.5,"speedup":1.31,"ci":[788.125,845.0],"passed":3,"total":3},"compiler_log":"","detail":"","hint":"","environment":{"torch":"2.13","cpu":"a small one"},"breakdown_s":{"box":0.31,"cases":1.2}}', '2026-11-21 23:19:24.234174');
INSERT INTO reports (submission_id, attempt, body, created_at)
VALUES (3, 1, '{"verdict":"wrong_answer","flags":[],"challenge":"vector_add","version":1,"language":"triton","device":"cpu","representative":true,"cases":[{"name":"basic","category":"basic","verdict":"accepted","seed":1,"sizes":{"n":64},"detail":"","hint":"","mismatch":null,"output":"","seconds":0.01,"hidden":false},{"name":"tail of block","category":"block_edge","verdict":"wrong_answer","seed":1234567,"sizes":{"n":1024},"detail":"out[1023] is 0.0, expected 1.5; 33 of 1024 differ.","hint":"The last block is not full: mask its loads and stores.","mismatch":{"argument":"out","kind":"value","index":[1023],"expected":"1.5","got":"0.0","wrong":33,"total":1024,"max_error":2.25},"output":"block 3 <script>alert(1)</script>\n","seconds":0.02,"hidden":false},{"name":"secret","category":"prime","verdict":"runtime_error","seed":99,"sizes":{"n":31},"detail":"n was 31","hint":"","mismatch":null,"output":"","seconds":null,"hidden":true},{"name":"late","category":"huge","verdict":"not_run","seed":null,"sizes":null,"detail":"Not run: three boxes were lost.","hint":"","mismatch":null,"output":"","seconds":null,"hidden":false}],"workloads":[],"score":{"time_us":null,"speedup":null,"ci":null,"passed":1,"total":4},"compiler_log":"","detail":"","hint":"","environment":{},"breakdown_s":{}}', '2026-11-21 23:19:24.365052');
INSERT INTO reports (submission_id, attempt, body, created_at)
VALUES (4, 1, '{"verdict":"compile_error","flags":[],"challenge":"vector_add","version":1,"language":"triton","device":"cpu","representative":true,"cases":[],"workloads":[],"score":{"time_us":null,"speedup":null,"ci":null,"passed":0,"total":0},"compiler_log":"solution.cu(3): error: <img src=x onerror=alert(1)>","detail":"Line 3 does not compile.","hint":"Close the bracket.","environment":{},"breakdown_s":{}}', '2026-11-21 23:19:24.456237');
