#ifndef COOPER_MODULE_PREDICT_REQUESTS_BATCH_PREDICTOR_H_
#define COOPER_MODULE_PREDICT_REQUESTS_BATCH_PREDICTOR_H_

// Computes single samples as the rows of one batch, and returns each sample's rows of the outputs
// (request_batcher.h decides which samples share a batch).

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "module/predict/predictor.h"
#include "module/predict/requests/batch_rows.h"
#include "module/predict/requests/request_format.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The contents of one request.
struct RequestSample {
  ArrayMap arrays;     // valid by RequestFormat::CheckRequest
  int64_t length = 0;  // the result of CheckRequest
};

// Prepare first; afterwards the const functions are thread-safe. It holds the predictor and no
// arrays between calls.
class BatchPredictor {
 public:
  BatchPredictor(std::shared_ptr<const Predictor> predictor, RequestFormat format,
                 int64_t max_batch_size);

  // Compiles the networks of all lengths, and finds out which rows of the outputs belong to which
  // sample. Call it first. Errors are those of RequestBatcher::Create.
  absl::Status Prepare();

  // Returns, for each of the samples, at most max_batch_size, its part of the network's outputs.
  // The samples are padded to `length`, which is the network's key. An error is that of the batch:
  // the data of one sample may have caused it. Thread-safe. The result has one list for each
  // sample, with an array for each output. Arrays of a batch may share memory.
  absl::StatusOr<std::vector<std::vector<NDArray>>> Predict(
      int64_t length, absl::Span<const RequestSample> samples) const;

  const RequestFormat& format() const { return format_; }

 private:
  absl::Status CheckDTypes(int64_t length);
  absl::StatusOr<OutputShapes> PrepareFor(int64_t key, int64_t batch_size, int64_t length) const;
  absl::Status FindOrderOfPositions(int64_t length);
  absl::StatusOr<std::vector<RequestSample>> FormBatch(int64_t length, uint64_t bound) const;
  // Returns the outputs of the whole batch.
  absl::StatusOr<std::vector<NDArray>> Compute(int64_t length,
                                               absl::Span<const RequestSample> samples) const;

  const std::shared_ptr<const Predictor> predictor_;
  const RequestFormat format_;
  const int64_t max_batch_size_;
  std::vector<OutputRows> output_rows_;
  DType length_dtype_ = DType::kFloat32;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_REQUESTS_BATCH_PREDICTOR_H_
