#ifndef COOPER_BENCHMARKS_PASS_LIMIT_H_
#define COOPER_BENCHMARKS_PASS_LIMIT_H_

// The time below which no program can run a pass of a network on this machine.

#include "executor/executor.h"

namespace cooper {

struct PassLimit {
  // To move every array of the pass once, as fast as a copy of as many bytes: arguments and
  // outputs, and for a training pass head gradients and gradients.
  double copy_s = 0;
  // For the operations of matrix products and convolutions, at the rate of a large product.
  double products_s = 0;
};

// Measures the rates on NumThreads() threads and returns the limit of a pass of the bound network:
// forward and backward if it has gradients. Arrays of which a pass needs a part, such as the table
// of an embedding, count as a whole. Takes some 50 ms.
PassLimit MeasurePassLimit(const Executor& executor);

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_PASS_LIMIT_H_
