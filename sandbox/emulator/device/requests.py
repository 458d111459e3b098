"""The requests of a host code's process, as ``host/protocol.h`` defines them."""

from __future__ import annotations

import struct

from ..names import MESSAGE, STREAMS

# Requests that the runner sends, too; ``MESSAGE`` has them all.
MODULE, KERNEL, ALLOCATE, RELEASE, COPY, LAUNCH, TIME, UNWRITTEN, GPU = (
    MESSAGE[name] for name in "MODULE KERNEL ALLOCATE RELEASE COPY LAUNCH TIME UNWRITTEN GPU".split()
)
# As struct order of protocol.h.
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
# A number, and the place in the host code that asks.
PLACED = struct.Struct("<QI")
# As struct misused; a name follows.
MISUSED_HEAD = struct.Struct("<II6Q")
# As struct kernel_facts, at the start of the reply to KERNEL.
KERNEL_FACTS = struct.Struct("<6I")
# The largest request.
MOST_BYTES = (1 << 31) + 4096
