"""A host process's requests, as in ``host/protocol.h``."""

from __future__ import annotations

import struct

from ..names import MESSAGE, STREAMS

# The runner's requests, too.
MODULE, KERNEL, ALLOCATE, RELEASE, COPY, LAUNCH, TIME, UNWRITTEN, GPU = (
    MESSAGE[name] for name in "MODULE KERNEL ALLOCATE RELEASE COPY LAUNCH TIME UNWRITTEN GPU".split()
)
# struct order
ORDER_OF = struct.Struct(f"<{2 + STREAMS}I")
GPU_OF = struct.Struct("<II")
UNWRITTEN_PATTERN_BYTES = 16
SAID, MOST_SAID = struct.Struct("<ii"), 1024
HEADER, REPLY = struct.Struct("<II"), struct.Struct("<iI")
COPY_HEAD, SET_HEAD, LAUNCH_HEAD = (
    struct.Struct("<QQQII"),
    struct.Struct("<QQII"),
    struct.Struct("<IIII3I3I3II"),
)
RANGE = struct.Struct("<QQ")
# Address, pitch; width, height, depth, element, bits of channels, kind, modes, three flags; border.
TEXTURE_OF = struct.Struct("<QQ15I4f4x")
# A number, and the asking place in the host code.
PLACED = struct.Struct("<QI")
# struct misused; a name follows.
MISUSED_HEAD = struct.Struct("<II6Q")
# struct kernel_facts, which begins KERNEL's reply.
KERNEL_FACTS = struct.Struct("<6I")
MOST_BYTES = (1 << 31) + 4096
