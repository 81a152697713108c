#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/block_limit.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/words.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"

namespace cooper {
namespace {

using Level = StridedLoop::Level;

// The side of the square tiles in which a transposition reads and writes rows.
constexpr int kTile = 32;
constexpr int kTileRows = 8;  // rows of a tile that a block moves at once

// A loop in the form that kernels read. Index is int32_t if all indices and offsets stay below
// 2^31, because divisions and products of 64 bits are several times slower.
template <typename Index>
struct Walk {
  struct Axis {
    Index extent, src_stride, dst_stride;
  };
  Axis axes[StridedLoop::kMaxRank];
  int rank = 0;
  Index count = 1;

  void Add(const Level& level) {
    axes[rank++] = {static_cast<Index>(level.extent), static_cast<Index>(level.src_stride),
                    static_cast<Index>(level.dst_stride)};
    count *= static_cast<Index>(level.extent);
  }

  // Computes the offsets of iteration i.
  __device__ void At(Index i, Index* src, Index* dst) const {
    Index from = 0, to = 0;
    for (int k = rank - 1; k > 0; --k) {
      const Index rest = i / axes[k].extent;
      const Index at = i - rest * axes[k].extent;
      from += at * axes[k].src_stride;
      to += at * axes[k].dst_stride;
      i = rest;
    }
    if (rank > 0) {  // the outermost axis needs no division
      from += i * axes[0].src_stride;
      to += i * axes[0].dst_stride;
    }
    *src = from;
    *dst = to;
  }
};

template <typename Word, typename Index>
__global__ void CopyWords(const Walk<Index> walk, const Word* src, Word* dst) {
  const Index step = static_cast<Index>(ElementStep());
  for (Index i = static_cast<Index>(FirstElement()); i < walk.count; i += step) {
    Index from, to;
    walk.At(i, &from, &to);
    dst[to] = src[from];
  }
}

template <typename Word, typename Index>
__global__ void FillWords(const Walk<Index> walk, Word value, Word* dst) {
  const Index step = static_cast<Index>(ElementStep());
  for (Index i = static_cast<Index>(FirstElement()); i < walk.count; i += step) {
    Index from, to;
    walk.At(i, &from, &to);
    dst[to] = value;
  }
}

// Sums the elements of `summed` for each element of `kept`, with one thread per element of `kept`.
template <typename C, typename Index>
__global__ void SumElements(const Walk<Index> kept, const Walk<Index> summed, DType dtype,
                            const void* src, void* dst, bool add) {
  const Index step = static_cast<Index>(ElementStep());
  for (Index i = static_cast<Index>(FirstElement()); i < kept.count; i += step) {
    Index from, to;
    kept.At(i, &from, &to);
    C sum = add ? LoadElement<C>(dst, dtype, to) : C{0};
    for (Index j = 0; j < summed.count; ++j) {
      Index term, unused;
      summed.At(j, &term, &unused);
      sum += LoadElement<C>(src, dtype, from + term);
    }
    StoreElement(dst, dtype, to, sum, /*add=*/false);
  }
}

// Transposes tiles in shared memory, one per block at a time. The source is contiguous along
// `across`, the destination along `along`. Rows of the tile have one extra word so that columns
// have no bank conflicts.
template <typename Word, typename Index>
__global__ void TransposeTiles(const Walk<Index> others, typename Walk<Index>::Axis across,
                               typename Walk<Index>::Axis along, Index tiles_across,
                               Index tiles_along, const Word* src, Word* dst) {
  __shared__ Word tile[kTile][kTile + 1];
  const Index tiles = others.count * tiles_across * tiles_along;
  for (Index item = blockIdx.x; item < tiles; item += static_cast<Index>(gridDim.x)) {
    const Index rest = item / tiles_across;
    const Index first_across = (item - rest * tiles_across) * kTile;
    const Index other = rest / tiles_along;
    const Index first_along = (rest - other * tiles_along) * kTile;
    Index from, to;
    others.At(other, &from, &to);
    for (int y = threadIdx.y; y < kTile; y += kTileRows) {
      const Index i = first_across + static_cast<Index>(threadIdx.x), j = first_along + y;
      if (i < across.extent && j < along.extent) {
        tile[y][threadIdx.x] = src[from + i * across.src_stride + j * along.src_stride];
      }
    }
    __syncthreads();
    for (int y = threadIdx.y; y < kTile; y += kTileRows) {
      const Index i = first_across + y, j = first_along + static_cast<Index>(threadIdx.x);
      if (i < across.extent && j < along.extent) {
        dst[to + i * across.dst_stride + j * along.dst_stride] = tile[threadIdx.x][y];
      }
    }
    __syncthreads();
  }
}

absl::Status CheckDepth(const StridedLoop& loop) {
  if (!loop.too_deep()) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("a copy with more than ", StridedLoop::kMaxRank, " strides"));
}

// Returns whether all indices and offsets fit int32_t, with room for one step of the grid.
bool FitsInt32(const StridedLoop& loop) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max() - (int64_t{1} << 21);
  int64_t count = 1, src = 0, dst = 0;
  for (int i = 0; i < loop.rank(); ++i) {
    count *= loop[i].extent;
    src += (loop[i].extent - 1) * std::abs(loop[i].src_stride);
    dst += (loop[i].extent - 1) * std::abs(loop[i].dst_stride);
  }
  return std::max({count, src, dst}) <= kMax;
}

