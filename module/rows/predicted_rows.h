#ifndef COOPER_MODULE_ROWS_PREDICTED_ROWS_H_
#define COOPER_MODULE_ROWS_PREDICTED_ROWS_H_

// Joins the outputs of all batches of a prediction, in the order of the samples.

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "ndarray/array/ndarray.h"
#include "symbol/schema/batch_layout.h"

namespace cooper {

// Collects the outputs batch by batch (Add) and joins them (Join). Not thread-safe.
class PredictedRows {
 public:
  // Computes the outputs of a batch.
  using Compute = absl::FunctionRef<absl::StatusOr<std::vector<NDArray>>(const DataBatch&)>;

  // With `input_order` (PredictOptions::input_order), samples are sorted by their ids, each
  // sample's indices of the axis together where it has several; without it they keep their order.
  explicit PredictedRows(bool input_order) : input_order_(input_order) {}

  // Takes the outputs of a batch of `samples` samples, padding included; the caller must not write
  // to the outputs later. `data` and `label` describe the batch's arrays. `layouts` say where the
  // samples are in each output, as far as that is known; where it is not, `compute` runs a modified
  // batch, a few times per bucket at most. kInvalidArgument if the number of outputs differs from
  // earlier batches.
  absl::Status Add(const DataBatch& batch, const std::vector<DataDesc>& data,
                   const std::vector<DataDesc>& label, int64_t samples,
                   const std::vector<BatchLayout>& layouts, std::vector<NDArray> outputs,
                   Compute compute);

  // Returns one array per output, without padding. `ids` receives the sample of each index of the
  // batch axis of the first output that has one; it stays empty if there is none. An output without
  // samples, such as a mean, has the values of all batches along its first axis. kInvalidArgument,
  // naming the output by `names`, if batches differ in another axis, or if it is ambiguous to which
  // samples indices belong and that affects the result.
  absl::StatusOr<std::vector<NDArray>> Join(const std::vector<std::string>& names,
                                            std::vector<int64_t>* ids) const;

 private:
  struct Batch {
    std::vector<NDArray> outputs;
    std::vector<BatchLayout> layouts;  // of the outputs; kUnknown: see candidates_
    std::vector<int64_t> ids;  // of the samples, without padding; empty if the batch has none
    int64_t samples = 0;       // with padding; 0: unknown
    int64_t pad = 0;
    std::string bucket;

    int64_t keep() const { return std::max<int64_t>(0, samples - pad); }
  };
  // The possible positions of samples depend on output, bucket, and extents divided by samples.
  using Key = std::tuple<size_t, std::string, std::vector<int64_t>>;
  struct Candidates {
    std::vector<BatchLayout> layouts;
    int rotated = 0;  // batches computed with rotated samples
  };

  static Key KeyOf(const Batch& batch, size_t k);
  absl::Status FindLayouts(const DataBatch& batch, const std::vector<DataDesc>& data,
                           const std::vector<DataDesc>& label, const Batch& kept, Compute compute);
  // Returns where the samples of an output may be, the most likely first; empty if it has none.
  absl::StatusOr<std::vector<BatchLayout>> LayoutsOf(const Batch& batch, size_t k) const;
  // Returns the output without padding; kInvalidArgument if `layouts` disagree about it.
  absl::StatusOr<NDArray> Kept(const Batch& batch, size_t k,
                               absl::Span<const BatchLayout> layouts) const;

  const bool input_order_;
  std::vector<Batch> batches_;
  std::map<Key, Candidates> candidates_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_ROWS_PREDICTED_ROWS_H_
