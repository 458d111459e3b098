#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "run.h"

#define MOST_PRINTED (1u << 20)

static void append(struct engine *engine, const char *text, size_t size) {
    if (size == 0) return;
    while (atomic_flag_test_and_set(&engine->print_lock)) {}
    if (engine->tags_prints) {
        if (size > engine->print_bytes_left) {
            engine->print_bytes_left = 0; /* later prints are left out, too: the head stays whole */
            engine->prints_left_out++;
            atomic_flag_clear(&engine->print_lock);
            return;
        }
        engine->print_bytes_left -= size;
    }
    if (engine->printed_size + size <= MOST_PRINTED) {
        while (engine->printed_size + size > engine->printed_room) {
            char *more = grown(engine->printed, &engine->printed_room, 4096, 1);
            if (!more) break;
            engine->printed = more;
        }
        if (engine->printed_size + size <= engine->printed_room) {
            memcpy(engine->printed + engine->printed_size, text, size);
            engine->printed_size += size;
        }
    }
    atomic_flag_clear(&engine->print_lock);
}

/* Block and thread between two control characters; when stepping, also the row's number and line. */
static size_t tag(struct warp *w, const struct row *r, int lane, char *into, size_t most) {
    const struct block *block = w->block;
    const uint32_t *threads = block->launch->threads, *index = block->index;
    uint32_t t = w->number * LANES + (uint32_t)lane;
    const struct step *step = block->launch->step;
    char row[32] = "";
    if (step) snprintf(row, sizeof row, "@%u,%u", step_row(step), r->line);
    int size = snprintf(into, most, "\x1e%u,%u,%u;%u,%u,%u%s\x1f", index[0], index[1], index[2], t % threads[0],
            t / threads[0] % threads[1], t / threads[0] / threads[1], row);
    return size < 0 ? 0 : (size_t)size;
}

void engine_tag_prints(struct engine *engine, uint64_t bytes) {
    engine->tags_prints = true;
    engine->print_bytes_left = bytes;
    engine->prints_left_out = 0;
}

uint64_t engine_prints_left_out(struct engine *engine) {
    uint64_t count = engine->prints_left_out;
    engine->prints_left_out = 0;
    return count;
}

/* At most ``most`` bytes with the end. */
static bool text_at(struct warp *w, const struct row *r, uint64_t address, int lane, char *into, size_t most) {
    struct row read = *r;
    read.space = GENERIC;
    for (size_t i = 0; i + 1 < most; i++) {
        uint8_t *at = memory_at(w, &read, address + i, 1, lane, false);
        if (!at) return false;
        into[i] = (char)*at;
        if (!*at) return true;
    }
    into[most - 1] = 0;
    return true;
}

/* Reads no values, so a kernel that prints a gigabyte ends in time. Returns printf's result; -1: a fault was recorded. */
static int left_out(struct warp *w, const struct row *r, int lane) {
    struct engine *engine = w->block->launch->engine;
    /* of this host thread's last format */
    static _Thread_local uint64_t known;
    static _Thread_local int printed;
    uint64_t address = u64_of(w, r->a)[lane];
    if (address != known) {
        char format[1024];
        if (!text_at(w, r, address, lane, format, sizeof format)) return -1;
        known = address;
        printed = 0;
        for (const char *c = format; *c; c++) {
            if (*c != '%') continue;
            if (c[1] == '%') c++;
            else printed++;
        }
    }
    while (atomic_flag_test_and_set(&engine->print_lock)) {}
    engine->prints_left_out++;
    atomic_flag_clear(&engine->print_lock);
    return printed;
}

/* At most 400 bytes with the end. Returns the length. */
static int bounded(char *into, const char *format, ...) {
    va_list values;
    va_start(values, format);
    int wanted = vsnprintf(into, 400, format, values);
    va_end(values);
    return wanted < 0 ? 0 : wanted < 400 ? wanted : 399;
}

/* a: the format, b: the arguments (each at a multiple of its size), d: the result. */
int print_formatted(struct warp *w, const struct row *r, uint32_t mask) {
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left), printed = 0;
        char format[1024], out[4096];
        size_t size = 0;
        uint64_t arguments = u64_of(w, r->b)[lane], offset = 0;
        struct engine *engine = w->block->launch->engine;
        if (engine->tags_prints && engine->print_bytes_left == 0) {
            if ((printed = left_out(w, r, lane)) < 0) return 1;
            if (r->d != NONE) u32_of(w, r->d)[lane] = (uint32_t)printed;
            continue;
        }
        if (!text_at(w, r, u64_of(w, r->a)[lane], lane, format, sizeof format)) return 1;
        if (engine->tags_prints) size = tag(w, r, lane, out, sizeof out);
        for (const char *c = format; *c && size < sizeof out - 512;) {
            if (*c != '%') {
                out[size++] = *c++;
                continue;
            }
            if (c[1] == '%') {
                out[size++] = '%';
                c += 2;
                continue;
            }
            char one[32] = "%";
            size_t n = 1;
            int longs = 0;
            for (c++; *c && strchr("-+ #0123456789.lhzjtL*", *c) && n < 24; c++) {
                if (strchr("lzjtL", *c)) longs++;
                else if (*c != 'h' && *c != '*') one[n++] = *c;
            }
            char kind = *c ? *c++ : 0;
            bool real = kind && strchr("fFeEgGaA", kind), text = kind == 's',
                 wide = real || text || kind == 'p' || longs;
            uint64_t step = wide ? 8 : 4;
            offset = (offset + step - 1) / step * step;
            struct row read = *r;
            read.space = GENERIC;
            uint8_t *at = memory_at(w, &read, arguments + offset, (uint32_t)step, lane, false);
            if (!at) return 1;
            offset += step;
            uint64_t bits = 0;
            memcpy(&bits, at, step);
            if (real) {
                double value;
                memcpy(&value, &bits, 8);
                one[n++] = kind;
                one[n] = 0;
                size += (size_t)bounded(out + size, one, value);
            } else if (text) {
                char inner[256];
                if (!text_at(w, r, bits, lane, inner, sizeof inner)) return 1;
                one[n++] = 's';
                one[n] = 0;
                size += (size_t)bounded(out + size, one, inner);
            } else if (kind == 'p') size += (size_t)bounded(out + size, "0x%llx", (unsigned long long)bits);
            else if (kind == 'c') out[size++] = (char)bits;
            else if (kind && strchr("diouxX", kind)) {
                one[n++] = 'l';
                one[n++] = 'l';
                one[n++] = kind;
                one[n] = 0;
                long long value = kind == 'd' || kind == 'i' ? (wide ? (long long)bits : (long long)(int32_t)bits)
                                                             : (long long)bits;
                size += (size_t)bounded(out + size, one, value);
            }
            printed++;
        }
        append(engine, out, size);
        if (r->d != NONE) u32_of(w, r->d)[lane] = (uint32_t)printed;
    }
    return 0;
}

/* a: the message, b: the file, c: the line, e: the function */
int print_assertion(struct warp *w, const struct row *r, uint32_t mask) {
    char message[512], text[1024];
    int lane = __builtin_ctz(mask);
    if (!text_at(w, r, u64_of(w, r->a)[lane], lane, message, sizeof message)) return 1;
    int size = snprintf(text, sizeof text, "Assertion `%s` failed.\n", message);
    append(w->block->launch->engine, text, (size_t)size);
    fault(w, r, ASSERTED, lane, NULL, 0, 0, false);
    return 1;
}
