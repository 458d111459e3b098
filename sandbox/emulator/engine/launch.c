#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "host.h"
#include "run.h"

/* For a last operand that is read as a wider one. engine.py adds the same to the pool. */
#define SPARE_UNITS 4
#define ROUNDS_A_TURN 64
/* LOOKS: without a write. A launch that only looks for IDLE_TURNS never ends. */
#define LOOKS 1024u
#define IDLE_TURNS 8u
#define IDLE_COUNTS 128u
#define MOST_THREADS_OF_HOST 64
/* For uneven blocks: a factor of the budget, until this many blocks counted. */
#define UNEVEN_TIMES 8u
#define UNEVEN_BLOCKS 256u
#define MOST_LIVE 4u /* in turns on a host thread */
#define TOGETHER_BYTES ((uint64_t)256 << 20)

struct engine *engine_new(uint32_t threads) {
    struct engine *engine = allocate(1, sizeof *engine);
    if (!engine) return NULL;
    engine->threads = threads;
    regions_begin(engine);
    engine->segments = allocate(MOST_SEGMENTS / CHUNK + 1, sizeof *engine->segments);
    if (!engine->segments) {
        free(engine);
        return NULL;
    }
    atomic_store(&engine->next_segment, 1);
    return engine;
}

void engine_delete(struct engine *engine) {
    regions_delete(engine);
    for (uint32_t i = 0; i <= MOST_SEGMENTS / CHUNK; i++) free(engine->segments[i]);
    heap_delete(engine->heap);
    textures_delete(engine->textures);
    places_delete(engine->places);
    schedule_delete(engine->schedule);
    cache_delete(engine->second);
    free(engine->segments);
    free(engine->works);
    free(engine->printed);
    free(engine);
}

static void *take(uint8_t **at, size_t size) {
    void *found = *at;
    *at += (size + 127) / 128 * 128;
    return found;
}

static size_t add(size_t *total, size_t size) { return *total += (size + 127) / 128 * 128; }

static size_t block_bytes(const struct launch *launch) {
    const struct kernel *kernel = launch->kernel;
    uint32_t threads = launch->threads[0] * launch->threads[1] * launch->threads[2],
             warps = (threads + LANES - 1) / LANES;
    size_t total = 0, shared = launch->shared_bytes;
    add(&total, sizeof(struct block));
    add(&total, warps * sizeof(struct warp));
    add(&total, shared);
    if (launch->check) {
        add(&total, shared);
        add(&total, 4 * shared);
        add(&total, 4 * shared);
        add(&total, 4 * shared);
        add(&total, 4 * (size_t)kernel->row_count);
    }
    for (uint32_t i = 0; i < warps; i++) {
        add(&total, (size_t)(kernel->units + SPARE_UNITS) * UNIT);
        add(&total, 4 * (size_t)(kernel->units + 1));
        add(&total, launch->profile ? 8 * (size_t)(kernel->units + 1) : 0);
        add(&total, (size_t)LANES * kernel->local_bytes);
        if (launch->check) add(&total, (size_t)LANES * kernel->local_bytes);
    }
    add(&total, async_bytes(launch, (uint32_t)shared));
    return total;
}

struct block *block_new(struct worker *worker) {
    struct launch *launch = worker->launch;
    const struct kernel *kernel = launch->kernel;
    uint32_t threads = launch->threads[0] * launch->threads[1] * launch->threads[2],
             warps = (threads + LANES - 1) / LANES;
    size_t shared = launch->shared_bytes;
    uint8_t *memory = allocate_aligned(block_bytes(launch)), *at = memory;
    if (!memory) return NULL;
    struct block *block = take(&at, sizeof *block);
    *block = (struct block){
            .worker = worker, .launch = launch, .warp_count = warps, .thread_count = threads, .memory = memory};
    block->warps = take(&at, warps * sizeof(struct warp));
    block->shared = take(&at, shared);
    block->shared_region = (struct region){.size = shared, .data = block->shared, .owner = block};
    if (launch->check) {
        block->shared_valid = take(&at, shared);
        block->shared_region.written = take(&at, 4 * shared);
        block->shared_region.read = take(&at, 4 * shared);
        block->shared_region.read_too = take(&at, 4 * shared);
        block->stored = take(&at, 4 * (size_t)kernel->row_count);
        block->shared_region.valid = block->shared_valid;
    }
    for (uint32_t i = 0; i < warps; i++) {
        struct warp *w = &block->warps[i];
        w->file = take(&at, (size_t)(kernel->units + SPARE_UNITS) * UNIT);
        w->undefined = take(&at, 4 * (size_t)(kernel->units + 1));
        w->timing.ready = take(&at, launch->profile ? 8 * (size_t)(kernel->units + 1) : 0);
        w->local = take(&at, (size_t)LANES * kernel->local_bytes);
        if (launch->check) w->local_valid = take(&at, (size_t)LANES * kernel->local_bytes);
        w->pool = (const uint8_t *)kernel->pool;
        w->block = block;
        w->number = i;
    }
    async_block_new(block, take(&at, async_bytes(launch, (uint32_t)shared)));
    if (launch->profile && !profile_block_new(block)) {
        free(memory);
        return NULL;
    }
    return block;
}

