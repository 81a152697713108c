#ifndef COOPER_BENCHMARKS_HEAP_COUNTER_H_
#define COOPER_BENCHMARKS_HEAP_COUNTER_H_

// Counts the heap allocations of a program that links this file: every operator new, of cooper and
// of the C++ libraries that it uses.

#include <cstdint>

namespace cooper {

// Returns the number of allocations since the program began, on all threads. Thread-safe.
int64_t HeapAllocations();

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_HEAP_COUNTER_H_
