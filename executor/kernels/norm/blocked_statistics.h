#ifndef COOPER_EXECUTOR_KERNELS_NORM_BLOCKED_STATISTICS_H_
#define COOPER_EXECUTOR_KERNELS_NORM_BLOCKED_STATISTICS_H_

// Sums, means and variances of channels that lie in blocks of B.

#include <cstdint>

#include "ndarray/base/shape.h"

namespace cooper {

// Images (batch, blocks, size, B).
struct BlockedExtents {
  int64_t batch, blocks, size;

  explicit BlockedExtents(const Shape& shape)
      : batch(shape[0]), blocks(shape[1]), size(shape.Product(2, shape.rank() - 1)) {}

  int64_t per_channel() const { return batch * size; }
  // Calls fn(i) for the first element of each vector of block k, several of them in a row.
  template <int B, typename Fn>
  void ForEach(int64_t k, Fn&& fn) const {
    for (int64_t n = 0; n < batch; ++n) {
      const int64_t begin = (n * blocks + k) * size * B;
      for (int64_t i = begin; i < begin + size * B; i += B) fn(i);
    }
  }
};

// A number for each channel of a block.
template <int B>
struct ChannelLanes {
  float at[B] = {};

  float& operator[](int j) { return at[j]; }
  float operator[](int j) const { return at[j]; }
};

// Sums of term(i, j) over all vectors i, for each channel j of block k. Several run side by side:
// an addition does not wait for the one before. Images are summed one by one, for a sum of many
// terms loses the digits of the next one.
template <int B, typename Term>
ChannelLanes<B> SumOfBlock(const BlockedExtents& e, int64_t k, const Term& term) {
  constexpr int kSums = 4;
  ChannelLanes<B> total;
  for (int64_t n = 0; n < e.batch; ++n) {
    ChannelLanes<B> sums[kSums];
    int64_t at = (n * e.blocks + k) * e.size * B;
    int64_t i = 0;
    for (; i + kSums <= e.size; i += kSums, at += kSums * B) {
      for (int s = 0; s < kSums; ++s) {
        for (int j = 0; j < B; ++j) sums[s][j] += term(at + s * B + j, j);
      }
    }
    for (; i < e.size; ++i, at += B) {
      for (int j = 0; j < B; ++j) sums[0][j] += term(at + j, j);
    }
    for (int j = 0; j < B; ++j) {
      total[j] += (sums[0][j] + sums[1][j]) + (sums[2][j] + sums[3][j]);
    }
  }
  return total;
}

// Over the batch and the image, of each channel of a block.
template <int B>
struct BlockMoments {
  ChannelLanes<B> mean, var;
};

template <int B>
BlockMoments<B> MomentsOfBlock(const BlockedExtents& e, int64_t k, const float* data) {
  const auto n = static_cast<float>(e.per_channel());
  BlockMoments<B> m;
  m.mean = SumOfBlock<B>(e, k, [&](int64_t i, int /*j*/) { return data[i]; });
  for (int j = 0; j < B; ++j) m.mean[j] /= n;
  m.var = SumOfBlock<B>(e, k, [&](int64_t i, int j) {
    const float d = data[i] - m.mean[j];
    return d * d;
  });
  for (int j = 0; j < B; ++j) m.var[j] /= n;
  return m;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_NORM_BLOCKED_STATISTICS_H_
