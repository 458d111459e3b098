"""The contract of spmm_csr: each row is the sum over its entries of val times a row of b."""

import warnings

import torch

# Products that are held at once: in float64, 512 MiB.
PRODUCTS_AT_ONCE = 1 << 26


def reference(
    row_ptr: torch.Tensor,
    col: torch.Tensor,
    val: torch.Tensor,
    b: torch.Tensor,
    rows: int,
    cols: int,
    nnz: int,
    n: int,
) -> torch.Tensor:
    """out[rows, n] = A @ b for the CSR matrix (row_ptr[rows + 1], col[nnz], val[nnz]); an empty row gives 0.

    Columns of a row may come in any order and more than once.
    """
    # cuSPARSE refuses a matrix that has more entries than places, which columns that come twice can make.
    if val.dtype is torch.float64 or nnz > rows * cols or nnz == 0 or n == 0:
        return _row_sums(row_ptr, col, val, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "Sparse CSR tensor support is in beta state"
        matrix = torch.sparse_csr_tensor(row_ptr, col, val, (rows, cols), check_invariants=False)
    return matrix @ b


def magnitude(
    row_ptr: torch.Tensor,
    col: torch.Tensor,
    val: torch.Tensor,
    b: torch.Tensor,
    rows: int,
    cols: int,
    nnz: int,
    n: int,
) -> torch.Tensor:
    """The scale of each element's rounding errors: the same sum over absolute values."""
    return _row_sums(row_ptr, col, val.abs(), b.abs())


def _row_sums(row_ptr: torch.Tensor, col: torch.Tensor, val: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    rows, n, nnz = len(row_ptr) - 1, b.shape[1], len(col)
    out = b.new_zeros(rows, n)
    if out.numel() == 0 or nnz == 0:
        return out
    width = max(PRODUCTS_AT_ONCE // nnz, 1)
    for first in range(0, n, width):
        columns = slice(first, min(first + width, n))
        products = val[:, None] * b[:, columns][col]
        # unsafe: row_ptr is well-formed, and checking it would make the host wait for the GPU.
        out[:, columns] = torch.segment_reduce(products, "sum", offsets=row_ptr, axis=0, unsafe=True)
    return out