void block_delete(struct block *block) {
    for (uint32_t i = 0; i < block->warp_count; i++) {
        free(block->warps[i].late);
        for (uint32_t k = 0; k < block->warps[i].saved_count; k++) free(block->warps[i].saved[k].data);
        free(block->warps[i].saved);
    }
    async_block_delete(block);
    cache_delete(block->first);
    free(block->memory);
}

static void set_specials(struct warp *w) {
    struct launch *launch = w->block->launch;
    const struct kernel *kernel = launch->kernel;
    uint32_t x = launch->threads[0], y = launch->threads[1];
    for (uint32_t k = 0; k < kernel->special_count; k++) {
        uint32_t which = kernel->specials[2 * k], *out = u32_of(w, kernel->specials[2 * k + 1]);
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t t = w->number * LANES + i, value = 0;
            switch (which) {
            case SPECIAL_TID_X: value = t % x; break;
            case SPECIAL_TID_Y: value = t / x % y; break;
            case SPECIAL_TID_Z: value = t / x / y; break;
            case SPECIAL_NTID_X:
            case SPECIAL_NTID_Y:
            case SPECIAL_NTID_Z: value = launch->threads[which - SPECIAL_NTID_X]; break;
            case SPECIAL_CTAID_X:
            case SPECIAL_CTAID_Y:
            case SPECIAL_CTAID_Z: value = w->block->index[which - SPECIAL_CTAID_X]; break;
            case SPECIAL_NCTAID_X:
            case SPECIAL_NCTAID_Y:
            case SPECIAL_NCTAID_Z: value = launch->grid[which - SPECIAL_NCTAID_X]; break;
            case SPECIAL_LANEID: value = i; break;
            case SPECIAL_WARPID: value = w->number; break;
            case SPECIAL_NWARPID: value = w->block->warp_count; break;
            case SPECIAL_LANEMASK_EQ: value = 1u << i; break;
            case SPECIAL_LANEMASK_LE: value = (2u << i) - 1; break;
            case SPECIAL_LANEMASK_LT: value = (1u << i) - 1; break;
            case SPECIAL_LANEMASK_GE: value = ~((1u << i) - 1); break;
            case SPECIAL_LANEMASK_GT: value = ~((2u << i) - 1); break;
            case SPECIAL_SMID: value = w->block->number % MULTIPROCESSORS; break;
            case SPECIAL_NSMID: value = MULTIPROCESSORS; break;
            case SPECIAL_DYNAMIC_SMEM_SIZE: value = launch->shared_bytes - kernel->shared_bytes; break;
            case SPECIAL_TOTAL_SMEM_SIZE: value = launch->shared_bytes; break;
            case SPECIAL_CLUSTER_CTAID_X:
            case SPECIAL_CLUSTER_CTAID_Y:
            case SPECIAL_CLUSTER_CTAID_Z:
                value = w->block->index[which - SPECIAL_CLUSTER_CTAID_X] %
                        launch->cluster[which - SPECIAL_CLUSTER_CTAID_X];
                break;
            case SPECIAL_CLUSTER_NCTAID_X:
            case SPECIAL_CLUSTER_NCTAID_Y:
            case SPECIAL_CLUSTER_NCTAID_Z: value = launch->cluster[which - SPECIAL_CLUSTER_NCTAID_X]; break;
            case SPECIAL_CLUSTER_CTARANK: value = w->block->rank; break;
            case SPECIAL_CLUSTER_NCTARANK: value = launch->cluster_size; break;
            case SPECIAL_CLUSTERID_X:
            case SPECIAL_CLUSTERID_Y:
            case SPECIAL_CLUSTERID_Z:
                value = w->block->index[which - SPECIAL_CLUSTERID_X] / launch->cluster[which - SPECIAL_CLUSTERID_X];
                break;
            case SPECIAL_NCLUSTERID_X:
            case SPECIAL_NCLUSTERID_Y:
            case SPECIAL_NCLUSTERID_Z:
                value = launch->grid[which - SPECIAL_NCLUSTERID_X] / launch->cluster[which - SPECIAL_NCLUSTERID_X];
                break;
            }
            out[i] = value;
        }
    }
}

