/* A unit of a warp's file is 32 words of 32 bits, one for each lane; a 64-bit register is two units, as 32 words of 64
 * bits. Narrower types use a word's low bits. A predicate is a mask of lanes in a unit's first word. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"

#define LANES 32
#define UNIT 128
#define WINDOW_MASK 0x0000ffffffffffffull

#define NUMBERED_OP(name, ...) OP_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_SPECIAL(name, ...) SPECIAL_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_ROUND(name, ...) ROUND_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_BARRIER(name, ...) BARRIER_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_SHUFFLE(name, ...) SHUFFLE_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_VOTE(name, ...) VOTE_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_MATCH(name, ...) MATCH_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_REDUX(name, ...) REDUX_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_HEAP(name, ...) HEAP_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_ATOMIC(name, ...) ATOMIC_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_TYPE(name, ...) TYPE_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_CLASS(name, ...) CLASS_##name __VA_OPT__(= __VA_ARGS__),
#define NUMBERED_NEED(name, ...) NEED_##name __VA_OPT__(= __VA_ARGS__),
enum operation { OPERATIONS(NUMBERED_OP) OP_CONTROL_COUNT };
enum row_flags { FLAGS(NUMBERED) };
enum space { SPACES(NUMBERED) };
enum nop { NOPS(NUMBERED) };
enum special { SPECIALS(NUMBERED_SPECIAL) };
enum rounding { ROUNDINGS(NUMBERED_ROUND) };
enum barrier_kind { BARRIERS(NUMBERED_BARRIER) };
enum shuffle_kind { SHUFFLES(NUMBERED_SHUFFLE) };
enum vote_kind { VOTES(NUMBERED_VOTE) };
enum match_kind { MATCHES(NUMBERED_MATCH) };
enum redux_kind { REDUCTIONS(NUMBERED_REDUX) };
enum heap_call { HEAP_CALLS(NUMBERED_HEAP) };
enum step_word { STEP_LAUNCHES(NUMBERED) };
enum step_end { STEP_ENDS(NUMBERED) };
enum step_memory { STEP_MEMORY(NUMBERED) };
enum step_state { STEP_STATES(NUMBERED) };
enum atomic { ATOMICS(NUMBERED_ATOMIC) };
enum atomic_type { ATOMIC_TYPES(NUMBERED_TYPE) };

/* d, a, b, c, e: units (| CONSTANT), or numbers. */
struct row {
    uint16_t op;
    uint8_t flags;
    uint8_t size;
    uint8_t count; /* elements */
    uint8_t space;
    uint16_t wide; /* bit i: operand i (d a b c e) has 64 bits; bit 8 + i: is a predicate */
    uint32_t guard;
    uint32_t d, a, b, c, e;
    int64_t imm;
    uint32_t line;
    uint32_t spare; /* mask of warp operations; index of kernel.arrays */
};

struct kernel {
    const struct row *rows;
    uint32_t row_count, entry, units, pool_units, special_count, local_bytes, shared_bytes, granule;
    uint32_t async, coordinates; /* has instructions of async.c; blocks look at others, see Lowered */
    const uint32_t *pool;
    const uint32_t *specials; /* pairs: which, unit */
    /* pairs: beginning and size, in shared memory */
    const uint32_t *arrays;
    uint32_t array_count;
};

/* Filled when touched, because all of it is too large. ``period`` bytes repeat; overlays give other values. ``drawn``:
 * a byte for each page. */
struct overlay { uint64_t first, step, value; }; /* for elements first, first + step, ... */
struct lazy {
    uint8_t *drawn;
    const uint8_t *pattern;
    const struct overlay *overlays;
    uint64_t period, overlay_count, element;
};

/* Clusters in order; numbers NULL: all. After ``enough`` none begins; ``most`` ends the launch. Bytes: filled in lazy
 * memory in this call; rows: warp instructions, matrix products by their time. */
