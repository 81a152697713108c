#ifndef COOPER_BENCHMARKS_HEAP_COUNTER_H_
#define COOPER_BENCHMARKS_HEAP_COUNTER_H_

// Counts heap allocations of a program that links this file: every operator new, of cooper and of
// the C++ libraries it uses.

#include <cstdint>

namespace cooper {

// Since the program began, on all threads.
int64_t HeapAllocations();

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_HEAP_COUNTER_H_
