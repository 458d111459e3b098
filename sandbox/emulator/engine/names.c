/* Lists of names.h, which Python compares with its own. */
#include "names.h"

#define SHOWN(name, ...) #name __VA_OPT__("=" #__VA_ARGS__) " "
#define LIST(list) #list ": " list(SHOWN) "\n"

const char *engine_names(void) {
    return LIST(OPERATIONS) LIST(FLAGS) LIST(SPACES) LIST(NOPS) LIST(SPECIALS) LIST(ROUNDINGS) LIST(CONVERSIONS)
            LIST(PERMUTATIONS) LIST(DOTS) LIST(BARRIERS) LIST(SHUFFLES) LIST(VOTES) LIST(MATCHES) LIST(REDUCTIONS)
                    LIST(HEAP_CALLS) LIST(ATOMICS) LIST(ATOMIC_TYPES) LIST(ELEMENTS) LIST(MATRICES) LIST(OPERANDS)
                            LIST(MATRIX_MOVES) LIST(VIDEOS) LIST(COMPARISONS) LIST(VIDEO_SECONDS) LIST(VIDEO_MADS)
                                    LIST(LOOKUPS) LIST(BEYONDS) LIST(ASYNCS) LIST(ARRIVALS) LIST(COPIES) LIST(BULK_WAYS)
                                            LIST(CHECKS) LIST(STOPS) LIST(FINDING_KINDS) LIST(WRITERS) LIST(TOGETHER)
                                                    LIST(CLASSES) LIST(NEEDS) LIST(BRANCHES) LIST(WIDTHS) LIST(COUNTS)
                                                            LIST(STEP_LAUNCHES) LIST(STEP_ENDS) LIST(STEP_MEMORY)
                                                                    LIST(STEP_STATES);
}
