#include "benchmarks/lm_batches.h"

#include <utility>

#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<LmBatches> MakeLmBatches(const std::vector<int64_t>& buckets, int64_t num_batches,
                                        int64_t batch_size, int64_t vocab, uint64_t seed) {
  uint64_t state = seed;
  auto draw = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int64_t>(state >> 33);
  };
  LmBatches all;
  for (int64_t b = 0; b < num_batches; ++b) {
    const size_t i = static_cast<size_t>(b) % buckets.size();
    const int64_t bucket = buckets[i];
    const int64_t below = i == 0 ? 0 : buckets[i - 1];
    const Shape shape({batch_size, bucket});
    COOPER_ASSIGN_OR_RETURN(const NDArray data, NDArray::Zeros(shape));
    COOPER_ASSIGN_OR_RETURN(const NDArray label, NDArray::Zeros(shape));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> x, data.Data<float>());
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> y, label.Data<float>());
    for (int64_t row = 0; row < batch_size; ++row) {
      const int64_t length = bucket - draw() % (bucket - below);
      int64_t id = 1 + draw() % (vocab - 1);
      for (int64_t t = 0; t < length; ++t) {
        x[row * bucket + t] = static_cast<float>(id);
        id = 1 + draw() % (vocab - 1);
        y[row * bucket + t] = static_cast<float>(id);
      }
      all.real_tokens += length;
    }
    all.padded_tokens += batch_size * bucket;
    all.batches.push_back(
        {.data = {data},
         .label = {label},
         .bucket_key = bucket,
         .provide_data = {{.name = "data", .shape = shape, .layout = "NT"}},
         .provide_label = {{.name = "softmax_label", .shape = shape, .layout = "NT"}}});
  }
  return all;
}

}  // namespace cooper
