"""Finds copies disguised by hand among the staff's solutions."""

from pathlib import Path

import pytest

from grader.languages import Language, usual
from grader.similarity.comparison import Comparison, Pair, Source, clusters, least_bits

ROOT = Path(__file__).resolve().parents[2]
REFERENCE, HOMEWORK = ROOT / "reference", ROOT / "benchmarks" / "homework"

CUDA = """
__global__ void row_sums(const float* x, float* sums, int rows, int cols) {
    __shared__ float partial[256];
    int row = blockIdx.x;
    float own = 0.0f;
    for (int c = threadIdx.x; c < cols; c += blockDim.x) own += fabsf(x[row * cols + c]);
    partial[threadIdx.x] = own;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) sums[row] = partial[0];
}
__global__ void scale(float* x, const float* sums, int rows, int cols) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    float by = 1.0f / fmaxf(sums[at / cols], 1e-12f);
    if (at < rows * cols) x[at] *= by;
}
"""
# With other names and numbers, reordered functions and lines, extra lines, qualifiers and integer casts.
CUDA_COPY = """
// my own work
__global__ void normalise(float* __restrict__ data, const float* __restrict__ norm, long m, long n) {
    long idx = blockIdx.x * blockDim.x + threadIdx.x;
    int unused = 5;
    const float factor = 1.0f / fmaxf(norm[idx / n], 1e-9f);
    unused += 2;
    if (idx < m * n) data[idx] *= factor;
}
__global__ void l1(const float* __restrict__ in, float* __restrict__ out, long m, long n) {
    float acc = 0.0f;
    const long r = blockIdx.x;
    __shared__ float buf[512];
    unsigned waste = blockIdx.x ^ 3u;
    for (unsigned j = threadIdx.x; j < n; j += blockDim.x) acc += fabsf(in[n * r + j]);
    buf[threadIdx.x] = acc;  /* to shared */
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        waste = waste * 3u;
        if (threadIdx.x < s) buf[threadIdx.x] += buf[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[r] = buf[0];
}
"""
TRITON = '''
@triton.jit
def row_norm(x, out, cols, BLOCK: tl.constexpr):
    """The first one's words."""
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, cols, BLOCK):
        column = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * cols + column, mask=column < cols, other=0.0)
        total += tl.abs(values)
    norm = tl.maximum(tl.sum(total, axis=0), 1e-12)
    for start in range(0, cols, BLOCK):
        column = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * cols + column, mask=column < cols, other=0.0)
        tl.store(out + row * cols + column, values / norm, mask=column < cols)
'''
TRITON_COPY = """
@triton.jit
def kernel(inp, res, n, B: tl.constexpr):
    acc = tl.zeros((B,), dtype=tl.float32)
    pid = tl.program_id(0).to(tl.int64)
    spare = 3
    for k in range(0, n, B):
        idx = tl.arange(0, B) + k  # other way round
        spare = spare * 5
        v = tl.load(inp + pid * n + idx, mask=idx < n, other=0.0)
        acc += tl.abs(v)
    z = tl.maximum(tl.sum(acc, axis=0), 1e-6)
    for k in range(0, n, B):
        idx = tl.arange(0, B) + k
        v = tl.load(inp + pid * n + idx, mask=idx < n, other=0.0)
        tl.store(res + pid * n + idx, v / z, mask=idx < n)
"""


def solutions(language: Language) -> list[Source]:
    return [
        Source(path.parts[-3], path.parts[-3], path.read_text(), language)
        for path in sorted(REFERENCE.glob(f"*/staff/solution{language.suffix}"))
    ]


# The staff's relu.py in five lines, renamed and reordered.
SHORT_COPY = """
@triton.jit
def work(src, dst, count, SIZE: tl.constexpr):
    idx = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    idle = 3
    ok = idx < count
    val = tl.load(src + idx, mask=ok)
    tl.store(dst + idx, tl.where(val < 0, 0.0, val), mask=ok)


def solve(x, out, n):
    if n == 0:
        return
    work[(triton.cdiv(n, 256),)](x, out, n, SIZE=256)
"""


