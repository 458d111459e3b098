#!/bin/sh
# Builds the engine beside this folder, in ../built. Needs a C compiler; CC and CFLAGS say which, and how.
set -eu
cd "$(dirname "$0")"
into="${1:-../built}"
mkdir -p "$into"
flags="-O3 -ffp-contract=off -fno-math-errno -fno-strict-aliasing -fwrapv -Wall -Wextra -Wno-type-limits -Wno-sign-compare -fPIC -pthread ${CFLAGS:--march=native}"
for part in *.c; do
    # shellcheck disable=SC2086 - the flags are several words
    ${CC:-cc} $flags -c "$part" -o "$into/${part%.c}.o" &
done
wait
# shellcheck disable=SC2086
${CC:-cc} -shared $flags -o "$into/.libengine.so" "$into"/*.o -lm -lpthread
rm "$into"/*.o
mv "$into/.libengine.so" "$into/libengine.so"
