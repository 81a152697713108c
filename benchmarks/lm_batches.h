#ifndef COOPER_BENCHMARKS_LM_BATCHES_H_
#define COOPER_BENCHMARKS_LM_BATCHES_H_

// Creates the batches on which language models are compared, by a formula that every peer can
// implement (benchmarks/peers/protocol.md, "Batches").

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "io/batch/data_batch.h"

namespace cooper {

struct LmBatches {
  std::vector<DataBatch> batches;  // (batch_size, bucket) float32, bucket key = length
  int64_t padded_tokens = 0;       // of all batches together
  int64_t real_tokens = 0;
};

// Returns one pass: batch b has length buckets[b % buckets.size()]. `buckets` must rise; vocab > 1.
absl::StatusOr<LmBatches> MakeLmBatches(const std::vector<int64_t>& buckets, int64_t num_batches,
                                        int64_t batch_size, int64_t vocab, uint64_t seed);

}  // namespace cooper

#endif  // COOPER_BENCHMARKS_LM_BATCHES_H_
