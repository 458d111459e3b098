#!/bin/sh
# Builds the emulated GPU's engine and host program into built/, by the C compiler CC with CFLAGS.
# `build.sh --wasm FOLDER` builds FOLDER/engine.wasm, for pages that step through a block, by ZIG.
set -eu
cd "$(dirname "$0")"
common="-ffp-contract=off -fno-math-errno -fno-strict-aliasing -fwrapv -Wall -Wextra -Wno-type-limits -Wno-sign-compare"
if [ "${1:-}" = --wasm ]; then
    into="$2" target=engine.wasm
    cc="${ZIG:-python3 -m ziglang} cc -target wasm32-wasi"
    # Small, because the page copies all memory; stepping needs no speed.
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
# wait reports a failure only of a named process.
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
    # The library that it loads must find the CUDA runtime's names, and no others.
    # shellcheck disable=SC2086
    $cc -O2 -Wall -Wextra -fvisibility=hidden -rdynamic -o "$into/.host" host/*.c -ldl
    mv "$into/.host" "$into/host"
fi
rm -r "$objects"
mv "$into/.$target" "$into/$target"