struct sample {
    const uint64_t *numbers;
    uint64_t count, enough_bytes, most_bytes, enough_rows, most_rows;
    /* By number: the group and its part. The launch ends between counted groups. */
    const uint32_t *groups, *parts;
    uint64_t fill; /* all other clusters then run uncounted */
};
/* ENDS: at the grid's end, only its length counts. */
enum sample_part { PART_COUNTS, PART_WARMS, PART_ENDS };

/* ``valid``: written bytes; NULL: all. */
struct region {
    uint64_t address, size;
    uint8_t *data, *valid;
    /* Per granule, for the race check. ``read_too``: another reader, if ``read`` has many. */
    uint32_t *written, *read, *read_too;
    bool was_written, was_read;
    uint32_t number;
    bool constant, freed, heap, everywhere;
    struct lazy *lazy;
    struct block *owner; /* of shared memory, else NULL */
    /* Sectors that counted blocks of a sample read, and those of earlier launches. */
    uint64_t fetched;
    double brought;
    uint32_t unnoted; /* the last work with reads missing in ``read`` */
    uint32_t unrecorded; /* the last work (in order.c, + 1) with writes missing in ``written``; 0: none */
};

enum finding_kind { FINDING_KINDS(NUMBERED) };

struct finding {
    uint32_t kind, line, other_line, region, space, size, is_write, other_is_write;
    int64_t offset; /* may be outside */
    int64_t extent; /* a kernel's allocation, where ``offset`` counts from; else 0 */
    uint32_t block[3], thread[3], other_block[3], other_thread[3];
    uint32_t times, has_other;
    uint32_t together; /* a race's TOGETHER_ */
    uint32_t other_work;
};

enum writer_kind { WRITERS(NUMBERED) };
#define SEGMENT_LINES 6
/* ``work``: see order.c; ``many``: atomic, so others may have added; lines: its stores to that array, none if too many. */
struct writer { uint32_t kind, work, many, line_count, block[3], thread[3], lines[SEGMENT_LINES]; };

/* ``given``: false: after all earlier work. */
struct order {
    bool given;
    uint32_t number, stream, known[STREAMS];
};

#define FINDINGS 32
enum together { TOGETHER(NUMBERED) };
#define OF_SHUFFLE 0x80000000u /* an undefined value's line: shuffled from an absent lane */
struct accessed { uint32_t line, what; };
/* Between two of a warp's synchronisations. */
struct segment {
    uint64_t stamp;
    uint32_t block, interval, warp_syncs, releases;
    uint16_t warp, lines;
    struct accessed line[SEGMENT_LINES];
    uint32_t cluster, slot, epoch;
    bool async, copied; /* a copy or product; cp.async, which needs no proxy fence */
};

#define LATE_GROUPS 16
#define LOOP_ROUNDS 4
#define PAST_LOOKS 16
#define PRODUCTS 64
#define PENDING_PRODUCTS 2u /* of any_undefined: a product may yet write registers */
struct group { uint32_t pc, mask, waits; }; /* waits: 0, or the barrier + 1 */

/* Of lanes that called a function again. */
struct saved {
    uint32_t mask, unit, units;
    uint8_t *data;
};

enum class { CLASSES(NUMBERED_CLASS) CLASS_COUNT };
enum need { NEEDS(NUMBERED_NEED) NEED_COUNT };
enum from { FROM_L2, FROM_MEMORY, FROM_COUNT };
/* In cycles. */
struct timing {
    uint64_t clock, *ready; /* the last instruction's; when each unit's value is ready */
    /* When the present row has its operands; when all rows up to now had theirs, also at the ends of the last rounds
     * of a short loop; when its last store to shared memory had. */
    uint64_t begins, horizon, rounds[LOOP_ROUNDS], shared_stored;
    uint32_t round, block_start; /* the round's number; the row at which the loop begins */
    /* Within a branch that became a predicate: its rows, when the predicate was known, and the branch's lanes. */
    uint32_t guarded_from, guarded_until, guarded_lanes;
    uint64_t guarded_at;
    /* strong loads since its last change */
    struct look {
        uint64_t where, begins, issued;
        uint32_t row;
    } past_looks[PAST_LOOKS];
    /* rows; those up to the last with another access, or a matrix product */
    uint64_t issued, worked;
    uint64_t late_ready[LATE_GROUPS]; /* by group */
    uint64_t product_ready;
    /* When the last data came from the second-level cache, and from memory; units asked for since they were. */
    uint64_t arrived[FROM_COUNT], since[FROM_COUNT][NEED_ISSUE + 1];
};

