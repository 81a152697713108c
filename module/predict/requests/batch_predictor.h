#ifndef COOPER_MODULE_PREDICT_REQUESTS_BATCH_PREDICTOR_H_
#define COOPER_MODULE_PREDICT_REQUESTS_BATCH_PREDICTOR_H_

// Computes single samples as the rows of one batch, and gives each its own rows of the outputs
// (request_batcher.h decides which samples are put together).

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

// What one request asks for.
struct Sample {
  ArrayMap arrays;     // as RequestFormat::CheckRequest wants them
  int64_t length = 0;  // what that has said
};

class BatchPredictor {
 public:
  BatchPredictor(std::shared_ptr<const Predictor> predictor, RequestFormat format,
                 int64_t max_batch_size);

  // Compiles the networks of all lengths, and finds out which rows of the outputs are whose. The
  // errors are those of RequestBatcher::Create. Before anything else.
  absl::Status Prepare();

  // What each of the samples, at most max_batch_size, has of the network's outputs. They are padded
  // to `length`, which is the network's key. An error is that of the batch: one sample's data may
  // have caused it. Thread-safe.
  absl::StatusOr<std::vector<std::vector<NDArray>>> Predict(int64_t length,
                                                            absl::Span<const Sample> samples) const;

  const RequestFormat& format() const { return format_; }

 private:
  absl::Status CheckDTypes(int64_t length);
  absl::StatusOr<OutputShapes> PrepareFor(int64_t key, int64_t batch_size, int64_t length) const;
  absl::Status FindOrderOfPositions(int64_t length);
  absl::StatusOr<std::vector<Sample>> MakeUpBatch(int64_t length, uint64_t bound) const;
  // The outputs of the whole batch.
  absl::StatusOr<std::vector<NDArray>> Compute(int64_t length,
                                               absl::Span<const Sample> samples) const;

  const std::shared_ptr<const Predictor> predictor_;
  const RequestFormat format_;
  const int64_t max_batch_size_;
  std::vector<OutputRows> output_rows_;
  DType length_dtype_ = DType::kFloat32;
};

}  // namespace cooper

#endif  // COOPER_MODULE_PREDICT_REQUESTS_BATCH_PREDICTOR_H_