// Calls fn(Index{}) with the type in which to index `loop`, and returns its status.
template <typename Fn>
absl::Status DispatchIndex(const StridedLoop& loop, Fn&& fn) {
  return FitsInt32(loop) ? fn(int32_t{0}) : fn(int64_t{0});
}

template <typename Index>
Walk<Index> WalkOf(const StridedLoop& loop) {
  Walk<Index> walk;
  for (int i = 0; i < loop.rank(); ++i) walk.Add(loop[i]);
  return walk;
}

// Returns the loop over words instead of elements if its innermost axis is contiguous on both sides
// and everything else is aligned to words; otherwise returns `loop`.
StridedLoop InWords(const StridedLoop& loop, int64_t element_bytes, const void* src,
                    const void* dst, int64_t* word_bytes) {
  *word_bytes = element_bytes;
  if (loop.rank() == 0) return loop;
  const Level& inner = loop[loop.rank() - 1];
  if (inner.src_stride != 1 || inner.dst_stride != 1) return loop;
  int64_t bits = inner.extent * element_bytes;
  for (int i = 0; i + 1 < loop.rank(); ++i) {
    bits |= (loop[i].src_stride | loop[i].dst_stride) * element_bytes;
  }
  *word_bytes = WordBytes(element_bytes, {src, dst}, {bits});
  const int64_t elements = *word_bytes / element_bytes;
  StridedLoop words;
  for (int i = 0; i + 1 < loop.rank(); ++i) {
    words.Add(loop[i].extent, loop[i].src_stride / elements, loop[i].dst_stride / elements);
  }
  words.Add(inner.extent / elements, 1, 1);
  return words;
}

// Returns the axis along which the source is contiguous, if the destination is contiguous along the
// innermost axis and both are long enough for tiles; otherwise -1.
int AxisAcross(const StridedLoop& loop) {
  constexpr int64_t kMin = kTile / 2;
  if (loop.rank() < 2) return -1;
  const Level& inner = loop[loop.rank() - 1];
  if (inner.dst_stride != 1 || inner.src_stride == 1 || inner.extent < kMin) return -1;
  for (int i = 0; i + 1 < loop.rank(); ++i) {
    if (loop[i].src_stride == 1 && loop[i].extent >= kMin) return i;
  }
  return -1;
}

template <typename Word, typename Index>
absl::Status Transpose(const KernelContext& c, const StridedLoop& loop, int across, const void* src,
                       void* dst) {
  constexpr int64_t kMaxBlocks = 65536;
  Walk<Index> others, both;
  for (int i = 0; i + 1 < loop.rank(); ++i) {
    if (i != across) others.Add(loop[i]);
  }
  both.Add(loop[across]);
  both.Add(loop[loop.rank() - 1]);
  const Index tiles_across = (both.axes[0].extent + kTile - 1) / kTile;
  const Index tiles_along = (both.axes[1].extent + kTile - 1) / kTile;
  const int64_t tiles = static_cast<int64_t>(others.count) * tiles_across * tiles_along;
  return Launch(c, dim3(BlocksFor(tiles, kMaxBlocks)), dim3(kTile, kTileRows),
                TransposeTiles<Word, Index>, others, both.axes[0], both.axes[1], tiles_across,
                tiles_along, static_cast<const Word*>(src), static_cast<Word*>(dst));
}

