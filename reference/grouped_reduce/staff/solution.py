"""Sums of groups in Triton, in two launches: a program takes some groups at once, and all programs share the few groups
that are much longer than the others.
"""

import torch
import triton
import triton.language as tl

# Elements that a program looks at in one step, over all of its groups.
TILE = 2048
# About as many lanes as a group has elements on average keep most of them busy; 256 are enough for long groups.
MOST_LANES = 256
# Longer groups are left to the second launch. The second bound leaves it a thousand groups at most.
LONG, MOST_LONG = 8192, 1024
# Programs of the second launch, and elements of a step there.
PROGRAMS, STEP = 1024, 4096


@triton.jit
def add_up(values, offsets, out, found, listed, groups, long, GROUPS: tl.constexpr, LANES: tl.constexpr):
    group = tl.program_id(0).to(tl.int64) * GROUPS + tl.arange(0, GROUPS)
    inside = group < groups
    # Groups beyond the last one begin and end at 0: they have no element.
    begin = tl.load(offsets + group, mask=inside, other=0)
    end = tl.load(offsets + group + 1, mask=inside, other=0)
    is_long = end - begin > long
    if tl.max(is_long.to(tl.int32), axis=0) > 0:
        place = tl.atomic_add(found + tl.zeros((GROUPS,), dtype=tl.int32), 1, mask=is_long)
        tl.store(listed + place, group, mask=is_long)
    # A long group stores 0 here, to which the second launch adds.
    end = tl.where(is_long, begin, end)
    # All groups step together, as long as the longest of them needs.
    longest = tl.max(end - begin, axis=0)
    lane = tl.arange(0, LANES)
    total = tl.zeros((GROUPS, LANES), dtype=tl.float32)
    for step in range(0, longest, LANES):
        place = begin[:, None] + step + lane[None, :]
        # Behind the end of a group is the next one: the mask is another one for each group.
        total += tl.load(values + place, mask=place < end[:, None], other=0.0)
    tl.store(out + group, tl.sum(total, axis=1), mask=inside)


@triton.jit
def add_long(values, offsets, out, found, listed, STEP: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * STEP
    stride = tl.num_programs(0).to(tl.int64) * STEP
    for i in range(0, tl.load(found)):
        group = tl.load(listed + i)
        begin = tl.load(offsets + group)
        end = tl.load(offsets + group + 1)
        total = tl.zeros((STEP,), dtype=tl.float32)
        for start in range(begin + first, end, stride):
            place = start + tl.arange(0, STEP)
            total += tl.load(values + place, mask=place < end, other=0.0)
        if begin + first < end:
            tl.atomic_add(out + group, tl.sum(total, axis=0))


def solve(values, offsets, out, n, groups):
    if groups == 0:
        return  # out is empty; n = 0 is not special: every group stores its 0
    long = max(LONG, n // MOST_LONG)
    found = torch.zeros(1, dtype=torch.int32, device=values.device)
    listed = torch.empty(n // long + 1, dtype=torch.int64, device=values.device)
    lanes = min(max(triton.next_power_of_2(n // groups + 1) // 2, 4), MOST_LANES)
    at_once = TILE // lanes
    add_up[(triton.cdiv(groups, at_once),)](
        values, offsets, out, found, listed, groups, long, GROUPS=at_once, LANES=lanes, num_warps=4
    )
    if n > long:
        programs = min(triton.cdiv(n, STEP), PROGRAMS)
        add_long[(programs,)](values, offsets, out, found, listed, STEP=STEP, num_warps=8)
