"""A bad value of any key in ``challenge.toml`` is refused with file and key."""

from __future__ import annotations

import pytest

from grader.challenge.signature import declaration, starter
from grader.errors import ChallengeInvalid
from grader.languages import Language
from tests.challenge.conftest import MANIFEST, Write

ARG_X = '{ name = "x", kind = "input", dtype = "float32", shape = ["rows", "cols"] }'
ARG_ALPHA = '{ name = "alpha", kind = "scalar", dtype = "float32", value = 2.0 }'
ARG_ROWS = '{ name = "rows", kind = "size" }'
BIG = '{ name = "big", sizes = { rows = 400, cols = 800 } }'

# key in the message, old text, new text
BAD_VALUES = [
    ("title", 'title = "Scaled rows"', 'title = ""'),
    ("title", 'title = "Scaled rows"', f'title = "{"long" * 30}"'),
    ("track", 'track = "tests"', "track = 3"),
    ("order", "order = 3", "order = -1"),
    ("prerequisites.0", "order = 3", 'prerequisites = ["../rows"]'),
    ("prerequisites", "order = 3", 'prerequisites = ["one", "one"]'),
    (
        "grading: grading.groups 'edges': it takes no cases",
        "correctness_points = 60",
        'groups = [{ name = "edges", points = 5 }]',
    ),
    (
        "grading: grading.groups 'edges': needs ['large']",
        "correctness_points = 60",
        'groups = [{ name = "edges", points = 5, categories = ["odd"], needs = ["large"] }]',
    ),
    (
        "grading: grading.groups: their points are 500 together",
        "correctness_points = 60",
        'groups = [{ name = "edges", points = 500, categories = ["odd"] }]',
    ),
    ("difficulty", 'difficulty = "easy"', 'difficulty = "trivial"'),
    ("tags", 'tags = ["one"]', 'tags = "one"'),
    ("version", "version = 1", "version = 0"),
    ("languages", 'languages = ["cuda", "triton"]', "languages = []"),
    ("languages.0", 'languages = ["cuda", "triton"]', 'languages = ["rust"]'),
    ("allow.0", "allow = []", 'allow = ["everything"]'),
    ("args.0.name", 'name = "x"', 'name = "2x"'),
    ("args.0.name", 'name = "x"', 'name = "float"'),
    ("args.0.name", 'name = "x"', 'name = "lambda"'),
    ("args", 'name = "x"', 'name = "out"'),
    ("args.0.kind", 'name = "x", kind = "input"', 'name = "x", kind = "parameter"'),
    (
        "args.0",
        ARG_X,
        '{ name = "x", kind = "output", dtype = "float32", shape = ["rows"], optional = true }',
    ),
    (
        "args.0",
        ARG_X,
        '{ name = "x", kind = "input", dtype = "float32", shape = ["rows"], layout = { pitch = "cols" } }',
    ),
    (
        "args",
        ARG_X,
        '{ name = "x", kind = "input", dtype = "float32", shape = ["rows", "cols"], layout = { pitch = "m" } }',
    ),
    (
        "args.0: 'x' is uint16, which has no layout; these types have one: float32, ",
        ARG_X,
        '{ name = "x", kind = "input", dtype = "uint16", shape = ["rows", "cols"], layout = { pitch = "cols" } }',
    ),
    (
        "args.0: 'x' is a scalar: its dtype must be float32 or ",
        ARG_X,
        '{ name = "x", kind = "scalar", dtype = "int4", value = 1 }',
    ),
    ("args.0", ARG_X, '{ name = "x", kind = "input", dtype = "float32", shape = ["rows"], valid = "count" }'),
    (
        "args.0.dtype",
        'name = "x", kind = "input", dtype = "float32"',
        'name = "x", kind = "input", dtype = "f32"',
    ),
    ("args.0", 'name = "x", kind = "input", dtype = "float32"', 'name = "x", kind = "input"'),
    ("args.0", ', shape = ["rows", "cols"]', ""),
    ("args.0.shape.0", 'shape = ["rows", "cols"]', 'shape = ["rows ** 2"]'),
    ("args.0.shape.0", 'shape = ["rows", "cols"]', 'shape = ["rows rows"]'),
    ("args 'x' shape", 'shape = ["rows", "cols"]', 'shape = ["depth"]'),
    ("args.1.values.dist", 'dist = "integers"', 'dist = "poisson"'),
    ("args.1.values.high", 'high = "cols"', 'high = "cols +"'),
    ("args 'pick' values", 'high = "cols"', 'high = "depth"'),
    ("args.1.values.middle", 'high = "cols"', 'middle = "cols"'),
    ("args.1.values", ', high = "cols"', ""),
    ("args.4", ARG_ALPHA, '{ name = "alpha", kind = "scalar", dtype = "float32" }'),
    ("args.4", ARG_ALPHA, '{ name = "alpha", kind = "scalar", dtype = "int64", value = 1.5 }'),
    ("args.4", ARG_ALPHA, '{ name = "alpha", kind = "scalar", dtype = "uint8", value = -1 }'),
    ("args.4.value", "value = 2.0", "value = nan"),
    (
        "args.4",
        ARG_ALPHA,
        '{ name = "alpha", kind = "scalar", dtype = "float32", value = 1.0, shape = ["rows"] }',
    ),
    ("args.5", ARG_ROWS, '{ name = "rows", kind = "size", dtype = "int32" }'),
    ("args.5.unit", ARG_ROWS, '{ name = "rows", kind = "size", unit = "m" }'),
    ("workloads.1.name", 'name = "big"', 'name = ""'),
    ("workloads", 'name = "big"', 'name = "small"'),
    ("workloads 'big'", BIG, '{ name = "big", sizes = { rows = 400 } }'),
    ("workloads 'big'", BIG, '{ name = "big", sizes = { rows = 400, cols = 8, depth = 2 } }'),
    ("workloads.1.sizes.rows", BIG, '{ name = "big", sizes = { rows = 1.5, cols = 8 } }'),
    ("workloads.0.on", 'on = "cpu"', 'on = "tpu"'),
    ("grading.correctness_points", "correctness_points = 60", "correctness_points = -1"),
    ("grading.tiers.0.speedup", "speedup = 0.5", "speedup = 0"),
    ("grading.tiers.0.speedup", "speedup = 0.5", "speedup = inf"),
    ("grading.tiers.0.points", "points = 40", 'points = "many"'),
    ("tolerance.atol", "atol = 1e-9", "atol = -1e-9"),
    ("tolerance.rtol", "rtol = 1e-6", "rtol = 1"),
    ("tolerance.rtol", "rtol = 1e-6", "rtol = nan"),
    ("tolerance.ulp", "rtol = 1e-6", "ulp = 2"),
    ("compare", "[compare.out]", "[compare.x]"),
    ("compare.out", 'first = "count"', 'first = "out"'),
    ("compare.out.last", 'first = "count"', 'last = "count"'),
    ("cost.bytes", 'bytes = "4 * rows * cols"', 'bytes = "import os"'),
    ("cost.bytes", 'bytes = "4 * rows * cols"', 'bytes = "4 * depth"'),
    ("cost.flops", 'flops = "rows"', "flops = []"),
    ("limits.case_seconds", "case_seconds = 5", "case_seconds = 0"),
    ("limits.case_seconds", "case_seconds = 5", "case_seconds = 10000"),
    ("limits.memory_bytes", "memory_bytes = 1073741824", "memory_bytes = 1024"),
    ("limits.cores", "case_seconds = 5", "cores = 5"),
    ("gpus", "version = 1", "version = 1\ngpus = 9"),
    (
        "(the whole file): args: ['x'] say `on`",
        'shape = ["rows", "cols"]',
        'shape = ["rows", "cols"], on = 0',
    ),
    ("args.5", ARG_ROWS, '{ name = "rows", kind = "size", on = 0 }'),
    ("colour", 'title = "Scaled rows"', 'title = "Scaled rows"\ncolour = "red"'),
]
REQUIRED = ["title", "track", "difficulty", "version", "languages"]