def test_a_copy_of_a_short_source_is_found_in_a_small_class() -> None:
    sources = [*solutions(Language.TRITON), Source("copy", "bob", SHORT_COPY, Language.TRITON)]
    (found,) = (
        pair for pair in Comparison(sources, Language.TRITON).pairs() if "copy" in (pair.left, pair.right)
    )
    assert {found.left, found.right} == {"relu", "copy"}
    assert least_bits(25) < found.bits < least_bits(500)


@pytest.mark.parametrize("language", usual())
@pytest.mark.parametrize("slug", ["reduce_sum", "softmax", "transpose"])
def test_independent_work_is_not_reported(slug: str, language: Language) -> None:
    starter = (ROOT / "challenges" / slug / f"starter{language.suffix}").read_text()
    texts = sorted((HOMEWORK / slug).glob(f"*{language.suffix}"))
    sources = [Source(path.stem, path.stem, path.read_text(), language) for path in texts]
    assert len(sources) >= 13
    assert Comparison(sources, language, starter).pairs() == []


@pytest.mark.parametrize(
    ("language", "first", "copy"),
    [(Language.CUDA, CUDA, CUDA_COPY), (Language.TRITON, TRITON, TRITON_COPY)],
)
def test_only_the_disguised_copy_is_found(language: Language, first: str, copy: str) -> None:
    sources = [
        *solutions(language),
        Source("first", "ann", first, language),
        Source("copy", "bob", copy, language),
    ]
    comparison = Comparison(sources, language)
    found = [{pair.left, pair.right} for pair in comparison.pairs()]
    # The staff's own solutions share parts.
    assert [ids for ids in found if ids & {"first", "copy"}] == [{"first", "copy"}]
    lines = {(match.left, match.right) for match in comparison.matches("first", "copy")}
    called = [number for number, line in enumerate(copy.splitlines(), 1) if "abs" in line]
    assert any(right in called for _, right in lines)


def test_code_of_the_starter_is_ignored() -> None:
    sources = [
        *solutions(Language.CUDA),
        Source("1", "ann", CUDA, Language.CUDA),
        Source("2", "bob", CUDA, Language.CUDA),
    ]
    assert any({pair.left, pair.right} == {"1", "2"} for pair in Comparison(sources, Language.CUDA).pairs())
    given = Comparison(sources, Language.CUDA, starter=CUDA)
    assert not any("1" in (pair.left, pair.right) for pair in given.all_pairs())


def test_sources_of_one_author_or_of_earlier_years_are_not_paired() -> None:
    sources = [
        *solutions(Language.CUDA),
        Source("mine", "ann", CUDA, Language.CUDA),
        Source("mine again", "ann", CUDA_COPY, Language.CUDA),
        Source("2025", "eve", CUDA, Language.CUDA, reported=False),
        Source("2024", "dan", CUDA_COPY, Language.CUDA, reported=False),
    ]
    found = [{pair.left, pair.right} for pair in Comparison(sources, Language.CUDA).pairs()]
    assert {"mine", "mine again"} not in found
    assert {"2025", "2024"} not in found
    assert {"mine", "2025"} in found


def test_too_few_authors_give_no_pairs() -> None:
    sources = [Source(name, name, CUDA, Language.CUDA) for name in ("a", "b", "c")]
    assert Comparison(sources, Language.CUDA).pairs() == []


def test_a_broken_source_is_compared_up_to_its_error() -> None:
    broken = ['__global__ void f( { "', "/* never closed", "}}}} ;; ((", "", "\0\x01", "int é = 3;"]
    sources = [Source(str(i), str(i), text, Language.CUDA) for i, text in enumerate(broken)]
    assert Comparison(sources, Language.CUDA).pairs() == []


def test_connected_pairs_form_one_cluster() -> None:
    pairs = [Pair("a", "b", 1, 1, 50), Pair("c", "d", 1, 1, 50), Pair("b", "e", 1, 1, 50)]
    assert clusters(pairs) == [["a", "b", "e"], ["c", "d"]]


def test_another_language_is_an_error() -> None:
    with pytest.raises(ValueError, match="mine is triton: compare it with its like"):
        Comparison([Source("mine", "ann", TRITON, Language.TRITON)], Language.CUDA)
