"""Runs a Triton source once, for a caller that is its emulated GPU (``counting.py``).

Usage: python emulated_program.py SOURCE ENTRIES.json DESCRIPTOR ...; GRADER_GPU is the socket to the GPU. Tensors lie
in the caller's own memory, so nothing is copied to or from it.
"""

from __future__ import annotations

import importlib.util
import json
import mmap
import os
import sys
from pathlib import Path

# A request that no GPU knows: from here on its work counts.
BEGIN = 0
ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    sys.path.insert(0, str(ROOT / "sandbox" / "runner"))
    from emulated_triton import ClientBinding, gpu
    from triton_loader import prepare_client

    prepare_client()
    gate = os.memfd_create("gate")
    os.truncate(gate, mmap.PAGESIZE)
    binding = ClientBinding(json.loads(Path(sys.argv[2]).read_text()), [gate, *map(int, sys.argv[3:])])
    spec = importlib.util.spec_from_file_location("solution", sys.argv[1])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["solution"] = module
    spec.loader.exec_module(module)
    gpu().ask(BEGIN, b"", "to count")
    module.solve(*binding.tensors().values())


if __name__ == "__main__":
    main()
