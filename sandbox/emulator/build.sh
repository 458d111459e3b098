#!/bin/sh
# Builds the emulated GPU's engine and its host program into built/. Needs a C compiler; CC and CFLAGS say which, and how.
# `build.sh --wasm FOLDER` builds FOLDER/engine.wasm, with which a page steps through a block. Needs zig; ZIG says which.
set -eu
cd "$(dirname "$0")"
common="-ffp-contract=off -fno-math-errno -fno-strict-aliasing -fwrapv -Wall -Wextra -Wno-type-limits -Wno-sign-compare"
if [ "${1:-}" = --wasm ]; then
    into="$2" target=engine.wasm
    cc="${ZIG:-python3 -m ziglang} cc -target wasm32-wasi"
    # The page copies all memory, so it is for stepping: small counts, speed does not.
    flags="-Os $common -g0"
else
    into="${1:-built}" target=libengine.so
    cc="${CC:-cc}"
    flags="-O3 $common -fPIC -pthread ${CFLAGS:--march=native}"
fi
objects="$into/objects-$target"
mkdir -p "$objects"
for part in engine/*.c; do
    name=$(basename "$part" .c)
    # shellcheck disable=SC2086 - the flags are several words
    $cc $flags -c "$part" -o "$objects/$name.o" &
    parts="${parts:-} $!"
done
# Of each: a library would be linked without one that failed.
for part in $parts; do wait "$part"; done
if [ "$target" = engine.wasm ]; then
    for name in step_version step_alloc step_region step_new step_on step_begin step_warp step_registers step_undefined step_shared \
        step_shared_valid step_finding step_all step_checksum step_local step_local_valid step_stack step_printed \
        step_printed_size step_prints_left_out step_allocations step_allocation_count step_heap_begin step_heap_add engine_new engine_instructions engine_names; do
        exports="${exports:-} -Wl,--export=$name"
    done
    # shellcheck disable=SC2086
    $cc $flags -mexec-model=reactor -Wl,-s $exports -o "$into/.$target" "$objects"/*.o -lm
else
    # shellcheck disable=SC2086
    $cc -shared $flags -o "$into/.$target" "$objects"/*.o -lm -lpthread
    # Names of the CUDA runtime, and no others, must be there for the library that it loads.
    # shellcheck disable=SC2086
    $cc -O2 -Wall -Wextra -fvisibility=hidden -rdynamic -o "$into/.host" host/*.c -ldl
    mv "$into/.host" "$into/host"
fi
rm -r "$objects"
mv "$into/.$target" "$into/$target"