struct warp {
    uint8_t *file;
    const uint8_t *pool;

    struct block *block;
    uint32_t number, existing, exited;

    uint32_t pc, active;
    struct group groups[LANES];
    uint32_t group_count;
    uint32_t loops, turn; /* backward branches in this turn; joins that it may pass */

    uint32_t stack[LANES]; /* local memory below the present frame */
    uint32_t call_depth[LANES];
    uint8_t *local, *local_valid;
    struct saved *saved;
    uint32_t saved_count, saved_room;

    uint32_t *undefined; /* by unit, lanes with an undefined value; then the line of its origin */
    uint32_t any_undefined;
    /* Of the last undefined value; NULL: local memory. */
    const struct region *origin;
    int64_t origin_offset;
    uint32_t origin_line;
    uint8_t origin_space;
    uint32_t segment, warp_syncs;

    /* See progress.c. */
    bool moved; /* in this turn it wrote, passed a barrier, or lost a lane */
    bool looped;
    bool repeats; /* back in an earlier state without a change */
    uint32_t looks, looked; /* this turn's strong loads and ineffective atomics; the last one's line */
    uint64_t past_state, past_advances;
    /* turns since past_state; turns to the next or, if it repeats, to that state */
    uint32_t states, until_next;

    struct late *late;
    uint32_t late_count, late_room, late_groups;
    uint32_t late_arrivals;

    /* Its clock, slot and epoch, see clocks.c. */
    uint32_t *seen, slot, epoch;
    bool copying; /* writes of cp.async */

    uint32_t blocked, failed, wait_line;
    int64_t wait_bytes;
    uint32_t cluster_arrived[LANES]; /* the cluster's phase at each lane's arrival */

    /* ``product_count``: products that nothing waited for. */
    uint32_t bulk_groups, product_groups, product_count;
    struct pending_product { uint32_t words, group, line; } products[PRODUCTS];

    struct timing timing;
};

/* cp.async, or with arrives (enum copies) a later arrival at the mbarrier ``to``. */
struct late {
    uint64_t to;
    uint32_t group, size;
    uint8_t data[16];
    uint8_t lane, arrives;
    bool unwritten;
};

enum { MOST_OF_BLOCK = 1024 / LANES };
struct barrier {
    uint32_t arrived, expected, line, row;
    bool mixed;
    uint32_t reduced_and, reduced_or, reduced_count;
    uint32_t warps;
    uint64_t arrivals[MOST_OF_BLOCK];
};

struct block {
    struct worker *worker;
    struct launch *launch;
    struct cluster *cluster;
    uint32_t index[3], number, rank;
    uint8_t *memory; /* one allocation, kept for the next block */

    struct warp *warps;
    uint32_t warp_count, thread_count, exited;
    bool done;
    struct barrier barriers[16];

    uint8_t *shared, *shared_valid;
    struct region shared_region;

    /* ``acquired``: when it last looked at publications. */
    uint32_t interval, interval_first, first_segment;
    uint64_t acquired;
    uint32_t *stored; /* by row, the last thread's stored_now; NULL: no checks */
    uint32_t visitors[16]; /* by rank, the last access to this block's shared memory */
    uint32_t *barrier_clocks;

    uint32_t stalls, changes;
    bool polls;