def test_the_unspoilt_manifest_is_valid(write: Write) -> None:
    manifest = write().manifest
    assert manifest.sizes == ["rows", "cols"]
    assert [arg.name for arg in manifest.results] == ["out", "count"]
    assert manifest.shape(manifest.args[0], {"rows": 2, "cols": 3}) == (2, 3)


@pytest.mark.parametrize(
    ("key", "old", "new"), BAD_VALUES, ids=[f"{key}-{new[:40]}" for key, _, new in BAD_VALUES]
)
def test_a_bad_value_names_file_and_key(write: Write, key: str, old: str, new: str) -> None:
    assert MANIFEST.count(old) == 1
    with pytest.raises(ChallengeInvalid) as caught:
        write(manifest=MANIFEST.replace(old, new))
    assert "challenge.toml" in caught.value.message
    assert f": {key}" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("key", REQUIRED)
def test_a_missing_key_is_named(write: Write, key: str) -> None:
    lines = [line for line in MANIFEST.splitlines() if not line.startswith(f"{key} =")]
    with pytest.raises(ChallengeInvalid, match=rf"challenge\.toml: {key}: Field required"):
        write(manifest="\n".join(lines))


@pytest.mark.parametrize("table", ["args", "workloads", "cost"])
def test_a_missing_table_is_named(write: Write, table: str) -> None:
    renamed = MANIFEST.replace(f"\n{table} =", "\ntags2 =").replace(f"\n[{table}]", "\n[tags2]")
    with pytest.raises(ChallengeInvalid, match=rf"challenge\.toml: {table}: Field required"):
        write(manifest=renamed)