void block_begin(struct block *block, uint64_t number, struct cluster *cluster, uint32_t rank) {
    struct launch *launch = block->launch;
    const struct kernel *kernel = launch->kernel;
    const uint32_t *size = launch->cluster, across = launch->grid[0] / size[0], down = launch->grid[1] / size[1];
    block->index[0] = (uint32_t)(number % across) * size[0] + rank % size[0];
    block->index[1] = (uint32_t)(number / across % down) * size[1] + rank / size[0] % size[1];
    block->index[2] = (uint32_t)(number / across / down) * size[2] + rank / size[0] / size[1];
    block->number = block->index[0] + launch->grid[0] * (block->index[1] + launch->grid[1] * block->index[2]);
    block->cluster = cluster;
    block->rank = rank;
    cluster->blocks[rank] = block;
    block->exited = 0;
    block->interval = 0;
    block->acquired = 0;
    block->done = false;
    block->interval_first = atomic_load(&launch->engine->next_segment);
    memset(block->barriers, 0, sizeof block->barriers);
    for (int i = 0; i < 16; i++) block->barriers[i].reduced_and = 1;
    if (block->shared_valid) memset(block->shared_valid, 0, launch->shared_bytes);
    if (block->stored) memset(block->stored, 0, 4 * (size_t)kernel->row_count);
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct warp *w = &block->warps[i];
        uint32_t lanes = block->thread_count - i * LANES;
        w->existing = w->active = lanes >= LANES ? EVERY : (1u << lanes) - 1;
        w->repeats = false;
        w->states = 0;
        w->until_next = 1;
        w->exited = 0;
        w->pc = kernel->entry;
        w->group_count = 0;
        w->segment = 0;
        w->warp_syncs = 0;
        w->late_count = w->late_groups = w->turn = 0;
        memset(w->stack, 0, sizeof w->stack);
        memset(w->call_depth, 0, sizeof w->call_depth);
        if (w->any_undefined) memset(w->undefined, 0, 4 * (size_t)(kernel->units + 1));
        w->any_undefined = 0;
        if (w->local_valid) memset(w->local_valid, 0, (size_t)LANES * kernel->local_bytes);
        set_specials(w);
    }
    async_block_begins(block);
    if (launch->profile) profile_block_begins(block);
}

static uint64_t work_of(const struct worker *worker) { return worker->instructions + worker->heavy; }

/* For one turn. False: the launch is over. ``looking``: a warp that only looked at unchanged memory, or NULL. */
static bool block_run(struct block *block, struct warp **looking, struct warp **last) {
    const struct sample *sample = block->launch->sample;
    *looking = NULL;
    bool moved = false;
    for (int round = 0; round < (progress_hurries(block) || block->launch->shared_out ? 1 : ROUNDS_A_TURN); round++) {
        bool progress = false, all_done = true;
        block->polls = false;
        for (uint32_t i = 0; i < block->warp_count; i++) {
            struct warp *w = &block->warps[i];
            if (w->exited == w->existing) continue;
            uint64_t before = block->worker->instructions;
            w->moved = w->looped = false;
            w->looks = 0;
            enum status status = warp_run(w, &block->worker->instructions);
            if (status == STOPPED) return false;
            bool ran = block->worker->instructions != before;
            progress_repeats(w);
            progress |= ran && !w->failed;
            block->polls |= w->blocked || w->failed;
            moved |= w->moved || w->failed || (ran && w->looks < LOOKS && !w->repeats);
            if (ran) *looking = *last = w;
            all_done &= w->exited == w->existing;
        }
        if (sample && work_of(block->worker) > sample->most_rows) {
            atomic_store(&block->launch->stop, OVER_BUDGET);
            return false;
        }
        if (all_done) {
            block->done = true;
            if (block->launch->profile) profile_block_ends(block);
            return true;
        }
        if (progress) block->stalls = 0;
        else if (async_stuck(block)) {
            uint32_t line = 0;
            for (uint32_t k = 0; k < 16; k++)
                if (block->barriers[k].arrived && !line) line = block->barriers[k].line;
            async_deadlock(block, line);
            return false;
        } else if (block->cluster->size > 1) return true;
    }
    if (moved) *looking = NULL;
    return !atomic_load(&block->launch->stop);
}

