#ifndef COOPER_MODULE_PREDICT_WORKER_H_
#define COOPER_MODULE_PREDICT_WORKER_H_

// The resources of one running call of a Predictor: an arena, and an executor for each shape.

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

// Used by one call at a time. Workers share parameters, which executors only read, but no
// activations: as many calls run at the same time as there are workers, each with the memory of one
// arena.
struct Worker {
  // `number` gives the worker a random stream of its own.
  Worker(Context context, uint64_t seed, uint64_t number, size_t max_executors)
      : arena(std::make_shared<Arena>(context)),
        random(std::make_shared<RandomState>(RandomState{.seed = seed, .replica = number})),
        executors(max_executors) {}

  std::shared_ptr<Arena> arena;
  std::shared_ptr<RandomState> random;
  LruMap<std::unique_ptr<Executor>> executors;
  int64_t kept_outputs = 0;  // blocks that OutputArrays keeps for this worker
};

// Runs the executor, one of the worker's, whose arguments are set, and returns its outputs in
// arrays that nothing else uses. On a CPU the executor computes in these arrays, except for outputs
// that share memory with what it keeps. On a GPU its own outputs are copied, so that its arrays
// stay the same and the run can be recorded in a graph. Errors are Executor's.
absl::StatusOr<std::vector<NDArray>> RunOnWorker(Worker& worker, Executor& executor,
                                                 OutputArrays& arrays);

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_WORKER_H_
