#ifndef COOPER_EXECUTOR_KERNELS_NORM_BLOCKED_STATISTICS_H_
#define COOPER_EXECUTOR_KERNELS_NORM_BLOCKED_STATISTICS_H_

// Computes sums, means and variances of channels that are stored in blocks of B.
//
// blocked_batch_norm.cc and the convolutions that compute in the same layout use it. Functions run
// on the calling thread; callers split the blocks of channels among threads.

#include <cstdint>

#include "ndarray/base/shape.h"

namespace cooper {

// The extents of images (batch, blocks, size, B). This is oneDNN's layout nChwBc, in which the
// convolutions of the CPU store images: channel c is element c % B of block c / B.
struct BlockedExtents {
  // size is the number of pixels of an image: the product of the spatial extents.
  int64_t batch, blocks, size;

  // `shape` has the blocked axes, with B last and any number of spatial axes.
  explicit BlockedExtents(const Shape& shape)
      : batch(shape[0]), blocks(shape[1]), size(shape.Product(2, shape.rank() - 1)) {}

  // Returns the number of elements of a channel over the batch.
  int64_t per_channel() const { return batch * size; }
  // Calls fn(i) with the index of the first element of each vector of block k, in memory order.
  template <int B, typename Fn>
  void ForEach(int64_t k, Fn&& fn) const {
    for (int64_t n = 0; n < batch; ++n) {
      const int64_t begin = (n * blocks + k) * size * B;
      for (int64_t i = begin; i < begin + size * B; i += B) fn(i);
    }
  }
};

// One number for each channel of a block. The loops over its B elements vectorise. Starts with
// zeros.
template <int B>
struct ChannelLanes {
  float at[B] = {};

  float& operator[](int j) { return at[j]; }
  float operator[](int j) const { return at[j]; }
};

// Returns the sums of term(i, j) over all vectors i, for each channel j of block k. Several partial
// sums run in parallel, so that an addition does not wait for the previous one. Each image is
// summed on its own, because adding to a long sum loses digits of the next term. term(i, j)
// receives the index of the element and its channel within the block. The order depends on the
// extents alone.
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

// The mean and the variance of each channel of a block over the batch and the image. The variance
// is biased: it divides by the number of elements.
template <int B>
struct BlockMoments {
  // One number for each channel, in the order of the block.
  ChannelLanes<B> mean, var;
};

// Returns the moments of block k in two passes over data. `data` is the whole array. The second
// pass avoids the cancellation of E[x^2] - E[x]^2. Without elements both are NaN.
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
