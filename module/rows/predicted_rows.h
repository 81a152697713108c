#ifndef COOPER_MODULE_ROWS_PREDICTED_ROWS_H_
#define COOPER_MODULE_ROWS_PREDICTED_ROWS_H_

// The outputs of all batches of a prediction, joined, in the order of the samples.

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

class PredictedRows {
 public:
  // The outputs of a batch.
  using Compute = absl::FunctionRef<absl::StatusOr<std::vector<NDArray>>(const DataBatch&)>;

  // Whether the samples of an output get their own order (PredictOptions::input_order), those of
  // each sample together where it has several indices of the axis; without, they stay as they come.
  explicit PredictedRows(bool input_order) : input_order_(input_order) {}

  // Takes the outputs of a batch of `samples` samples, with those of its padding; they must be no
  // one else's. The descriptions are those of the batch's arrays. `layouts` say where the samples
  // are in each output, as far as that is known. Where it has to find that out, it asks `compute`
  // for another batch, for a few of each bucket at the most. kInvalidArgument if the outputs are
  // not as many as those of the batches before.
  absl::Status Add(const DataBatch& batch, const std::vector<DataDesc>& data,
                   const std::vector<DataDesc>& label, int64_t samples,
                   const std::vector<BatchLayout>& layouts, std::vector<NDArray> outputs,
                   Compute compute);

  // One array of each output, without padding, and in `ids` the sample of each index of the batch
  // axis of the first output that has one; none if there is none. An output without samples, such
  // as a mean, is joined on its first axis, with the values of all batches. kInvalidArgument,
  // naming the output by `names`, if batches differ in another axis, or if indices may be of
  // several samples and which makes a difference.
  absl::StatusOr<std::vector<NDArray>> Join(const std::vector<std::string>& names,
                                            std::vector<int64_t>* ids) const;

 private:
  struct Batch {
    std::vector<NDArray> outputs;
    std::vector<BatchLayout> layouts;  // of the outputs; kUnknown: see candidates_
    std::vector<int64_t> ids;          // of the samples, without padding; none if there are none
    int64_t samples = 0;               // with padding; 0 if nobody knows
    int64_t pad = 0;
    std::string bucket;

    int64_t keep() const { return std::max<int64_t>(0, samples - pad); }
  };
  // What places samples may have in an output of a bucket: output, bucket, extents by samples.
  using Key = std::tuple<size_t, std::string, std::vector<int64_t>>;
  struct Candidates {
    std::vector<BatchLayout> layouts;
    int asked = 0;  // batches that were turned
  };

  static Key KeyOf(const Batch& batch, size_t k);
  absl::Status FindLayouts(const DataBatch& batch, const std::vector<DataDesc>& data,
                           const std::vector<DataDesc>& label, const Batch& kept, Compute compute);
  // Where the samples of an output may be, the most likely first; none if it has none.
  absl::StatusOr<std::vector<BatchLayout>> LayoutsOf(const Batch& batch, size_t k) const;
  // What is kept of an output, by one of several layouts.
  absl::StatusOr<NDArray> Kept(const Batch& batch, size_t k,
                               absl::Span<const BatchLayout> layouts) const;

  const bool input_order_;
  std::vector<Batch> batches_;
  std::map<Key, Candidates> candidates_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_ROWS_PREDICTED_ROWS_H_