    struct mbarrier *mbarriers;
    uint16_t *mbarrier_at; /* by 8 bytes of shared memory, index + 1 */
    uint32_t mbarrier_count, mbarrier_room;
    struct transfer *transfers;
    uint32_t transfer_count, transfer_room;
    uint64_t transfer_bytes;

    /* Its part of a first-level cache, lines brought into the second level, the last barrier's cycle, its needs. */
    struct cache *first;
    uint64_t touched, released, asked[NEED_COUNT];
};

#define STORED_INTERVAL 2048u /* above a block's threads + 1 */
/* A thread's store in the present interval; 0: none. */
static inline uint32_t stored_now(const struct block *block, uint32_t thread) {
    return block->interval * STORED_INTERVAL + thread + 1;
}

struct cluster {
    struct block *blocks[MOST_CLUSTER];
    uint32_t size, number, index[3];
    uint32_t arrived, exited, phase;
    uint32_t changes; /* of mbarriers, barriers and live threads, for those that wait */
    uint32_t *pending, *clock;
    uint64_t pending_cycle, cycle;
};

/* See model.Row. ``steps``: if ``regular`` is 1; 2: it varies. ``array``: a region's number, or MIXED. */
#define MIXED (~0ull)
struct counts {
    uint64_t issued, lanes, guarded, divergent, waited, requests, sectors, ideal_sectors, l2, dram, same,
            shared_requests, passes, ideal_passes, constant_requests, constant_passes, local_requests, local_sectors,
            lines, steps, regular, delayed, bytes, array;
};
/* Needs of a row each time that it is issued. */
struct weight { uint32_t slots, tensor; };
/* Input for each row: ``classes``, ``weights``; ``widths``: for rows that ptxas merges into one access, its words |
 * WIDE_PLACE times the row's place | WIDE_FIRST; ``branches``: flags of enum branches. ``fresh``: caches are empty.
 * ``l1_lines``: of each block; ``live``: blocks that a card runs at a time; ``resident``: blocks of a
 * multiprocessor; ``cycles``: of a unit of each need; ``unscaled``: room for counts of blocks that do not count.
 * Output: ``counts`` for each row; ``updates`` of sectors by atomics, and ``updates_most`` of one place, in a sample
 * also ``updates_shared`` of one that three groups change; ``busiest``: for each need, the most that a multiprocessor
 * has; ``chain``: cycles of the slowest place for blocks, by latency alone; ``counted``: blocks in ``counts``;
 * ``after``: cycles from the last data of theirs from the second-level cache, and from memory, to their ends, summed. */
enum widths { WIDTHS(NUMBERED) };
enum branches { BRANCHES(NUMBERED) };
struct profile {
    const uint8_t *classes;
    struct counts *counts;
    const struct weight *weights;
    const uint8_t *widths, *branches;
    uint64_t fresh, updates, updates_most, l1_lines, live, resident, multiprocessors, chain, busiest[NEED_COUNT];
    double cycles[NEED_COUNT];
    struct counts *unscaled;
    uint64_t counted, updates_shared, after[FROM_COUNT];
};

/* Rows count from 0; freed_row NONE: not freed. */
struct allocation {
    uint64_t address, size;
    uint32_t thread, line, row, freed_thread, freed_line, freed_row;
};
/* See step.c. ``left``: rows until it pauses, 0 once ``kind`` is found in ``line``; then ``until`` rows have run. */
struct step {
    uint64_t left, until;
    uint32_t kind, line;
    bool paused, found;
    struct allocation *allocations;
    uint32_t allocation_count, allocation_room;
};

