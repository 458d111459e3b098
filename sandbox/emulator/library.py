"""The C engine's library, with the structures of ``engine/engine.h``."""

from __future__ import annotations

import ctypes
from pathlib import Path

from .model import NEEDS
from .names import COUNT

COUNTS = len(COUNT)
Triple = ctypes.c_uint32 * 3


class CFinding(ctypes.Structure):
    _fields_ = [
        *(
            (name, ctypes.c_uint32)
            for name in (
                "kind",
                "line",
                "other_line",
                "region",
                "space",
                "size",
                "is_write",
                "other_is_write",
            )
        ),
        ("offset", ctypes.c_int64),
        ("extent", ctypes.c_int64),
        *((name, Triple) for name in ("block", "thread", "other_block", "other_thread")),
        ("times", ctypes.c_uint32),
        ("has_other", ctypes.c_uint32),
        ("together", ctypes.c_uint32),
        ("other_work", ctypes.c_uint32),
    ]


class CKernel(ctypes.Structure):
    _fields_ = [
        ("rows", ctypes.c_void_p),
        *(
            (name, ctypes.c_uint32)
            for name in (
                "row_count",
                "entry",
                "units",
                "pool_units",
                "special_count",
                "local_bytes",
                "shared_bytes",
                "granule",
                "is_async",
                "coordinates",
            )
        ),
        ("pool", ctypes.c_void_p),
        ("specials", ctypes.c_void_p),
        ("arrays", ctypes.c_void_p),
        ("array_count", ctypes.c_uint32),
    ]


class CProfile(ctypes.Structure):
    _fields_ = [
        ("classes", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
        ("weights", ctypes.c_void_p),
        ("widths", ctypes.c_void_p),
        ("branches", ctypes.c_void_p),
        *(
            (name, ctypes.c_uint64)
            for name in "fresh updates updates_most l1_lines live resident multiprocessors chain".split()
        ),
        ("busiest", ctypes.c_uint64 * len(NEEDS)),
        ("cycles", ctypes.c_double * len(NEEDS)),
        ("unscaled", ctypes.c_void_p),
        ("counted", ctypes.c_uint64),
        ("updates_shared", ctypes.c_uint64),
        ("after", ctypes.c_uint64 * 2),
    ]


class COverlay(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("first", "step", "value")]


class CLazy(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("drawn", "pattern", "overlays")),
        *((name, ctypes.c_uint64) for name in ("period", "overlay_count", "element")),
    ]


class CSample(ctypes.Structure):
    _fields_ = [
        ("numbers", ctypes.c_void_p),
        *(
            (name, ctypes.c_uint64)
            for name in ("count", "enough_bytes", "most_bytes", "enough_rows", "most_rows")
        ),
        ("groups", ctypes.c_void_p),
        ("parts", ctypes.c_void_p),
        ("fill", ctypes.c_uint64),
    ]


class CWriter(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_uint32) for name in ("kind", "work", "many", "line_count")),
        ("block", Triple),
        ("thread", Triple),
        ("lines", ctypes.c_uint32 * 6),
    ]


OTHER_VERSION = "the engine was built from another version; run sandbox/emulator/build.sh"


class EngineMissing(RuntimeError):
    """The engine was not built."""


def operations_of(c: ctypes.CDLL) -> dict[str, tuple[int, int]]:
    """Number and arity by name."""
    return {
        c.engine_alu_name(index).decode(): (index, c.engine_alu_arity(index))
        for index in range(c.engine_alu_count())
    }


def open_library(library: Path) -> ctypes.CDLL:
    try:
        c = ctypes.CDLL(str(library))
    except OSError as error:
        raise EngineMissing(
            f"the emulated GPU is not built ({error}); run sandbox/emulator/build.sh"
        ) from error
    try:
        _declare(c)
    except AttributeError as error:
        raise EngineMissing(OTHER_VERSION) from error
    return c


def _declare(c: ctypes.CDLL) -> None:
    pointer, word, long = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64
    for name, result, arguments in (
        ("engine_new", pointer, [word]),
        ("engine_delete", None, [pointer]),
        ("engine_add", long, [pointer, pointer, long, word, word, word]),
        ("engine_number_of", word, [pointer, long]),
        ("engine_remove", word, [pointer, long, word]),
        ("engine_mark", None, [pointer, long, long]),
        ("engine_unmark", None, [pointer, long, long, ctypes.c_char_p, word]),
        ("engine_order_begins", None, [pointer]),
        ("engine_order", word, [pointer, word, pointer]),
        ("engine_copied", None, [pointer, long, long, long]),
        ("engine_writers", None, [pointer, pointer, word, pointer]),
        ("engine_writing_blocks", None, [pointer, pointer, word, pointer]),
        ("engine_read", word, [pointer, long, long, long, pointer]),
        ("engine_texture", long, [pointer, ctypes.c_char_p]),
        ("engine_heap", word, [pointer, long, long]),
        ("engine_keep_apart", None, [pointer, long]),
        ("engine_gpus", None, [pointer, word]),
        ("engine_gpu", word, [pointer, word, word]),
        ("engine_everywhere", None, [pointer, long]),
        ("engine_lazy", word, [pointer, long, pointer]),
        ("engine_fill", None, [pointer, long, long]),
        ("engine_sample", None, [pointer, pointer]),
        ("engine_sample_begins", None, [pointer]),
        ("engine_blocks_run", long, [pointer]),
        ("engine_guessed", word, [pointer]),
        ("engine_combined", word, [pointer]),
        ("engine_uneven", word, [pointer]),
        ("engine_heap_live", long, [pointer, ctypes.POINTER(ctypes.c_uint64)]),
        (
            "engine_launch",
            ctypes.c_int,
            [pointer, pointer, Triple, Triple, Triple, word, word, word, pointer],
        ),
        ("engine_fault", pointer, [pointer]),
        ("engine_instructions", long, [pointer]),
        ("engine_work", long, [pointer]),
        ("engine_findings", word, [pointer, ctypes.POINTER(ctypes.c_void_p)]),
        ("engine_printed", pointer, [pointer, ctypes.POINTER(ctypes.c_uint64)]),
        ("engine_tag_prints", None, [pointer, long]),
        ("engine_prints_left_out", long, [pointer]),
        ("engine_names", ctypes.c_char_p, []),
        ("engine_alu_count", word, []),
        ("engine_alu_name", ctypes.c_char_p, [word]),
        ("engine_alu_arity", word, [word]),
        ("engine_alu_types", ctypes.c_char_p, [word]),
        ("engine_sizes", word, [word]),
    ):
        function = getattr(c, name)
        function.restype, function.argtypes = result, arguments