/* Idle threads must look again. Returns a count. */
static uint64_t happened(struct launch *launch) {
    unsigned long long old = atomic_load(&launch->idle), now;
    do now = (old / IDLE_COUNTS + 1) * IDLE_COUNTS;
    while (!atomic_compare_exchange_weak(&launch->idle, &old, now));
    return now / IDLE_COUNTS;
}

/* Once all threads report this for long enough without an event, nothing can change. A thread that the host does not
 * schedule reports nothing. */
static void look_on(struct worker *worker, struct warp *looking, bool all, uint32_t *idle) {
    struct launch *launch = worker->launch;
    unsigned long long now = atomic_load(&launch->idle);
    if (!all) {
        worker->progress = happened(launch);
        *idle = 0;
        return;
    }
    if (now / IDLE_COUNTS != worker->progress) {
        worker->progress = now / IDLE_COUNTS;
        *idle = 0;
        return;
    }
    if (*idle < IDLE_TURNS && ++*idle == IDLE_TURNS)
        while (now / IDLE_COUNTS == worker->progress && !atomic_compare_exchange_weak(&launch->idle, &now, now + 1)) {}
    now = atomic_load(&launch->idle);
    if (*idle == IDLE_TURNS && now / IDLE_COUNTS == worker->progress &&
            now % IDLE_COUNTS >= atomic_load(&launch->working)) {
        bool looks = looking->looks != 0;
        struct row row = {.line = looks ? looking->looked : launch->kernel->rows[looking->pc].line, .guard = NONE};
        fault(looking, &row, looks ? DEADLOCK : ENDLESS,
                __builtin_ctz(looking->active ? looking->active : looking->existing), NULL, looks, 0, false);
    }
}

static bool is_enough(const struct worker *worker) {
    const struct launch *launch = worker->launch;
    const struct sample *sample = launch->sample;
    bool more = launch->profile && sample->groups && launch->profile->counted < UNEVEN_BLOCKS;
    uint64_t times = more && profile_is_uneven(launch) ? UNEVEN_TIMES : 1;
    return work_of(worker) / times > sample->enough_rows ||
            atomic_load(&worker->launch->engine->drawn_bytes) > sample->enough_bytes;
}

static bool has_some(const struct launch *launch) {
    return launch->profile ? launch->profile->counted > 0 : atomic_load(&launch->engine->blocks_run) > 0;
}

/* The last of a few blocks goes first, so kernels that need their order fail. Turns let one wait for another. A
 * cooperative grid or cluster begins as a whole. */