enum check { CHECKS(NUMBERED) };
struct launch {
    const struct kernel *kernel;
    uint32_t grid[3], threads[3], cluster[3], cluster_size, shared_bytes;
    uint32_t slots, clock_words;
    uint64_t block_count;
    uint32_t most_live;
    bool cooperative;
    bool shared_out; /* blocks take work from a counter, in short turns */
    uint32_t check;
    struct profile *profile;
    struct step *step;
    uint32_t first_segment;
    atomic_ullong next_block;
    atomic_uint stop;
    /* watched threads' turns that changed or newly used memory; ended blocks */
    atomic_ullong advances;
    /* Unfinished host threads; threads that only look or wait since the last event, plus IDLE_COUNTS times the events. */
    atomic_uint working;
    atomic_ullong idle;
    atomic_uint *releases;
    uint8_t **behind;
    struct order order;
    uint32_t floor; /* earlier global entries certainly came before */
    struct engine *engine;
    const struct sample *sample;
    uint8_t *chosen; /* by cluster: the sample ran it, and all others follow */
    bool filling;
    struct finding findings[FINDINGS];
    uint32_t finding_count;
    atomic_flag lock;
    struct finding fault;
    atomic_ullong instructions;
};

/* As many take about an instruction's time. */
enum { PRODUCTS_A_ROW = 96 };
struct worker {
    struct launch *launch;
    uint32_t number;
    uint64_t heavy;
    uint64_t instructions, progress, advances, counted, stale;
    bool watched, advanced;
};

struct engine {
    struct region *regions;
    uint32_t region_count, region_room, next_number;
    uint64_t next_address;
    /* ``reach``: GPUs whose memory each reaches, as bits. */
    uint32_t gpus, gpu, reach[MOST_GPUS];
    uint64_t next_addresses[MOST_GPUS];
    struct segment **segments;
    atomic_uint next_segment;
    atomic_ullong clock;
    uint32_t threads;
    uint64_t last_instructions, last_heavy;
    bool uneven;
    struct sample sample; /* for launches, while ``samples`` */
    bool samples;
    /* used a left-out block's value; combined results */
    atomic_bool guessed, combined;
    atomic_ullong drawn_bytes, blocks_run;
    struct cache *second;
    struct places *places;
    struct schedule *schedule;
    struct heap *heap;
    struct textures *textures;
    char *printed;
    size_t printed_size;
    uint32_t printed_room;
    atomic_flag print_lock;
    bool tags_prints;
    size_t print_bytes_left;
    uint64_t prints_left_out;
    struct finding findings[FINDINGS];
    uint32_t finding_count;
    struct finding fault;
    struct order order;
    struct work *works;
    uint32_t work_count, work_room, works_from, unordered;
};

enum stop { STOPS(NUMBERED) };

#ifdef __wasm__
#define CHUNK 1024u
#else
#define CHUNK 65536u
#endif
#define MOST_SEGMENTS (1u << 25)

static inline bool in_a_row(const uint64_t *offsets, uint32_t size) {
    uint64_t wrong = 0;
    for (int i = 0; i < LANES; i++) wrong |= offsets[i] ^ (offsets[0] + (uint64_t)i * size);
    return wrong == 0;
}

static inline void *unit_of(const struct warp *warp, uint32_t operand) {
    const uint8_t *base = (operand & CONSTANT) ? warp->pool : warp->file;
    return (void *)(base + (size_t)(operand & ~CONSTANT) * UNIT);
}
static inline uint32_t *u32_of(const struct warp *warp, uint32_t operand) { return unit_of(warp, operand); }
static inline uint64_t *u64_of(const struct warp *warp, uint32_t operand) { return unit_of(warp, operand); }
static inline const uint64_t *wide_of(const struct warp *warp, uint32_t operand, bool wide, uint64_t into[LANES]) {
    if (wide) return u64_of(warp, operand);
    const uint32_t *from = u32_of(warp, operand);
    for (int i = 0; i < LANES; i++) into[i] = from[i];
    return into;
}

typedef void alu_function(struct warp *, const struct row *, uint32_t mask);
extern alu_function *const alu_table[];
/* Whether the row takes its operand a or b by the predicate c. */
bool alu_selects(const struct row *);
extern const char *const alu_names[];
extern const char *const alu_types[];
extern const unsigned char alu_arities[];
extern const unsigned alu_count;

