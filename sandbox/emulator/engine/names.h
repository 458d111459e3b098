/* Numbers that C and Python share: names.py reads this file.
 *
 * X(NAME, 4) is 4; X(NAME) is one more than before, or 0. */
#ifndef NAMES_H
#define NAMES_H

#define NUMBERED(name, ...) name __VA_OPT__(= __VA_ARGS__),

#define CONSTANT 0x80000000u /* in the kernel's pool, not the warp's file */
#define NONE 0x7fffffffu
#define EVERY 0xffffffffu

/* Generic windows. Global memory is between the last two. */
#define SHARED_BASE 0x0002000000000000ull
#define LOCAL_BASE 0x0004000000000000ull
#define FUNCTION_BASE 0x0008000000000000ull
#define FIRST_ADDRESS 0x0000700000000000ull
#define LAST_ADDRESS 0x0000780000000000ull
/* Each of several GPUs has a part of global addresses. */
#define GPU_ADDRESSES 0x0000008000000000ull
#define MOST_GPUS 8

#define MULTIPROCESSORS 132 /* an H200's */
#define MOST_SHARED 232448u /* a block's bytes */
#define MOST_STATIC_SHARED 49152u
#define STREAMS 32
#define MOST_CLUSTER 16 /* blocks */
/* Larger regions have pages only once touched. */
#define LARGE_REGION 0x10000000ull
#define LAZY_PAGE 4096u

/* clang-format off */


/* Besides alu.ops: control, memory, and warps' operations. */
#define OPERATIONS(X) \
    X(NOP) X(BRANCH) X(BRANCH_INDEX) X(EXIT) X(CALL) X(CALL_INDIRECT) X(RETURN) X(TRAP) X(BARRIER) X(WARP_BARRIER) \
    X(FENCE) X(LOAD) X(STORE) X(ATOMIC) X(SHUFFLE) X(VOTE) X(MATCH) X(REDUX) X(ACTIVE_MASK) X(ELECT) X(COPY_LATE) \
    X(COMMIT) X(WAIT_GROUP) X(LOCAL_ADDRESS) X(CLOCK) X(PRINT) X(ASSERT) X(MATRIX) X(POP) X(ASYNC) X(HEAP) X(TEXTURE)
/* For profile.c's atomics. COUNTS_UP: adds a constant without a use of the old value. RETRIED: a card repeats it in
 * shared memory until no other thread interferes. */
#define FLAGS(X) \
    X(NEGATED, 1) X(JOIN, 2) X(STRONG, 8) X(SIGNED, 16) X(RECURSIVE, 32) X(CLUSTER, 64) X(RELEASES, 128) \
    X(COUNTS_UP, 16) X(RETRIED, 8)
#define SPACES(X) X(GENERIC) X(GLOBAL) X(SHARED) X(LOCAL) X(CONST)
/* OP_NOP's size. SLEEPS: gives a turn; PREFETCHES: a byte at a; PREFETCHES_BULK: b bytes. */
#define NOPS(X) X(SLEEPS, 1) X(PREFETCHES) X(PREFETCHES_BULK)
#define SPECIALS(X) \
    X(TID_X) X(TID_Y) X(TID_Z) X(NTID_X) X(NTID_Y) X(NTID_Z) X(CTAID_X) X(CTAID_Y) X(CTAID_Z) X(NCTAID_X) X(NCTAID_Y) \
    X(NCTAID_Z) X(LANEID) X(WARPID) X(NWARPID) X(LANEMASK_EQ) X(LANEMASK_LE) X(LANEMASK_LT) X(LANEMASK_GE) \
    X(LANEMASK_GT) X(SMID) X(NSMID) X(DYNAMIC_SMEM_SIZE) X(TOTAL_SMEM_SIZE) X(CLUSTER_CTAID_X) X(CLUSTER_CTAID_Y) \
    X(CLUSTER_CTAID_Z) X(CLUSTER_NCTAID_X) X(CLUSTER_NCTAID_Y) X(CLUSTER_NCTAID_Z) X(CLUSTER_CTARANK) \
    X(CLUSTER_NCTARANK) X(CLUSTERID_X) X(CLUSTERID_Y) X(CLUSTERID_Z) X(NCLUSTERID_X) X(NCLUSTERID_Y) X(NCLUSTERID_Z)
