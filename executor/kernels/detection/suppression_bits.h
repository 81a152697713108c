#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESSION_BITS_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESSION_BITS_H_

// Non-maximum suppression of many boxes on a GPU: whether a box would suppress another is found for
// all pairs at once, as bits, by blocks that have 64 x 64 pairs each; then one block for each image
// goes over its boxes in order, 64 at a time, and reads the bits of those that are left.
// suppress_in_order.h needs no memory, but has a whole image's pairs to one block. For .cu files.

#include <algorithm>
#include <cstdint>

namespace cooper {

// A matrix of bits for each image: of box i, those of the boxes behind it that it suppresses.
struct SuppressionBits {
  static constexpr int kTile = 64;              // boxes, whose bits are one word
  static constexpr int64_t kMostBoxes = 32768;  // what removed boxes are marked in is shared memory
  static constexpr int64_t kMostBytes = int64_t{1} << 27;
  static constexpr int kFindThreads = kTile;
  static constexpr int kSuppressThreads = 1024;

  int64_t images;
  int64_t boxes;  // of an image: the first ones, in order
  uint64_t* bits = nullptr;

  __host__ __device__ int64_t words() const { return (boxes + kTile - 1) / kTile; }
  __host__ __device__ int64_t tiles() const { return images * words() * words(); }
  // 0 for so many boxes that they are not worth it.
  int64_t Bytes() const {
    if (boxes > kMostBoxes) return 0;
    const int64_t of_image = boxes * words() * static_cast<int64_t>(sizeof(uint64_t));
    return of_image == 0 || images > kMostBytes / of_image ? 0 : images * of_image;
  }

  __device__ uint64_t* At(int64_t image, int64_t box, int64_t word) const {
    return bits + (image * boxes + box) * words() + word;
  }

  // A block of kFindThreads: tile `item` of tiles(). is_left(image, i) says whether there is a box
  // i: those that there are come first.
  template <typename IsLeft, typename Suppresses>
  __device__ void FindTile(int64_t item, IsLeft&& is_left, Suppresses&& suppresses) const {
    const int64_t row_of_tiles = item / words(), image = row_of_tiles / words();
    const int64_t row = row_of_tiles - image * words(), column = item - row_of_tiles * words();
    const int64_t i = row * kTile + threadIdx.x, first = column * kTile;
    if (column < row || !is_left(image, first) || i >= boxes || !is_left(image, i)) return;
    uint64_t word = 0;
    for (int k = 0; k < kTile; ++k) {
      const int64_t j = first + k;
      if (j >= boxes || !is_left(image, j)) break;
      if (j > i && suppresses(image, i, j)) word |= uint64_t{1} << k;
    }
    *At(image, i, column) = word;
  }

  // A block of kSuppressThreads, all of which call: each of the first `count` boxes of the image
  // that is left removes those that it suppresses.
  template <typename Remove>
  __device__ void Suppress(int64_t image, int64_t count, Remove&& remove) const {
    constexpr int kWarp = 32, kWarps = kSuppressThreads / kWarp;
    __shared__ uint32_t removed[kMostBoxes / kWarp];
    __shared__ uint64_t of_tile[kTile];  // what its boxes suppress of itself
    __shared__ uint64_t left_of_tile;
    const int t = static_cast<int>(threadIdx.x), warp = t / kWarp, lane = t % kWarp;
    const int tiles = static_cast<int>((count + kTile - 1) / kTile);
    for (int w = t; w < 2 * tiles; w += kSuppressThreads) removed[w] = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      const int64_t first = int64_t{tile} * kTile;
      if (t < kTile) of_tile[t] = first + t < count ? *At(image, first + t, tile) : 0;
      __syncthreads();
      if (t == 0) {
        uint64_t gone = removed[2 * tile] | static_cast<uint64_t>(removed[2 * tile + 1]) << 32;
#pragma unroll 16
        for (int k = 0; k < kTile; ++k) gone |= (gone >> k & 1) != 0 ? 0 : of_tile[k];
        removed[2 * tile] = static_cast<uint32_t>(gone);
        removed[2 * tile + 1] = static_cast<uint32_t>(gone >> 32);
        left_of_tile = ~gone;
      }
      __syncthreads();
      const uint64_t left = left_of_tile;
      for (int k = warp; k < kTile && first + k < count; k += kWarps) {
        if ((left >> k & 1) == 0) continue;
        const uint64_t* const row = At(image, first + k, 0);
        for (int w = tile + 1 + lane; w < tiles; w += kWarp) {
          const uint64_t word = row[w];
          if (word == 0) continue;
          atomicOr(&removed[2 * w], static_cast<uint32_t>(word));
          atomicOr(&removed[2 * w + 1], static_cast<uint32_t>(word >> 32));
        }
      }
      __syncthreads();
    }
    for (int64_t i = t; i < count; i += kSuppressThreads) {
      if ((removed[i / kWarp] >> (i % kWarp) & 1) != 0) remove(i);
    }
    __syncthreads();  // until they have been read
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESSION_BITS_H_
