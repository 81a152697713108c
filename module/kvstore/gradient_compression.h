#ifndef COOPER_MODULE_KVSTORE_GRADIENT_COMPRESSION_H_
#define COOPER_MODULE_KVSTORE_GRADIENT_COMPRESSION_H_

// Compresses gradients to two bits an element with error feedback: the error of an element is kept
// as a residual and added to its next gradient.
//
//   r += g;  send +t where r >= t, -t where r <= -t, else 0;  r -= what was sent
//
// MXNet: src/kvstore/gradient_compression-inl.h; the idea is that of Seide et al., "1-Bit
// Stochastic Gradient Descent" (Interspeech 2014).

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "module/kwargs/kwargs.h"

namespace cooper {

// Compresses and decompresses; thread-safe.
struct GradientCompression {
  float threshold = 0.5f;

  // Reads MXNet's compression_params: "type" ("2bit") and "threshold" (> 0, default 0.5).
  // kInvalidArgument for others.
  static absl::StatusOr<GradientCompression> FromParams(const Kwargs& params);

  // Returns the number of words for `n` gradients: each word has 16.
  static int64_t NumWords(int64_t n) { return (n + 15) / 16; }

  // Adds `gradient` to `residual`, writes the compressed values to `words` and subtracts them from
  // `residual`. `gradient` and `residual` have the same size, and `words` has NumWords of it.
  void Compress(absl::Span<const float> gradient, absl::Span<float> residual,
                absl::Span<uint32_t> words) const;
  // Adds the compressed values to `sum`.
  void AddTo(absl::Span<const uint32_t> words, absl::Span<float> sum) const;
};

}  // namespace cooper

#endif  // COOPER_MODULE_KVSTORE_GRADIENT_COMPRESSION_H_
