#ifndef COOPER_MODULE_EVALUATE_EVALUATE_H_
#define COOPER_MODULE_EVALUATE_EVALUATE_H_

// Steps that the loops of Fit, Score, IterPredict and Predict share, and the loop of Score, which
// Fit also runs as its validation.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_iter.h"
#include "module/callback/callback.h"
#include "module/interface/base_module.h"
#include "module/metric/eval_metric.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

// The result of ScoreBatches: the number of batches, and whether the caller should go on.
struct ScoreEnd {
  int64_t batches = 0;
  bool keep_going = true;  // whether no callback returned false
};

// Resets `metric` and updates it with the outputs of each batch, computed with is_train false. An
// iterator without batches is no error. `module` must be bound and have parameters. Errors name
// epoch and batch.
absl::StatusOr<ScoreEnd> ScoreBatches(BaseModule& module, DataIter& eval_data, EvalMetric& metric,
                                      const ScoreOptions& options);

// Returns iter.Next(), and records it as "data" in a profile.
absl::StatusOr<std::optional<DataBatch>> FetchBatch(DataIter& iter);

// Calls all callbacks, even after one returned false, and returns whether all returned true.
// Returns the first error at once.
absl::StatusOr<bool> CallAll(const std::vector<BatchEndCallback>& callbacks,
                             const BatchEndParam& param);

// Puts text such as "Fit: epoch 2, batch 17" in front of the message of an error. `result` is a
// status or a StatusOr.
template <typename Result>
Result AtBatch(Result result, const char* loop, int epoch, int64_t nbatch) {
  return AddContext(std::move(result), loop, ": epoch ", epoch, ", batch ", nbatch);
}

}  // namespace cooper

#endif  // COOPER_MODULE_EVALUATE_EVALUATE_H_
