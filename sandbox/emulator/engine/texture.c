/* Textures and surfaces.
 *
 * Linear filters use 8 bits of a fraction, like cards. Every element is checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "described.h"
#include "engine.h"
#include "numbers.h"

#define FIRST_OBJECT 0x0010000000000001ull
#define MOST_OBJECTS 65536u
enum { WRAP, CLAMP, MIRROR, BORDER };
enum beyond { BEYONDS(NUMBERED) };

/* As in host/protocol.h. */
struct texture {
    uint64_t address, pitch;
    uint32_t width, height, depth, element, bits[4], kind, modes[3], linear, fractions, normalized;
    float border[4];
};
struct textures {
    struct texture *each;
    uint32_t count, room;
};

uint64_t engine_texture(struct engine *engine, const struct texture *it) {
    if (!engine->textures && !(engine->textures = allocate(1, sizeof *engine->textures))) return 0;
    struct textures *all = engine->textures;
    if (all->count >= MOST_OBJECTS) return 0;
    if (all->count == all->room) {
        struct texture *more = grown(all->each, &all->room, 16, sizeof *more);
        if (!more) return 0;
        all->each = more;
    }
    all->each[all->count] = *it;
    return FIRST_OBJECT + all->count++;
}
void textures_delete(struct textures *all) {
    if (all) free(all->each);
    free(all);
}

/* Of ``size`` elements; -1: the border. */
static int64_t placed(int64_t at, int64_t size, uint32_t mode) {
    if (at >= 0 && at < size) return at;
    if (mode == BORDER) return -1;
    if (mode == WRAP) return ((at % size) + size) % size;
    if (mode == MIRROR) {
        int64_t turn = ((at % (2 * size)) + 2 * size) % (2 * size);
        return turn < size ? turn : 2 * size - 1 - turn;
    }
    return at < 0 ? 0 : size - 1;
}

static int64_t floored(float value) {
    return value != value ? 0 : value < -1e9f ? -1000000000 : value > 1e9f ? 1000000000 : (int64_t)floorf(value);
}

/* For the profile. */
struct found {
    uint64_t addresses[8 * LANES];
    uint32_t count, size;
};
/* The race check does not record it. */
static void note(struct warp *w, struct found *found, uint64_t address, uint32_t size) {
    struct region *region = region_of(w->block->launch->engine, address);
    if (region && !region->unnoted) check_unnoted(w, region);
    found->addresses[found->count++] = address;
    found->size = size;
}

/* As floats, or integers' bits. False: a fault. */
static bool element_at(struct warp *w, const struct row *r, const struct texture *t, const int64_t place[3], int lane,
        float values[4], uint32_t raw[4], struct found *found) {
    bool integers = t->kind != 2 && !t->fractions;
    memset(raw, 0, 16);
    for (int i = 0; i < 4; i++) values[i] = 0;
    if (place[0] < 0 || place[1] < 0 || place[2] < 0) {
        for (int i = 0; i < 4; i++) {
            values[i] = t->border[i];
            memcpy(&raw[i], &t->border[i], 4);
        }
        return true;
    }
    uint64_t address = t->address + ((uint64_t)place[2] * t->height + (uint64_t)place[1]) * t->pitch +
            (uint64_t)place[0] * t->element;
    const uint8_t *at = memory_at(w, r, address, t->element, lane, false);
    if (!at) return false;
    note(w, found, address, t->element);
    for (int i = 0; i < 4 && t->bits[i]; i++) {
        uint32_t bytes = t->bits[i] / 8, bits = 0;
        memcpy(&bits, at, bytes);
        at += bytes;
        int32_t number = bytes == 1 ? (int8_t)bits : bytes == 2 ? (int16_t)bits : (int32_t)bits;
        if (t->kind == 2) values[i] = bytes == 2 ? f16_value((uint16_t)bits) : f32_of(bits);
        else if (integers) raw[i] = t->kind ? bits : (uint32_t)number;
        else if (t->kind) values[i] = (float)bits / (bytes == 1 ? 255.0f : 65535.0f);
        else values[i] = fmaxf((float)number / (bytes == 1 ? 127.0f : 32767.0f), -1.0f);
    }
    return true;
}