static void *work(void *given) {
    struct worker *worker = given;
    struct launch *launch = worker->launch;
    const struct sample *sample = launch->sample;
    const uint32_t *groups = sample ? sample->groups : NULL;
    uint8_t *chosen = launch->chosen;
    uint32_t size = launch->cluster_size,
             most = launch->cooperative ? (uint32_t)launch->block_count : launch->most_live, made = 0, idle = 0;
    most = (most + size - 1) / size * size;
    struct block **blocks = allocate(most, sizeof *blocks);
    struct cluster *clusters = allocate(most / size, sizeof *clusters);
    uint32_t *clocks = launch->clock_words ? allocate((size_t)most / size * 2, 4 * (size_t)launch->clock_words) : NULL;
    if (!blocks || !clusters || (launch->clock_words && !clocks)) {
        out_of_memory(launch);
        most = 0;
    }
    while (most && !atomic_load_explicit(&launch->stop, memory_order_relaxed)) {
        uint32_t begun = 0, left;
        uint64_t first = atomic_load(&launch->next_block);
        if (groups && launch->profile && first < sample->count &&
                !profile_group(launch, groups[first], sample->parts[first])) {
            out_of_memory(launch);
            break;
        }
        while (begun < most) {
            uint64_t next = atomic_load(&launch->next_block);
            if (groups && !launch->filling && next < sample->count && groups[next] != groups[first]) break;
            if (sample && !launch->filling && is_enough(worker) && next && (!groups || (!begun && has_some(launch))))
                break;
            bool listed = sample && sample->numbers && !launch->filling;
            uint64_t number;
            do number = atomic_fetch_add(&launch->next_block, 1);
            while (launch->filling && number < launch->block_count / size && chosen[number]);
            if (number >= (listed ? sample->count : launch->block_count / size)) break;
            if (listed) number = sample->numbers[number];
            if (chosen && !launch->filling) chosen[number] = 1;
            while (made < begun + size && (blocks[made] = block_new(worker))) made++;
            if (made < begun + size) {
                out_of_memory(launch);
                break;
            }
            struct cluster *cluster = &clusters[begun / size];
            uint32_t *clock = clocks ? clocks + (size_t)begun / size * 2 * launch->clock_words : NULL;
            *cluster = (struct cluster){.size = size,
                    .number = (uint32_t)number,
                    .pending = clock,
                    .clock = clock ? clock + launch->clock_words : NULL};
            if (clock) memset(clock, 0, 8 * (size_t)launch->clock_words);
            for (uint32_t rank = 0; rank < size; rank++) block_begin(blocks[begun++], number, cluster, rank);
        }
        if (begun == 0) break;
        for (left = begun; left && !atomic_load_explicit(&launch->stop, memory_order_relaxed);) {
            struct warp *looking = NULL, *one;
            bool all = true;
            for (uint32_t i = begun; i-- > 0;) {
                if (blocks[i]->done) continue;
                struct warp *last = NULL;
                if (!block_run(blocks[i], &one, &last) || !progress_goes_on(worker, blocks[i], last, one != NULL)) {
                    left = 0;
                    break;
                }
                left -= blocks[i]->done;
                all &= one != NULL && !blocks[i]->done;
                if (one) looking = one;
            }
            if (left) look_on(worker, looking, all, &idle);
        }
        if (!atomic_load(&launch->stop)) atomic_fetch_add(&launch->engine->blocks_run, begun);
        worker->progress = happened(launch);
        idle = 0;
    }
    while (made) block_delete(blocks[--made]);
    free(blocks);
    free(clusters);
    free(clocks);
    atomic_fetch_sub(&launch->working, 1);
    return NULL;
}

/* NULL: all blocks. ``numbers`` must live as long. */
void engine_sample(struct engine *engine, const struct sample *sample) {
    engine->samples = sample != NULL;
    if (sample) engine->sample = *sample;
}
void engine_sample_begins(struct engine *engine) {
    atomic_store(&engine->guessed, false);
    atomic_store(&engine->combined, false);
    atomic_store(&engine->drawn_bytes, 0);
}
uint64_t engine_blocks_run(struct engine *engine) { return atomic_load(&engine->blocks_run); }
uint32_t engine_guessed(struct engine *engine) { return atomic_load(&engine->guessed); }
uint32_t engine_uneven(struct engine *engine) { return engine->uneven; }
uint32_t engine_combined(struct engine *engine) { return atomic_load(&engine->combined); }

static uint64_t most_together(const struct launch *launch) {
    uint64_t room = TOGETHER_BYTES / block_bytes(launch), live = launch->profile->live;
    uint64_t most = room < live ? room : live;
    return most > MOST_LIVE ? most : MOST_LIVE;
}

bool checks_begin(struct launch *launch) {
    const struct kernel *kernel = launch->kernel;
    const uint32_t *threads = launch->threads;
    if (launch->check && kernel->async) {
        launch->slots = ASYNC_SLOTS(((threads[0] * threads[1] * threads[2]) + LANES - 1) / LANES);
        launch->clock_words = 2 * launch->cluster_size * launch->slots;
    }
    if (launch->check && launch->block_count <= 1u << 24 &&
            !(launch->releases = allocate(launch->block_count, sizeof *launch->releases)))
        return false;
    if (launch->check && !flow_new(launch)) {
        free(launch->releases);
        return false;
    }
    launch->order = order_next(launch->engine, kernel->granule, launch->grid, threads, &launch->floor);
    return true;
}

void checks_end(struct launch *launch) {
    free(launch->releases);
    flow_delete(launch);
}

