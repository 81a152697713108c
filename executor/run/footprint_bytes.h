#ifndef COOPER_EXECUTOR_RUN_FOOTPRINT_BYTES_H_
#define COOPER_EXECUTOR_RUN_FOOTPRINT_BYTES_H_

// Estimates the memory that a bound program holds besides its arrays and its arena: its graph,
// instructions and plan. BucketingModule limits the memory of its bound buckets by this estimate.

#include <cstdint>

#include "executor/compile/compiled_program.h"

namespace cooper {

// Returns an estimate of the heap bytes that a program and one binding of it hold. It is counted
// from nodes, instructions and values, so equal programs give equal numbers on every machine. It
// lies between 0.75 and 1.25 of the measured bytes (tests/bucketing/caps_test.cc). State of kernels
// (KernelState) is left out; nodes that programs share count in each. O(nodes + values) time.
int64_t FootprintBytes(const CompiledProgram& compiled);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_RUN_FOOTPRINT_BYTES_H_