/* NULL without memory. ``grown``: twice the room, or ``first``; after a failure the old array remains. */
#define CHECKED __attribute__((warn_unused_result))
CHECKED void *allocate(size_t count, size_t size); /* zeros */
CHECKED void *allocate_aligned(size_t size); /* aligned to UNIT */
CHECKED void *grown(void *array, uint32_t *room, uint32_t first, size_t size);
void out_of_memory(struct launch *);

int memory_load(struct warp *, const struct row *, uint32_t mask);
int memory_store(struct warp *, const struct row *, uint32_t mask);
int memory_atomic(struct warp *, const struct row *, uint32_t mask);
void memory_prefetch(struct warp *, const struct row *, uint32_t mask);
uint64_t memory_changed(uint32_t how, uint32_t type, uint64_t old, uint64_t b, uint64_t c);
/* At a generic address; NULL: a fault was recorded. */
uint8_t *memory_at(struct warp *, const struct row *, uint64_t address, uint32_t size, int lane, bool writes);

void regions_begin(struct engine *);
static inline bool region_reached(const struct engine *engine, const struct region *region) {
    return engine->gpus <= 1 || region->everywhere ||
            (engine->reach[engine->gpu] >> (region->address - FIRST_ADDRESS) / GPU_ADDRESSES & 1);
}
void regions_delete(struct engine *);
void regions_forget_accesses(struct engine *);
struct region *region_of(struct engine *, uint64_t address);
void region_fill(struct engine *, struct region *, uint64_t offset, uint64_t size);

int copy_late(struct warp *, const struct row *, uint32_t mask);
int late_arrives(struct warp *, uint32_t groups_left, uint32_t line);

void check_access(struct warp *, const struct row *, struct region *, const uint64_t *offsets, uint32_t mask,
        uint32_t size, bool writes, bool atomic);
/* Which lanes access each granule of a matrix, in order: ``each`` of them, the first one, and the first other one if
 * ``several``. */
enum { TILE_BYTES = 1024, TILE_ACCESSES = 8 };
struct tile_lanes {
    uint32_t each;
    bool several;
    uint32_t first[TILE_BYTES], second[TILE_BYTES];
    uint8_t order[TILE_BYTES][TILE_ACCESSES];
};
/* A matrix that a warp accesses: lines of ``bytes``, ``stride`` bytes apart, which do not overlap. ``size``: of an
 * element. They begin and end with a granule. */
struct tile {
    struct region *region;
    uint8_t *data, *valid;
    uint64_t offset, stride;
    uint32_t lines, bytes, size;
    const struct tile_lanes *lanes;
};
/* Checks all accesses to a matrix as one. False: it did nothing, because some access may race. */
bool check_tile(struct warp *, const struct row *, const struct tile *, bool writes);
/* The same for an asynchronous access of a lane, which ends before ``slot`` reaches ``epoch``. */
void check_async(struct warp *, const struct row *, struct region *, uint64_t offset, uint64_t size, int lane,
        bool writes, bool atomic, uint32_t segment);
uint32_t check_async_segment(struct warp *, const struct row *, uint32_t slot, uint32_t epoch);
void check_copies(struct warp *, bool begin);
/* The last write's entry; reports a race unless ``entry``'s write certainly came before. */
uint32_t check_written(const struct warp *, const struct region *, uint64_t offset);
void check_after(
        struct warp *, const struct row *, struct region *, uint64_t offset, uint32_t size, int lane, uint32_t entry);
/* A block ends: reports others' accesses to its shared memory that may come later. */
void check_visitors(struct warp *, const struct row *);
/* It leaves no record and never races. */
void check_unrecorded(struct warp *, struct region *);
void check_unnoted(struct warp *, struct region *);
void check_new_segment(struct warp *);
void check_release(struct warp *);
void check_acquire(struct warp *);
void check_undefined_used(struct warp *, const struct row *, uint32_t lanes);
/* An unwritten value may be that of a block which a sample leaves out, so what follows from it is no finding. False: it is
 * no sample. */
