#ifndef COOPER_MODULE_PREDICT_WORKER_H_
#define COOPER_MODULE_PREDICT_WORKER_H_

// What one call of a Predictor at a time computes with: an arena and an executor for each shape.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/executor.h"
#include "module/predict/lru_map.h"
#include "module/predict/output_arrays.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/context.h"

namespace cooper {

struct Worker {
  // `number` keeps what its random operators draw apart from what others do.
  Worker(Context context, uint64_t seed, uint64_t number, size_t max_executors)
      : arena(std::make_shared<Arena>(context)),
        random(std::make_shared<RandomState>(RandomState{.seed = seed, .replica = number})),
        executors(max_executors) {}

  std::shared_ptr<Arena> arena;
  std::shared_ptr<RandomState> random;
  LruMap<std::unique_ptr<Executor>> executors;
  int64_t kept_outputs = 0;  // what OutputArrays keeps on its account
};

// Runs the executor, one of the worker's, whose arguments are there, and gives its outputs in
// arrays that are nobody else's. On a CPU it computes in them, but for outputs that cannot be apart
// from what it keeps. On a GPU its own outputs are copied, so that its arrays stay and the run is
// recorded in a graph. Errors are Executor's.
absl::StatusOr<std::vector<NDArray>> RunApart(Worker& worker, Executor& executor,
                                              OutputArrays& arrays);

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_WORKER_H_
