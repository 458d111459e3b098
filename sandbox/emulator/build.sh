#!/bin/sh
# Builds the emulated GPU's engine and its host program into built/. Needs a C compiler; CC and CFLAGS say which, and how.
set -eu
cd "$(dirname "$0")"
into="${1:-built}"
mkdir -p "$into"
flags="-O3 -ffp-contract=off -fno-math-errno -fno-strict-aliasing -fwrapv -Wall -Wextra -Wno-type-limits -Wno-sign-compare -fPIC -pthread ${CFLAGS:--march=native}"
for part in engine/*.c; do
    name=$(basename "$part" .c)
    # shellcheck disable=SC2086 - the flags are several words
    ${CC:-cc} $flags -c "$part" -o "$into/$name.o" &
    parts="${parts:-} $!"
done
# Of each: a library would be linked without one that failed.
for part in $parts; do wait "$part"; done
# shellcheck disable=SC2086
${CC:-cc} -shared $flags -o "$into/.libengine.so" "$into"/*.o -lm -lpthread
rm "$into"/*.o
mv "$into/.libengine.so" "$into/libengine.so"
# Names of the CUDA runtime, and no others, must be there for the library that it loads.
# shellcheck disable=SC2086
${CC:-cc} -O2 -Wall -Wextra -fvisibility=hidden -rdynamic -o "$into/.host" host/*.c -ldl
mv "$into/.host" "$into/host"