bool check_left_out(const struct warp *);
/* ``lanes`` of a unit got unwritten values of the region (NULL: local memory). */
void check_undefined_read(
        struct warp *, const struct row *, uint32_t unit, uint32_t lanes, const struct region *, int64_t offset);

void report(struct warp *, const struct row *, uint32_t kind, int lane, struct region *, int64_t offset, uint32_t size,
        bool writes, const struct finding *other);
void fault(struct warp *, const struct row *, uint32_t kind, int lane, struct region *, int64_t offset, uint32_t size,
        bool writes);
void findings_keep(struct engine *, const struct launch *);
void thread_at(const struct launch *, uint32_t warp, uint32_t lane, uint32_t thread[3]);
void block_at(const struct launch *, uint32_t number, uint32_t index[3]);

/* order.c: the last gives an earlier segment's work. */
struct order order_next(
        struct engine *, uint32_t granule, const uint32_t grid[3], const uint32_t threads[3], uint32_t *floor);
bool order_knows(const struct engine *, const struct order *, uint32_t granule, uint32_t segment);
uint32_t order_describe(const struct engine *, uint32_t segment, uint32_t block, uint32_t thread, uint32_t block_at[3],
        uint32_t thread_at[3]);
void order_forget_segments(struct engine *);
void order_copies(struct engine *, uint64_t address, uint64_t size, bool reads);
/* A segment's work, and an address's last copy or memset; -1: none in this call. */
int64_t order_work(const struct engine *, uint32_t segment);
int64_t order_copied(const struct engine *, uint64_t address);
uint32_t order_granule(const struct engine *, uint32_t work);
uint32_t order_granules(const struct engine *);
uint32_t order_granule_of_reads(const struct engine *);
void progress_repeats(struct warp *);
void progress_touches(struct warp *, const struct region *, const uint64_t *offsets, uint32_t mask, uint32_t size);
void progress_stores(struct warp *, const struct row *, const uint8_t *data, const uint64_t *offsets, uint32_t mask);
static inline void progress_made(struct warp *w) { w->block->worker->advanced = true; }
/* Shortens turns, except if launches are counted, because counts depend on turns. */
static inline bool progress_hurries(const struct block *block) {
    return block->worker->watched && !block->launch->profile;
}
/* After a turn; ``looks``: it only looked. False: endless, with a recorded fault. */
bool progress_goes_on(struct worker *, struct block *, const struct warp *ran, bool looks);
bool flow_new(struct launch *);
void flow_delete(struct launch *);
/* A thread + 1 that stored after the barrier in ``row`` without reaching it; 0: none. */
uint32_t flow_passed(const struct block *, uint32_t row, uint32_t *line);

/* FETCHES: into L2, without a wait. */
enum access { READS, WRITES, UPDATES, COPIES, FETCHES };
void cache_delete(struct cache *);
void places_delete(struct places *);
void schedule_delete(struct schedule *);
CHECKED bool profile_block_new(struct block *);
CHECKED bool profile_begin(struct launch *);
CHECKED bool profile_group(struct launch *, uint32_t group, enum sample_part);
/* Many must count. */
bool profile_is_uneven(const struct launch *);
void profile_ends(struct launch *);
void profile_block_begins(struct block *);
void profile_block_ends(struct block *);
void profile_row(struct warp *, const struct row *, uint32_t mask);
void profile_shared(
        struct warp *, const struct row *, const uint64_t *offsets, uint32_t mask, uint32_t size, enum access);
void profile_global(
        struct warp *, const struct row *, const uint64_t *addresses, uint32_t mask, uint32_t size, enum access);
