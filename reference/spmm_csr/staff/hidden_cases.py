"""Staff's own cases of spmm_csr: sizes and values that the public suite does not name."""

from grader.challenge.cases import NAN, Case, Integers, Sprinkle, case
from grader.challenge.derived import RowPointers


def cases() -> list[Case]:
    return [
        case("hidden_prime", "prime", rows=61, cols=97, nnz=601, n=41),
        case("hidden_no_entries", "empty", rows=130, cols=3, nnz=0, n=21),
        case(
            "hidden_uneven",
            "large",
            rows=97,
            cols=400,
            nnz=3001,
            n=44,
            inputs={"row_ptr": RowPointers("nnz", empty=0.8, huge=0.5), "col": Integers(0, 400)},
        ),
        case("hidden_nan", "nan", rows=60, cols=70, nnz=200, n=19, inputs={"val": Sprinkle(NAN, 0.01)}),
    ]
