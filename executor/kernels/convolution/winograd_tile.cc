#include "executor/kernels/convolution/winograd_tile.h"

#include "ndarray/threads/parallel.h"

namespace cooper {

void TransformWinogradWeight(int64_t filters, int64_t channels, const float* weight, float* out) {
  constexpr int64_t kGrain = 64;  // windows of a thread
  ParallelFor(filters / kWinogradFilters * channels, kGrain, [&](int64_t begin, int64_t end) {
    float window[kWinogradElements];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t slice = i / channels, channel = i % channels;
      float* const to = out + (slice * kWinogradElements * channels + channel) * kWinogradFilters;
      for (int64_t j = 0; j < kWinogradFilters; ++j) {
        TransformWindow(weight + ((slice * kWinogradFilters + j) * channels + channel) * 9, window);
        for (int64_t e = 0; e < kWinogradElements; ++e) {
          to[e * channels * kWinogradFilters + j] = window[e];
        }
      }
    }
  });
}

}  // namespace cooper
