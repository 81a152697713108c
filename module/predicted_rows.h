#ifndef COOPER_MODULE_PREDICTED_ROWS_H_
#define COOPER_MODULE_PREDICTED_ROWS_H_

// The outputs of all batches of a prediction, joined, in the order of the samples.

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "io/data_batch.h"
#include "io/data_desc.h"
#include "module/sample_rows.h"
#include "ndarray/ndarray.h"

namespace cooper {

class PredictedRows {
 public:
  // The outputs of a batch.
  using Compute = absl::FunctionRef<absl::StatusOr<std::vector<NDArray>>(const DataBatch&)>;

  // Whether rows get the order of the samples (PredictOptions::input_order), where a sample may
  // have several rows of an output; without, they stay as they come.
  explicit PredictedRows(bool input_order) : input_order_(input_order) {}

  // Takes the outputs of a batch, with the rows of its padding; they must be no one else's. The
  // descriptions are those of the batch's arrays. Where it has to find out which rows are whose, it
  // asks `compute` for another batch, for a few of each bucket at the most. kInvalidArgument if
  // their number is not that of the batches before.
  absl::Status Add(const DataBatch& batch, const std::vector<DataDesc>& data,
                   const std::vector<DataDesc>& label, std::vector<NDArray> outputs,
                   Compute compute);

  // One array of each output, without padding, and in `ids` the sample of each row of the first
  // output that has rows of samples; none if there is none. kInvalidArgument, naming the output by
  // `names`, if batches differ in another axis, or if rows may be of several samples and which
  // makes a difference.
  absl::StatusOr<std::vector<NDArray>> Join(const std::vector<std::string>& names,
                                            std::vector<int64_t>* ids) const;

 private:
  struct Batch {
    std::vector<NDArray> outputs;
    std::vector<int64_t> ids;  // of the samples, without padding; none if there are none
    int64_t samples = 0;       // with padding
    int64_t pad = 0;
    std::string bucket;
  };
  // What rows of an output of a bucket may be: output, bucket, rows of a sample.
  using Key = std::tuple<size_t, std::string, int64_t>;
  struct Candidates {
    std::vector<SampleRows> rows;
    int asked = 0;  // batches that were turned
  };

  absl::Status FindRows(const DataBatch& batch, const std::vector<DataDesc>& data,
                        const std::vector<DataDesc>& label, const Batch& kept, Compute compute);
  // What rows output `k` of a batch may have; null if they are not its samples'.
  const Candidates* CandidatesOf(const Batch& batch, size_t k) const;
  bool HasRowsOfSamples(size_t k) const;
  absl::StatusOr<NDArray> Rows(const Batch& batch, size_t k) const;

  const bool input_order_;
  std::vector<Batch> batches_;
  std::map<Key, Candidates> candidates_;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICTED_ROWS_H_
