/* The order of streams, events, waits and graphs' nodes.
 *
 * A clock counts, for every stream, work that certainly comes before. Launches, copies and memsets carry theirs. */
#include "runtime.h"

struct stream default_streams[MOST_GPUS], thread_streams[MOST_GPUS], *streams;
uint32_t gpus, gpu, peers[MOST_GPUS];
struct graph *capturing;

static struct clock host;
static uint32_t given[STREAMS], slots = 1, calls;
static bool told; /* more than one stream, so the device gets orders */

void gpus_are(uint32_t count) {
    gpus = count < 1 ? 1 : count < MOST_GPUS ? count : MOST_GPUS;
    for (uint32_t i = 0; i < gpus; i++) peers[i] = (1u << gpus) - 1;
    for (uint32_t i = gpus; i-- > 0;) {
        default_streams[i] = (struct stream){.apart = true, .waits = true, .gpu = i, .next = streams};
        thread_streams[i] = (struct stream){.gpu = i, .next = &default_streams[i]};
        streams = &thread_streams[i];
    }
}
bool is_default(const struct stream *stream) { return stream == &default_streams[stream->gpu]; }

void order_begins(void) {
    calls++;
    gpu = 0;
    slots = 1;
    told = false;
    host = (struct clock){{0}};
    memset(given, 0, sizeof given);
    for (struct stream *it = streams; it; it = it->next) {
        it->slot = 0;
        it->clock = (struct clock){{0}};
    }
}

bool order_is_told(void) { return told; }

static void join(struct clock *into, const struct clock *other) {
    for (int i = 0; i < STREAMS; i++)
        if (other->at[i] > into->at[i]) into->at[i] = other->at[i];
}

/* The last slot is shared. */
static uint32_t new_slot(void) {
    told = true;
    return slots < STREAMS ? slots++ : STREAMS - 1;
}

static uint32_t slot_of(struct stream *stream) {
    if (stream != &default_streams[0] && !stream->slot) stream->slot = new_slot();
    return stream->slot;
}

struct stream *stream_named(void *stream) {
    return (uint64_t)stream <= 1 ? &legacy : stream == PER_THREAD ? &per_thread : stream;
}

/* The default stream and all but apart ones wait for each other. */
static struct clock *known_by(struct stream *stream) {
    join(&stream->clock, &host);
    if (is_default(stream)) {
        for (struct stream *it = streams; it; it = it->next)
            if (!it->apart && it->gpu == stream->gpu) join(&stream->clock, &it->clock);
    } else if (!stream->apart) join(&stream->clock, &default_streams[stream->gpu].clock);
    return &stream->clock;
}

struct order order_next(void *on) {
    struct stream *stream = stream_named(on);
    uint32_t slot = slot_of(stream);
    struct clock *clock = known_by(stream);
    clock->at[slot] = ++given[slot];
    return (struct order){slot, *clock, stream->gpu};
}

void order_between(void *on, uint32_t one, uint32_t other, bool after) {
    struct stream *stream = stream_named(on);
    for (struct stream *it = streams; it; it = it->next) {
        if (it == stream || (it->gpu != one && it->gpu != other)) continue;
        if (after) join(&it->clock, &stream->clock);
        else join(&stream->clock, known_by(it));
    }
}

void order_waited(void *stream) { join(&host, known_by(stream_named(stream))); }
void order_waited_for_all(void) {
    for (struct stream *it = streams; it; it = it->next)
        if (it->gpu == gpu) order_waited(it);
}

void order_record(struct event *event, void *on) {
    struct stream *stream = stream_named(on);
    event->graph = capturing && stream->captured == capturing ? capturing : NULL;
    event->clock = event->graph ? stream->before : *known_by(stream);
    event->call = calls;
}
void order_reached(const struct event *event) {
    if (event && event->call == calls && !event->graph) join(&host, &event->clock);
}

void order_wait(void *on, const struct event *event) {
    struct stream *stream = stream_named(on);
    if (!event || event->call != calls) return;
    if (!event->graph) {
        join(&stream->clock, &event->clock);
        return;
    }
    if (event->graph != capturing) return;
    if (stream->captured != capturing) order_capture(capturing, stream);
    join(&stream->before, &event->clock);
}

/* Chains of nodes, like streams of work. */
static uint32_t new_chain(struct graph *graph) { return graph->chains < STREAMS ? graph->chains++ : STREAMS - 1; }

void order_capture(struct graph *graph, void *on) {
    struct stream *stream = stream_named(on);
    stream->captured = graph;
    stream->chain = new_chain(graph);
    stream->before = (struct clock){{0}};
}

void order_captured(const struct graph *graph) {
    for (struct stream *it = streams; it; it = it->next)
        if (it->captured == graph) it->captured = NULL;
}

void order_place(struct graph *graph, struct node *const *after, size_t count) {
    bool found = false;
    graph->placed = true;
    graph->before = (struct clock){{0}};
    for (size_t i = 0; i < count; i++) {
        const struct order *it = &after[i]->order;
        join(&graph->before, &it->known);
        if (!found && it->known.at[it->stream] == graph->lengths[it->stream]) {
            graph->chain = it->stream;
            found = true;
        }
    }
    if (!found) graph->chain = new_chain(graph);
}

struct order order_node(struct graph *graph, void *on) {
    struct stream *stream = stream_named(on);
    if (!graph->placed && stream->captured != graph) order_place(graph, NULL, 0); /* not captured */
    uint32_t chain = graph->placed ? graph->chain : stream->chain;
    struct clock *before = graph->placed ? &graph->before : &stream->before;
    before->at[chain] = ++graph->lengths[chain];
    return (struct order){chain, *before, stream->gpu};
}

void order_depends(const struct node *from, struct node *to) {
    join(&to->order.known, &from->order.known);
    for (struct node *it = to->next; it; it = it->next)
        if (it->order.known.at[to->order.stream] >= to->order.known.at[to->order.stream])
            join(&it->order.known, &to->order.known);
}

/* All chains but the first get a new stream after ``on``, which waits for it. */
void order_launch(struct graph *graph, void *on, struct launched *launched) {
    struct stream *stream = stream_named(on);
    uint32_t slot = slot_of(stream);
    if (graph->call != calls) memset(graph->slots, 0, sizeof graph->slots);
    graph->call = calls;
    launched->base = *known_by(stream);
    told = true;
    for (uint32_t i = 0; i < graph->chains; i++) {
        if (i && !graph->slots[i]) graph->slots[i] = new_slot();
        launched->slots[i] = i ? graph->slots[i] : slot;
        launched->starts[i] = given[launched->slots[i]];
        given[launched->slots[i]] += graph->lengths[i];
        stream->clock.at[launched->slots[i]] = given[launched->slots[i]];
    }
}

struct order order_launched(const struct launched *launched, const struct order *node) {
    struct order order = {launched->slots[node->stream], launched->base, node->gpu};
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint32_t at = launched->starts[i] + node->known.at[i];
        if (node->known.at[i] && at > order.known.at[launched->slots[i]]) order.known.at[launched->slots[i]] = at;
    }
    return order;
}
