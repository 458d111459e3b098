"""The contract of spmv_csr: for each row, the sum over its entries of val * x[col]."""

import warnings

import torch


def reference(
    row_ptr: torch.Tensor,
    col: torch.Tensor,
    val: torch.Tensor,
    x: torch.Tensor,
    rows: int,
    cols: int,
    nnz: int,
) -> torch.Tensor:
    """out[rows] = A @ x for the CSR matrix (row_ptr[rows + 1], col[nnz], val[nnz]); an empty row gives 0.

    Columns of a row may come in any order and more than once.
    """
    # cuSPARSE refuses a matrix that has more entries than places, which columns that come twice can make.
    if val.dtype is torch.float64 or nnz > rows * cols:
        return _row_sums(val * x[col], row_ptr, rows, nnz)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "Sparse CSR tensor support is in beta state"
        matrix = torch.sparse_csr_tensor(row_ptr, col, val, (rows, cols), check_invariants=False)
    return matrix @ x


def magnitude(
    row_ptr: torch.Tensor,
    col: torch.Tensor,
    val: torch.Tensor,
    x: torch.Tensor,
    rows: int,
    cols: int,
    nnz: int,
) -> torch.Tensor:
    """The scale of each row's rounding errors: the same sum over absolute values."""
    return _row_sums((val * x[col]).abs_(), row_ptr, rows, nnz)


def _row_sums(products: torch.Tensor, row_ptr: torch.Tensor, rows: int, nnz: int) -> torch.Tensor:
    if nnz == 0:
        return products.new_zeros(rows)
    # unsafe: row_ptr is well-formed, and checking it would make the host wait for the GPU.
    return torch.segment_reduce(products, "sum", offsets=row_ptr, unsafe=True)