void profile_remote(struct warp *, const struct row *, uint32_t mask, uint32_t size, enum access);
void profile_frame(struct warp *, uint32_t units);
void profile_constant(struct warp *, const struct row *, const uint64_t *offsets, uint32_t mask);
void profile_split(struct warp *);
void profile_resumes(struct warp *);
void profile_local(
        struct warp *, const struct row *, const uint64_t *offsets, uint32_t mask, uint32_t size, enum access);
void profile_texture(struct warp *, const uint64_t *addresses, uint32_t count, uint32_t mask, uint32_t size,
        const uint32_t *units, uint32_t unit_count, bool stores);
void profile_heap(struct warp *, const struct row *, uint32_t mask, uint64_t address);
void profile_fragment(struct warp *, const struct row *, const uint32_t *units, uint32_t count, uint64_t address,
        uint32_t rows, uint32_t size, uint64_t stride, uint32_t own, bool shared, bool stores);
void profile_waits(struct warp *, uint32_t left);
void profile_arrives(struct warp *, struct barrier *);
void profile_released(struct block *, struct barrier *);

uint64_t profile_bulk(struct warp *, uint64_t address, uint64_t size, enum access, bool of_memory);
void profile_product(struct warp *, uint64_t size, uint64_t bytes);
void profile_product_waits(struct warp *);
void profile_blocked(struct warp *, uint32_t mask);

#define TRACKED_MBARRIERS 64u
#define ASYNC_SLOTS(warps) (4 * (warps) + TRACKED_MBARRIERS)
enum { ASYNC_DONE, ASYNC_STOPPED, ASYNC_BLOCKED };
int async_run(struct warp *, const struct row *, uint32_t mask);
size_t async_bytes(const struct launch *, uint32_t shared);
void async_block_new(struct block *, uint8_t *memory);
void async_block_begins(struct block *);
void async_block_delete(struct block *);
int async_exits(struct warp *, const struct row *, uint32_t mask);
bool async_stuck(struct block *);
void async_deadlock(struct block *, uint32_t line);

/* addresses.c: ``size`` bytes as a lane sees them. False: a fault was recorded. */
struct span {
    struct region *region;
    struct block *owner;
    uint8_t *data, *valid;
    uint64_t offset;
};
bool span_of(struct warp *, const struct row *, uint64_t address, uint64_t size, uint64_t align, uint32_t space,
        int lane, bool writes, struct span *);
/* NULL: none in the cluster. */
struct block *cluster_block(struct warp *, uint64_t address);

bool clock_knows(const struct warp *, const struct segment *);
bool clock_fenced(const struct warp *, const struct segment *);
void clock_arrives(struct warp *, uint32_t barrier);
void clock_released(struct warp *, uint32_t barrier);
void clock_release_ends(struct block *, uint32_t barrier);

int matrix_run(struct warp *, const struct row *, uint32_t mask);
int heap_run(struct warp *, const struct row *, uint32_t mask);
/* Each lane in one block. False: a fault was recorded. */
bool heap_allows(struct warp *, const struct row *, struct region *, const uint64_t *offsets, uint32_t mask,
        uint32_t size, bool writes);
void heap_delete(struct heap *);
uint32_t engine_heap(struct engine *, uint64_t address, uint64_t size);
void step_allocated(struct warp *, const struct row *, int lane, uint64_t address, uint64_t size);
void step_freed(struct warp *, const struct row *, int lane, uint64_t address);
uint32_t step_row(const struct step *);
int texture_run(struct warp *, const struct row *, uint32_t mask);
void textures_delete(struct textures *);
const char *engine_names(void);
void engine_tag_prints(struct engine *, uint64_t bytes);
void engine_delete(struct engine *);
int engine_launch(struct engine *, const struct kernel *, const uint32_t grid[3], const uint32_t threads[3],
        const uint32_t cluster[3], uint32_t shared_bytes, uint32_t cooperative, uint32_t check, struct profile *);
int print_formatted(struct warp *, const struct row *, uint32_t mask);

#endif