static bool fetch(struct warp *w, const struct row *r, const struct lookup *it, const struct texture *t, int lane,
        struct found *found) {
    const int64_t sizes[3] = {t->width, t->height, t->depth};
    int64_t low[3] = {0, 0, 0};
    float weights[3] = {0, 0, 0};
    uint32_t first = it->layered ? 1 : 0, raw[4], modes[3];
    bool integers = t->kind != 2 && !t->fractions, filters = t->linear && it->by_floats && !integers;
    for (uint32_t axis = 0; axis < it->axes; axis++) {
        uint32_t bits = u32_of(w, it->places[first + axis])[lane], mode = t->modes[axis];
        modes[axis] = !t->normalized && mode != BORDER ? CLAMP : mode;
        if (!it->by_floats) {
            low[axis] = (int32_t)bits;
            modes[axis] = BORDER;
            continue;
        }
        float at = f32_of(bits);
        if (t->normalized) at *= (float)sizes[axis];
        if (filters) {
            at -= 0.5f;
            low[axis] = floored(at);
            weights[axis] = rintf((at - floorf(at)) * 256.0f) / 256.0f;
            if (weights[axis] != weights[axis]) weights[axis] = 0;
        } else low[axis] = floored(at);
    }
    if (it->layered) low[2] = placed((int32_t)u32_of(w, it->places[0])[lane], sizes[2], CLAMP);
    float sums[4] = {0, 0, 0, 0}, values[4];
    uint32_t corners = filters ? 1u << it->axes : 1;
    for (uint32_t corner = 0; corner < corners; corner++) {
        int64_t place[3] = {0, 0, low[2]};
        float weight = 1;
        for (uint32_t axis = 0; axis < it->axes; axis++) {
            uint32_t upper = corner >> axis & 1;
            place[axis] = placed(low[axis] + upper, sizes[axis], modes[axis]);
            if (filters) weight *= upper ? weights[axis] : 1.0f - weights[axis];
        }
        if (weight == 0) continue;
        if (!element_at(w, r, t, place, lane, values, raw, found)) return false;
        for (int i = 0; i < 4; i++) sums[i] += weight * values[i];
    }
    for (uint32_t i = 0; i < it->count; i++)
        if (it->outs[i] != NONE) u32_of(w, it->outs[i])[lane] = integers ? raw[i] : bits_of(sums[i]);
    return true;
}

static bool surface(struct warp *w, const struct row *r, const struct lookup *it, const struct texture *t, int lane,
        struct found *found) {
    bool stores = it->operation == STORE_SURFACE;
    uint32_t first = it->layered ? 1 : 0, bytes = it->type * it->count;
    int64_t limits[3] = {(int64_t)t->width * t->element - bytes, (int64_t)t->height - 1, (int64_t)t->depth - 1},
            place[3] = {0, 0, 0};
    bool beyond = false;
    for (uint32_t axis = 0; axis < it->axes; axis++) place[axis] = (int32_t)u32_of(w, it->places[first + axis])[lane];
    if (it->layered) place[2] = (int32_t)u32_of(w, it->places[0])[lane];
    for (int axis = 0; axis < 3; axis++) {
        bool out = place[axis] < 0 || place[axis] > limits[axis];
        if (out && it->beyond == CLAMPED && limits[axis] >= 0) place[axis] = place[axis] < 0 ? 0 : limits[axis];
        else beyond |= out;
    }
    uint8_t data[16] = {0};
    if (beyond && it->beyond != ZERO) {
        struct region *region = region_of(w->block->launch->engine, t->address);
        fault(w, r, OUT_OF_BOUNDS, lane, region, region ? (int64_t)region->size : 0, bytes, stores);
        return false;
    }
    uint64_t address =
            t->address + ((uint64_t)place[2] * t->height + (uint64_t)place[1]) * t->pitch + (uint64_t)place[0];
    uint8_t *at = beyond ? data : memory_at(w, r, address, bytes, lane, stores);
    if (!at) return false;
    if (!beyond) note(w, found, address, bytes);
    for (uint32_t i = 0; i < it->count; i++) {
        uint32_t unit = it->outs[i];
        uint8_t *here = at + i * it->type;
        if (unit == NONE) continue;
        if (it->type == 8) {
            if (stores) memcpy(here, &u64_of(w, unit)[lane], 8);
            else memcpy(&u64_of(w, unit)[lane], here, 8);
        } else if (stores) memcpy(here, &u32_of(w, unit)[lane], it->type);
        else {
            uint32_t value = 0;
            memcpy(&value, here, it->type);
            u32_of(w, unit)[lane] = value;
        }
    }
    return true;
}

int texture_run(struct warp *w, const struct row *r, uint32_t mask) {
    const struct lookup *it = (const struct lookup *)((const uint32_t *)w->pool + r->imm);
    const struct textures *all = w->block->launch->engine->textures;
    struct row row = *r;
    struct found found = {.count = 0};
    row.space = GLOBAL;
    if (w->any_undefined && it->operation != STORE_SURFACE)
        for (uint32_t i = 0; i < it->count; i++)
            if (it->outs[i] != NONE) w->undefined[it->outs[i]] &= ~mask;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        uint64_t number = u64_of(w, it->object)[lane] - FIRST_OBJECT;
        if (!all || number >= all->count) {
            fault(w, &row, OUT_OF_BOUNDS, lane, NULL, 0, 4, false);
            return 1;
        }
        const struct texture *t = &all->each[number];
        if (!(it->operation == FETCH ? fetch(w, &row, it, t, lane, &found) : surface(w, &row, it, t, lane, &found)))
            return 1;
    }
    if (w->block->launch->profile)
        profile_texture(
                w, found.addresses, found.count, mask, found.size, it->outs, it->count, it->operation == STORE_SURFACE);
    return 0;
}