/* imm of alu.ops' roundings and conversions. */
#define ROUNDINGS(X) X(NEAREST) X(TO_ZERO) X(DOWN) X(UP)
#define CONVERSIONS(X) X(FINITE, 4) X(NOT_NEGATIVE, 8) X(TIES_AWAY, 16)
/* imm of prmt_b32, and of dp4a and dp2a. */
#define PERMUTATIONS(X) X(B32) X(F4E) X(B4E) X(RC8) X(ECL) X(ECR) X(RC16)
#define DOTS(X) X(A_SIGNED, 1) X(B_SIGNED, 2) X(UPPER_HALF, 4)
/* A barrier's imm; a warp operation's size. */
#define BARRIERS(X) X(SYNC) X(ARRIVE) X(POPC) X(AND) X(OR)
#define SHUFFLES(X) X(UP) X(DOWN) X(BFLY) X(IDX)
#define VOTES(X) X(ALL) X(ANY) X(UNI) X(BALLOT)
#define MATCHES(X) X(ANY) X(ALL)
#define REDUCTIONS(X) X(ADD) X(MIN) X(MAX) X(AND) X(OR) X(XOR)
#define HEAP_CALLS(X) X(MALLOC) X(FREE)
/* An atomic's e: one of these | its type << 8. */
#define ATOMICS(X) X(ADD) X(MIN) X(MAX) X(INC) X(DEC) X(AND) X(OR) X(XOR) X(EXCH) X(CAS)
#define ATOMIC_TYPES(X) X(U32) X(S32) X(F32) X(F16X2) X(BF16X2) X(U64) X(S64) X(F64) X(F16) X(BF16) X(U16)


#define ELEMENTS(X) X(F16) X(BF16) X(TF32) X(F32) X(F64) X(S8) X(U8) X(S32) X(S4) X(U4) X(B1) X(E4M3) X(E5M2)
/* Of struct matrix. */
#define MATRICES(X) \
    X(LOAD_FRAGMENT) X(STORE_FRAGMENT) X(MULTIPLY_WMMA) X(MULTIPLY_MMA) X(TRANSPOSE) X(MULTIPLY_QUADS) \
    X(MULTIPLY_SPARSE)
#define OPERANDS(X) X(OPERAND_A) X(OPERAND_B) X(OPERAND_D)
/* A row's size, of ldmatrix or stmatrix. */
#define MATRIX_MOVES(X) X(TRANSPOSED, 1) X(STORED, 2)


/* As PTX: vadd, vsub, vabsdiff, vmin, vmax, vavrg, vshl, vshr, vmad, vset. */
#define VIDEOS(X) X(ADD) X(SUB) X(ABSDIFF) X(MIN) X(MAX) X(AVRG) X(SHL) X(SHR) X(MAD) X(SET)
#define COMPARISONS(X) X(EQ) X(NE) X(LT) X(LE) X(GT) X(GE)
#define VIDEO_SECONDS(X) X(ADD, 1) X(MIN) X(MAX)
#define VIDEO_MADS(X) X(PLUS_ONE, 1) X(PRODUCT_NEGATED, 2) X(C_NEGATED, 4) X(BY_7, 8) X(BY_15, 16)


#define LOOKUPS(X) X(FETCH) X(LOAD_SURFACE) X(STORE_SURFACE)
#define BEYONDS(X) X(TRAP) X(CLAMPED) X(ZERO)


/* OP_ASYNC's size. */
#define ASYNCS(X) \
    X(MBARRIER_INIT) X(MBARRIER_INVAL) X(MBARRIER_ARRIVE) X(MBARRIER_DROP) X(MBARRIER_EXPECT) X(MBARRIER_COMPLETE) \
    X(MBARRIER_TEST) X(MBARRIER_TRY) X(COPIES_ARRIVE) X(CLUSTER_ARRIVE) X(CLUSTER_WAIT) X(MAP_RANK) X(RANK_OF) \
    X(PROXY_FENCE) X(BULK_COPY) X(BULK_COMMIT) X(BULK_WAIT) X(BULK_WAIT_READ) X(PRODUCT_FENCE) X(PRODUCT) \
    X(PRODUCT_COMMIT) X(PRODUCT_WAIT)
/* Its count, of mbarriers. */
#define ARRIVALS(X) X(EXPECTS, 1) X(PARITY, 2) X(NO_COMPLETE, 4) X(RELAXED, 8)
/* Its count, of COPIES_ARRIVE. */
#define COPIES(X) X(COUNTED_NOW, 1) X(COUNTED_BEFORE)
#define BULK_WAYS(X) X(SHARED_TO_SHARED, 1) X(GLOBAL_TO_SHARED) X(SHARED_TO_GLOBAL)