SEVERAL = [
    (
        "args 'x' on: GPU 2 is not there; gpus = 2",
        'shape = ["rows", "cols"]',
        'shape = ["rows", "cols"], on = 2',
    ),
    ("args: 'gpus' is passed to solve by itself", 'name = "rows", kind', 'name = "gpus", kind'),
    ("pieces: a challenge for several GPUs has no large cases", "[cost]", '[pieces]\nalong = "rows"\n[cost]'),
    (
        "args 'x': a challenge for several GPUs has no layouts",
        'shape = ["rows", "cols"]',
        'shape = ["rows", "cols"], layout = { pitch = "cols" }',
    ),
    ("args 'pick' optional: it is on each GPU", '{ name = "pick",', '{ name = "pick", optional = true,'),
    ("allow: PyTorch extensions run on one GPU", "allow = []", 'allow = ["torch"]'),
]


@pytest.mark.parametrize(("why", "old", "new"), SEVERAL)
def test_what_several_gpus_do_not_take_is_refused(write: Write, why: str, old: str, new: str) -> None:
    text = MANIFEST.replace("version = 1", "version = 1\ngpus = 2").replace(old, new)
    with pytest.raises(ChallengeInvalid) as caught:
        write(manifest=text.replace('[compare.out]\nfirst = "count"\n', ""))
    assert why in caught.value.message


def test_a_buffer_of_each_gpu_has_the_gpus_first(write: Write) -> None:
    on_first = '{ name = "pick", kind = "input", on = 0,'
    text = MANIFEST.replace("version = 1", "version = 1\ngpus = 2")
    with pytest.raises(ChallengeInvalid, match="are on each GPU, and compared whole"):
        write(manifest=text)
    text = text.replace('[compare.out]\nfirst = "count"\n', "")
    manifest = write(manifest=text.replace('{ name = "pick", kind = "input",', on_first)).manifest
    sizes = {"rows": 2, "cols": 3}
    assert [manifest.shape(arg, sizes) for arg in manifest.buffers] == [(2, 2, 3), (2,), (2, 2), (2, 1)]
    assert [arg.name for arg in manifest.parameters][-1] == "gpus"
    alone = manifest.on_one_gpu()
    assert [alone.shape(arg, sizes) for arg in alone.buffers] == [(2, 2, 3), (2,), (2, 2), (2, 1)]
    assert alone.parameters == alone.args
    assert declaration(manifest, Language.CUDA) == (
        'extern "C" void solve(const float* const* x, const int32_t* pick, float* const* out, int64_t* const* count, '
        "float alpha, int64_t rows, int64_t cols, int64_t gpus)"
    )
    written = starter(manifest, Language.CUDA)
    assert "x      input   float32 [rows, cols]  one on each of 2 GPUs" in written
    assert (
        "__global__ void kernel(const float* x, const int32_t* pick, float* out, int64_t* count," in written
    )


def test_a_challenge_without_output_is_refused(write: Write) -> None:
    args = 'args = [{ name = "n", kind = "size" }]\nworkloads = [{ name = "w", sizes = { n = 1 } }]\n'
    manifest = f'title="t"\ntrack="t"\ndifficulty="easy"\nversion=1\nlanguages=["cuda"]\n{args}\n'
    with pytest.raises(ChallengeInvalid, match="at least one output"):
        write(manifest=f'{manifest}[cost]\nbytes = "n"\nflops = "n"\n')


def test_other_text_than_toml_is_refused(write: Write) -> None:
    with pytest.raises(ChallengeInvalid, match=r"challenge\.toml: not TOML"):
        write(manifest="title = ")


def test_all_mistakes_are_reported_at_once(write: Write) -> None:
    broken = MANIFEST.replace("version = 1", "version = 0").replace("order = 3", "order = -3")
    with pytest.raises(ChallengeInvalid) as caught:
        write(manifest=broken)
    assert "version" in caught.value.message
    assert "order" in caught.value.message
