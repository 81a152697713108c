#ifndef COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESSION_BITS_H_
#define COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESSION_BITS_H_

// Non-maximum suppression of many boxes on a GPU in two kernels. The first computes, for all pairs
// at once, a bit that says whether one box would suppress the other; a block handles 64 x 64 pairs.
// In the second one block per image goes over the boxes in order, 64 at a time, and reads the bits
// of the remaining ones. suppress_in_order.h needs no memory, but one block handles all pairs of an
// image. For .cu files: _contrib_box_nms uses it up to kMaxBoxes boxes and kMaxBytes bytes.

#include <algorithm>
#include <cstdint>

namespace cooper {

// A bit matrix per image: row i has the boxes after box i that it would suppress. Row i of image n
// is at At(n, i, 0) and has words() words; bit k of word w stands for box w * kTile + k. Passed to
// kernels by value; does not own the memory. Words left of the diagonal, and rows of boxes that do
// not exist, are not written and not read.
struct SuppressionBits {
  static constexpr int kTile = 64;             // boxes per tile, whose bits are one word
  static constexpr int64_t kMaxBoxes = 32768;  // limited by the shared memory of `removed`
  // The most memory of all matrices: 128 MB.
  static constexpr int64_t kMaxBytes = int64_t{1} << 27;
  // The block sizes of the kernels that call FindTile and Suppress.
  static constexpr int kFindThreads = kTile;
  static constexpr int kSuppressThreads = 1024;

  int64_t images;
  int64_t boxes;             // per image: the first ones in order
  uint64_t* bits = nullptr;  // Bytes() bytes of device memory

  // The words of a row, and the tiles of all images.
  __host__ __device__ int64_t words() const { return (boxes + kTile - 1) / kTile; }
  __host__ __device__ int64_t tiles() const { return images * words() * words(); }
  // Returns the size of the matrices; 0 if there are too many boxes or images for this method. Host
  // code.
  int64_t Bytes() const {
    if (boxes > kMaxBoxes) return 0;
    const int64_t of_image = boxes * words() * static_cast<int64_t>(sizeof(uint64_t));
    return of_image == 0 || images > kMaxBytes / of_image ? 0 : images * of_image;
  }

  // Returns the address of a word of the matrix of an image.
  __device__ uint64_t* At(int64_t image, int64_t box, int64_t word) const {
    return bits + (image * boxes + box) * words() + word;
  }

  // Computes tile `item` of tiles() in a block of kFindThreads threads, each of which computes one
  // word. is_left(image, i) says whether box i exists; existing boxes come first. suppresses(image,
  // i, j) says whether box i suppresses a later box j. Does not synchronise.
  template <typename IsLeft, typename Suppresses>
  __device__ void FindTile(int64_t item, IsLeft&& is_left, Suppresses&& suppresses) const {
    // Tile (row, column) has the pairs of 64 boxes with 64 later ones; those below the diagonal are
    // empty.
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

  // Calls remove(i) for each of the first `count` boxes of the image that a remaining box before it
  // suppresses. All threads of a block of kSuppressThreads call it. The tiles of the image have
  // been computed, and its first `count` boxes existed then. Uses about 4.5 KB of static shared
  // memory. Takes time proportional to the number of remaining boxes times words(). Synchronises
  // the block at the end.
  template <typename Remove>
  __device__ void Suppress(int64_t image, int64_t count, Remove&& remove) const {
    constexpr int kWarp = 32, kWarps = kSuppressThreads / kWarp;
    // A bit per box of the image, in words of 32 bits.
    __shared__ uint32_t removed[kMaxBoxes / kWarp];
    __shared__ uint64_t of_tile[kTile];  // pairs within the current tile
    __shared__ uint64_t left_of_tile;
    const int t = static_cast<int>(threadIdx.x), warp = t / kWarp, lane = t % kWarp;
    const int tiles = static_cast<int>((count + kTile - 1) / kTile);
    for (int w = t; w < 2 * tiles; w += kSuppressThreads) removed[w] = 0;
    for (int tile = 0; tile < tiles; ++tile) {
      const int64_t first = int64_t{tile} * kTile;
      if (t < kTile) of_tile[t] = first + t < count ? *At(image, first + t, tile) : 0;
      __syncthreads();
      if (t == 0) {
        // One thread resolves the tile in order: a box that is left removes the later ones of its
        // row.
        uint64_t gone = removed[2 * tile] | static_cast<uint64_t>(removed[2 * tile + 1]) << 32;
#pragma unroll 16
        for (int k = 0; k < kTile; ++k) gone |= (gone >> k & 1) != 0 ? 0 : of_tile[k];
        removed[2 * tile] = static_cast<uint32_t>(gone);
        removed[2 * tile + 1] = static_cast<uint32_t>(gone >> 32);
        left_of_tile = ~gone;
      }
      __syncthreads();
      const uint64_t left = left_of_tile;
      // The remaining boxes of the tile remove boxes of later tiles, one warp per row of the
      // matrix.
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
    __syncthreads();  // until all threads have read `removed`
  }
};

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_DETECTION_SUPPRESSION_BITS_H_