absl::Status CopyPlain(const KernelContext& c, const StridedLoop& loop, int64_t element_bytes,
                       const void* src, void* dst) {
  const int across = AxisAcross(loop);
  int64_t word_bytes;
  const StridedLoop words = InWords(loop, element_bytes, src, dst, &word_bytes);
  return DispatchWord(word_bytes, [&](auto word) {
    using Word = decltype(word);
    return DispatchIndex(words, [&](auto index) {
      using Index = decltype(index);
      if constexpr (sizeof(Word) <= sizeof(uint64_t)) {
        if (across >= 0) return Transpose<Word, Index>(c, words, across, src, dst);
      }
      const Walk<Index> walk = WalkOf<Index>(words);
      return LaunchElements(c, walk.count, CopyWords<Word, Index>, walk,
                            static_cast<const Word*>(src), static_cast<Word*>(dst));
    });
  });
}

absl::Status SumInto(const KernelContext& c, const StridedLoop& loop, DType dtype, WriteReq req,
                     const void* src, void* dst) {
  return DispatchCompute(dtype, /*exact_integers=*/true, [&](auto zero) {
    using C = decltype(zero);
    return DispatchIndex(loop, [&](auto index) {
      using Index = decltype(index);
      Walk<Index> kept, summed;
      for (int i = 0; i < loop.rank(); ++i) {
        (loop[i].dst_stride == 0 ? summed : kept).Add(loop[i]);
      }
      return LaunchElements(c, kept.count, SumElements<C, Index>, kept, summed, dtype, src, dst,
                            req == WriteReq::kAdd);
    });
  });
}

}  // namespace

absl::Status CudaMover::Copy(const KernelContext& c, const StridedLoop& loop, DType dtype,
                             WriteReq req, const void* src, void* dst) {
  if (req == WriteReq::kNull || loop.empty()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckDepth(loop));
  if (req == WriteReq::kAdd) return SumInto(c, loop, dtype, req, src, dst);
  return CopyPlain(c, loop, SizeOf(dtype), src, dst);
}

absl::Status CudaMover::CopyAll(const KernelContext& c, const ArrayView& src, WriteReq req,
                                const ArrayView& dst) {
  if (req == WriteReq::kNull || (req == WriteReq::kWrite && src.data == dst.data)) {
    return absl::OkStatus();
  }
  StridedLoop loop;
  loop.Add(dst.size(), 1, 1);
  return Copy(c, loop, dst.dtype, req, src.data, dst.data);
}

absl::Status CudaMover::Sum(const KernelContext& c, const StridedLoop& loop, WriteReq req,
                            const void* src, const ArrayView& dst) {
  if (req == WriteReq::kNull) return absl::OkStatus();
  if (loop.empty()) return Zero(c, req, dst);
  COOPER_RETURN_IF_ERROR(CheckDepth(loop));
  return SumInto(c, loop, dst.dtype, req, src, dst.data);
}

absl::Status CudaMover::Fill(const KernelContext& c, const StridedLoop& loop, double value,
                             const ArrayView& whole, int64_t begin) {
  if (loop.empty()) return absl::OkStatus();
  COOPER_RETURN_IF_ERROR(CheckDepth(loop));
  return DispatchWord(SizeOf(whole.dtype), [&](auto word) {
    using Word = decltype(word);
    return DispatchIndex(loop, [&](auto index) {
      using Index = decltype(index);
      const Walk<Index> walk = WalkOf<Index>(loop);
      return LaunchElements(c, walk.count, FillWords<Word, Index>, walk,
                            WordOf<Word>(value, whole.dtype), whole.as<Word>() + begin);
    });
  });
}

absl::Status CudaMover::Zero(const KernelContext& c, WriteReq req, const ArrayView& dst) {
  if (req != WriteReq::kWrite || dst.size() == 0) return absl::OkStatus();
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return CudaStatus(
      cudaMemsetAsync(dst.data, 0, static_cast<size_t>(dst.size_bytes()), StreamOf(c)),
      "cudaMemsetAsync");
}

}  // namespace cooper