static void run_on(struct launch *launch, uint32_t count, uint64_t most) {
    struct worker workers[MOST_THREADS_OF_HOST] = {0};
    host_thread running[MOST_THREADS_OF_HOST];
    for (uint32_t i = 0; i < count; i++) workers[i] = (struct worker){.launch = launch, .number = i};
    uint64_t share = (launch->block_count + count - 1) / count;
    launch->most_live = (uint32_t)(share < most ? share : most);
    atomic_store(&launch->working, count);
    uint32_t started = 0;
    while (started + 1 < count && host_begin(&running[started + 1], work, &workers[started + 1])) started++;
    atomic_fetch_sub(&launch->working, count - 1 - started);
    work(&workers[0]);
    for (uint32_t i = 1; i <= started; i++) host_join(running[i]);
    for (uint32_t i = 0; i < count; i++) {
        launch->engine->last_instructions += workers[i].instructions;
        launch->engine->last_heavy += workers[i].heavy;
    }
}

int engine_launch(struct engine *engine, const struct kernel *kernel, const uint32_t grid[3], const uint32_t threads[3],
        const uint32_t cluster[3], uint32_t shared_bytes, uint32_t cooperative, uint32_t check,
        struct profile *profile) {
    if (atomic_load(&engine->next_segment) > MOST_SEGMENTS / 2) {
        regions_forget_accesses(engine);
        atomic_store(&engine->next_segment, 1);
        order_forget_segments(engine);
    }
    struct launch launch = {.kernel = kernel,
            .shared_bytes = kernel->shared_bytes + shared_bytes,
            .cooperative = cooperative,
            .check = check,
            .profile = profile,
            .engine = engine,
            .block_count = (uint64_t)grid[0] * grid[1] * grid[2],
            .first_segment = atomic_load(&engine->next_segment),
            .lock = ATOMIC_FLAG_INIT};
    memcpy(launch.grid, grid, sizeof launch.grid);
    memcpy(launch.threads, threads, sizeof launch.threads);
    memcpy(launch.cluster, cluster, sizeof launch.cluster);
    launch.cluster_size = cluster[0] * cluster[1] * cluster[2];
    if (engine->samples) launch.sample = &engine->sample;
    if (profile && !profile_begin(&launch)) return NO_MEMORY;
    if (!checks_begin(&launch)) return NO_MEMORY;
    uint64_t clusters = launch.block_count / launch.cluster_size;
    uint32_t count = engine->threads < clusters ? engine->threads : (uint32_t)clusters;
    if (count > MOST_THREADS_OF_HOST) count = MOST_THREADS_OF_HOST;
    bool fills = launch.sample && launch.sample->fill;
    if (fills && !(launch.chosen = allocate(clusters, 1))) {
        checks_end(&launch);
        return NO_MEMORY;
    }
    atomic_store(&engine->blocks_run, 0);
    engine->last_instructions = engine->last_heavy = 0;
    bool alone = launch.sample && !launch.sample->groups;
    launch.shared_out = profile && kernel->coordinates && !launch.sample;
    uint64_t most = launch.shared_out ? most_together(&launch) : MOST_LIVE;
    /* For a fixed order of blocks. */
    run_on(&launch, profile || engine->samples ? 1 : count, alone ? 1 : most);
    if (fills && !atomic_load(&launch.stop)) {
        launch.profile = NULL;
        launch.filling = true;
        atomic_store(&launch.next_block, 0);
        run_on(&launch, count, MOST_LIVE);
        launch.profile = profile;
    }
    free(launch.chosen);
    if (profile) profile_ends(&launch);
    engine->uneven = profile && profile_is_uneven(&launch);
    checks_end(&launch);
    findings_keep(engine, &launch);
    return (int)atomic_load(&launch.stop);
}

uint64_t engine_instructions(struct engine *engine) { return engine->last_instructions; }
uint64_t engine_work(struct engine *engine) { return engine->last_instructions + engine->last_heavy; }
const char *engine_printed(struct engine *engine, uint64_t *size) {
    *size = engine->printed_size;
    engine->printed_size = 0;
    return engine->printed;
}
uint32_t engine_alu_count(void) { return alu_count; }
const char *engine_alu_name(uint32_t number) { return alu_names[number]; }
const char *engine_alu_types(uint32_t number) { return alu_types[number]; }
uint32_t engine_alu_arity(uint32_t number) { return alu_arities[number]; }
uint32_t engine_sizes(uint32_t which) {
    return which == 0    ? sizeof(struct row)
            : which == 1 ? sizeof(struct kernel)
            : which == 2 ? sizeof(struct finding)
            : which == 3 ? sizeof(struct counts)
                         : sizeof(struct profile);
}