/* BUT_SHARED_RACES: some compilers let threads write an equal value to one place. */
#define CHECKS(X) X(NOTHING) X(EVERYTHING) X(BUT_SHARED_RACES)
/* OVER_BUDGET: of a sample. */
#define STOPS(X) X(FAULTED, 1) X(NO_MEMORY) X(OVER_BUDGET)
#define FINDING_KINDS(X) \
    X(OUT_OF_BOUNDS, 1) X(MISALIGNED) X(UNWRITTEN) X(SHARED_RACE) X(GLOBAL_RACE) X(BARRIER_PLACES) X(BARRIER_EXITED) \
    X(DEADLOCK) X(USE_AFTER_FREE) X(READ_ONLY) X(TRAPPED) X(ASSERTED) X(STACK_OVERFLOW) X(BAD_CALL) X(LIMIT) \
    X(WARP_RACE) X(ASYNC_RACE) X(NO_PROXY_FENCE) X(MBARRIER_UNINITIALISED) X(MBARRIER_OVERRUN) X(MBARRIER_BYTES) \
    X(CLUSTER_EXITED) X(EARLY_RESULT) X(BAD_DESCRIPTOR) X(BULK_UNWAITED) X(BAD_FREE) X(BAD_MASK) X(SHUFFLED) \
    X(BAD_COORDINATE) X(STREAM_RACE) X(ENDLESS) X(NO_PEER_ACCESS)
#define SHARED_ARRAY 0x80000000u /* a finding's region: a number in kernel.arrays */
/* Of an element's last write in this call. */
#define WRITERS(X) X(NOT_RECORDED) X(NOBODY) X(THREAD) X(COPIED)
/* From one line, two threads write a place; or some read and some write it. */
#define TOGETHER(X) X(TOGETHER_WRITE, 1) X(TOGETHER_UPDATE)


/* Of a multiprocessor, see model.py. */
#define CLASSES(X) \
    X(FREE) X(INTEGER) X(FLOAT) X(DOUBLE) X(SPECIAL) X(CONVERT) X(MEMORY) X(SHUFFLE) X(SYNC) X(MATRIX) X(BRANCH)
/* After slots of each class: slots of issue, 65536ths of tensor cycles, quarters of L1 lines, passes through banks, L2
 * sectors. */
#define NEEDS(X) X(ISSUE, 11) X(TENSOR) X(LINES) X(BANKS) X(FROM_L2)
/* The assembler's branches and merged accesses: see struct profile. */
#define BRANCHES(X) X(PREDICATED_BRANCH, 1) X(UNROLLED_LOOP, 2) X(IN_ORDER, 4)
#define WIDTHS(X) X(WIDE_PLACE, 16) X(WIDE_FIRST, 128)
#define COUNTS(X) \
    X(ISSUED) X(LANES) X(GUARDED) X(DIVERGENT) X(WAITED) X(REQUESTS) X(SECTORS) X(IDEAL_SECTORS) X(L2) X(DRAM) X(SAME) \
    X(SHARED_REQUESTS) X(PASSES) X(IDEAL_PASSES) X(CONSTANT_REQUESTS) X(CONSTANT_PASSES) X(LOCAL_REQUESTS) \
    X(LOCAL_SECTORS) X(LINES) X(STEPS) X(REGULAR) X(DELAYED) X(BYTES) X(ARRAY)

/* For step.c: a launch, flags of memory, and the returned state. */
#define STEP_LAUNCHES(X) \
    X(STEP_GRID) X(STEP_THREADS, 3) X(STEP_DYNAMIC_SHARED, 6) X(STEP_CHECK) X(STEP_ROW_COUNT) X(STEP_ENTRY) \
    X(STEP_UNITS) X(STEP_POOL_UNITS) X(STEP_SPECIAL_COUNT) X(STEP_LOCAL_BYTES) X(STEP_STATIC_SHARED) X(STEP_GRANULE) \
    X(STEP_ASYNC) X(STEP_ARRAY_COUNT)
#define STEP_ENDS(X) X(MORE) X(ENDED) X(FAULT_THERE) X(FOUND_THERE) X(WAITS_FOR_OTHERS) X(NO_ROOM)
#define STEP_MEMORY(X) X(STEP_CONSTANT, 1) X(STEP_TRACKED, 2) X(STEP_FREED, 4) X(STEP_LAZY, 8)
#define STEP_STATES(X) X(STEP_STATUS) X(STEP_WARP) X(STEP_PC) X(STEP_RUNS) X(STEP_ROWS) X(STEP_FINDINGS) X(STEP_WORDS)
/* clang-format on */
/* So that a page can follow. */
#define STEP_MOST_ROWS 1000000u

#endif
