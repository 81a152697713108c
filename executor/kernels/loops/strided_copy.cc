#include "executor/kernels/loops/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/kernels/loops/elemwise_loop.h"
#include "executor/kernels/loops/transpose_tile.h"
#include "executor/kernels/loops/wrapping.h"
#include "ndarray/threads/cpu_level.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

using Level = StridedLoop::Level;

// The least number of elements of a thread; with fewer, starting it takes longer than it saves.
constexpr int64_t kGrain = 32768;
// The elements that a thread copies at a time, unless it transposes.
constexpr int64_t kItem = kGrain / 4;
// The side of the square tiles of a transposition: source and destination of one fit in the
// first-level cache.
constexpr int64_t kTile = 16;

// Computes one row: d[i * ds] = or += s[i * ss].
template <typename T, bool kAdd>
void Row(int64_t n, const T* s, int64_t ss, T* d, int64_t ds) {
  if constexpr (kAdd) {
    using C = ComputeType<T>;
    for (int64_t i = 0; i < n; ++i) {
      d[i * ds] = ConvertElement<T>(WrapAdd(static_cast<C>(d[i * ds]), static_cast<C>(s[i * ss])));
    }
  } else if (ss == 1 && ds == 1) {
    if (n * sizeof(T) >= 64) {
      std::memcpy(d, s, n * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) d[i] = s[i];
    }
  } else if (ss == 0 && ds == 1) {
    std::fill_n(d, n, *s);
  } else if (ss == -1 && ds == 1) {  // compilers vectorise a constant stride
    for (int64_t i = 0; i < n; ++i) d[i] = s[-i];
  } else {
    for (int64_t i = 0; i < n; ++i) d[i * ds] = s[i * ss];
  }
}

// The constant strides let the compiler vectorise contiguous rows with kAdd.
template <typename T, bool kAdd>
void AnyRow(int64_t n, const T* s, int64_t ss, T* d, int64_t ds) {
  if (kAdd && ss == 1 && ds == 1) {
    Row<T, kAdd>(n, s, 1, d, 1);
  } else {
    Row<T, kAdd>(n, s, ss, d, ds);
  }
}

// Transposes a tile of kTile x kTile elements in registers. `level` is at least kAvx2.
inline void CopyTile(CpuLevel level, const uint32_t* s, int64_t ss, uint32_t* d, int64_t ds) {
  if (level >= CpuLevel::kAvx512) return TransposeTile<RowOf16>(s, ss, d, ds);
  for (int64_t j = 0; j < kTile; j += 8) {
    for (int64_t i = 0; i < kTile; i += 8) {
      TransposeTile<RowOf8>(s + j * ss + i, ss, d + i * ds + j, ds);
    }
  }
}

// Runs the two inner loops. `tiled` splits the inner one so that adjacent rows use the cache lines
// that one of them has read.
template <typename T, bool kAdd>
void Rows(const Level& rows, int64_t begin, int64_t end, const Level& row, bool tiled, const T* s,
          T* d) {
  const int64_t step = tiled ? kTile : row.extent;
  const CpuLevel level = GetCpuLevel();
  // Whether to transpose whole tiles in registers.
  const bool in_registers = std::is_same_v<T, uint32_t> && !kAdd && tiled && rows.src_stride == 1 &&
                            row.dst_stride == 1 && end - begin == kTile && level >= CpuLevel::kAvx2;
  for (int64_t j = 0; j < row.extent; j += step) {
    const int64_t n = std::min(step, row.extent - j);
    if constexpr (std::is_same_v<T, uint32_t>) {
      if (in_registers && n == kTile) {
        CopyTile(level, s + begin + j * row.src_stride, row.src_stride,
                 d + begin * rows.dst_stride + j, rows.dst_stride);
        continue;
      }
    }
    for (int64_t i = begin; i < end; ++i) {
      AnyRow<T, kAdd>(n, s + i * rows.src_stride + j * row.src_stride, row.src_stride,
                      d + i * rows.dst_stride + j * row.dst_stride, row.dst_stride);
    }
  }
}

// Runs two loops that interleave kCount arrays, take them apart again or move groups of kCount
// elements, and returns whether they do: `few` has kCount iterations, over adjacent elements of one
// side, between which are those of `many` on the other side, or of both sides. Copies between
// channels first and last are of this kind, as are depth_to_space, its inverse and flips of images.
// kCount is a constant, so that compilers shuffle vectors.
template <int kCount, typename T>
bool Interleave(const Level& many, int64_t begin, int64_t end, const Level& few, const T* s, T* d) {
  if (few.extent != kCount) return false;
  if (many.src_stride == 1 && many.dst_stride == kCount && few.dst_stride == 1) {
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = begin; i < end; ++i) {
      for (int k = 0; k < kCount; ++k) d[i * kCount + k] = s[i + k * few.src_stride];
    }
    return true;
  }
  if (many.dst_stride == 1 && many.src_stride == kCount && few.src_stride == 1) {
    COOPER_INDEPENDENT_ITERATIONS
    for (int64_t i = begin; i < end; ++i) {
      for (int k = 0; k < kCount; ++k) d[i + k * few.dst_stride] = s[i * kCount + k];
    }
    return true;
  }
  if (few.src_stride == 1 && few.dst_stride == 1) {
    for (int64_t i = begin; i < end; ++i) {
      std::memcpy(d + i * many.dst_stride, s + i * many.src_stride, kCount * sizeof(T));
    }
    return true;
  }
  return false;
}

// Calls Interleave for the counts that it is compiled for: 2, 3 and 4.
template <typename T>
bool InterleaveFew(const Level& many, int64_t begin, int64_t end, const Level& few, const T* s,
                   T* d) {
  return Interleave<2>(many, begin, end, few, s, d) || Interleave<3>(many, begin, end, few, s, d) ||
         Interleave<4>(many, begin, end, few, s, d);
}

// Returns the loop along which the source is contiguous, which together with the innermost one
// makes a transposition; -1 if that is the innermost loop or none.
int TransposedLevel(const StridedLoop& loop) {
  if (loop[loop.rank() - 1].src_stride == 1) return -1;
  for (int i = 0; i + 1 < loop.rank(); ++i) {
    if (loop[i].src_stride == 1) return i;
  }
  return -1;
}

bool Sums(const StridedLoop& loop) {
  for (int i = 0; i < loop.rank(); ++i) {
    if (loop[i].dst_stride == 0) return true;
  }
  return false;
}

// Walks over the loops outside of the two inner ones.
class OuterWalk {
 public:
  // Starts at a position in the order of the loops other than the innermost and loop `skipped`.
  OuterWalk(const StridedLoop& loop, int skipped, int64_t position) {
    for (int i = 0; i + 1 < loop.rank(); ++i) {
      if (i != skipped) levels_[count_++] = loop[i];
    }
    for (int i = count_ - 1; i >= 0; --i) {
      index_[i] = position % levels_[i].extent;
      position /= levels_[i].extent;
      src_ += index_[i] * levels_[i].src_stride;
      dst_ += index_[i] * levels_[i].dst_stride;
    }
  }

  // Advances by one position.
  void Next() {
    for (int i = count_ - 1; i >= 0; --i) {
      const Level& level = levels_[i];
      src_ += level.src_stride;
      dst_ += level.dst_stride;
      if (++index_[i] < level.extent) return;
      src_ -= level.extent * level.src_stride;
      dst_ -= level.extent * level.dst_stride;
      index_[i] = 0;
    }
  }

  int64_t src() const { return src_; }
  int64_t dst() const { return dst_; }

 private:
  Level levels_[StridedLoop::kMaxRank];
  int64_t index_[StridedLoop::kMaxRank];
  int count_ = 0;
  int64_t src_ = 0, dst_ = 0;
};

template <typename T, bool kAdd>
void Run(const StridedLoop& loop, const T* src, T* dst) {
  const int rank = loop.rank();
  if (rank == 0) return Row<T, kAdd>(1, src, 1, dst, 1);
  Level row = loop[rank - 1];
  const bool serial = Sums(loop);
  if (rank == 1) {
    auto part = [&](int64_t begin, int64_t end) {
      AnyRow<T, kAdd>(end - begin, src + begin * row.src_stride, row.src_stride,
                      dst + begin * row.dst_stride, row.dst_stride);
    };
    return serial ? part(0, row.extent) : ParallelFor(row.extent, kGrain, part);
  }
  // Sums are added in the order of the loop, so no level of them is transposed.
  const int transposed = serial ? -1 : TransposedLevel(loop);
  const int rows_at = transposed >= 0 ? transposed : rank - 2;
  Level rows = loop[rows_at];
  bool few = false;  // whether the two inner loops interleave
  if constexpr (!kAdd) {
    few = InterleaveFew(rows, 0, 0, row, src, dst);
    if (!few && InterleaveFew(row, 0, 0, rows, src, dst)) {
      std::swap(rows, row);
      few = true;
    }
  }
  // An item is a tile of a transposition, or about kItem elements of adjacent rows.
  const bool tiled = transposed >= 0 && !few;
  const int64_t height = tiled ? kTile : std::max<int64_t>(1, kItem / row.extent);
  const int64_t width = tiled || serial ? row.extent : std::min(row.extent, kItem);
  const int64_t down = (rows.extent + height - 1) / height;
  const int64_t across = (row.extent + width - 1) / width;
  int64_t items = down * across;
  for (int i = 0; i < rank - 1; ++i) {
    if (i != rows_at) items *= loop[i].extent;
  }
  const int64_t item_size = std::min(height, rows.extent) * width;
  const auto for_each_item = [&](const auto& copy) {
    const auto part = [&](int64_t begin, int64_t end) {
      OuterWalk walk(loop, rows_at, begin / (down * across));
      int64_t y = begin / across % down, x = begin % across;
      for (int64_t item = begin; item < end; ++item) {
        const int64_t first = y * height, at = x * width;
        const Level columns = {std::min(width, row.extent - at), row.src_stride, row.dst_stride};
        copy(first, std::min(first + height, rows.extent), columns,
             src + walk.src() + at * row.src_stride, dst + walk.dst() + at * row.dst_stride);
        if (++x < across) continue;
        x = 0;
        if (++y < down) continue;
        y = 0;
        walk.Next();
      }
    };
    if (serial) return part(0, items);
    ParallelFor(items, std::max<int64_t>(1, kGrain / item_size), part);
  };
  // Two loops, because one of both kinds would be compiled into slower code.
  if constexpr (!kAdd) {
    if (few) {
      return for_each_item([&](int64_t first, int64_t last, const Level& columns, const T* s,
                               T* d) { InterleaveFew(rows, first, last, columns, s, d); });
    }
  }
  for_each_item([&](int64_t first, int64_t last, const Level& columns, const T* s, T* d) {
    Rows<T, kAdd>(rows, first, last, columns, tiled, s, d);
  });
}

template <typename T>
void Move(const StridedLoop& loop, const void* src, void* dst) {
  Run<T, false>(loop, static_cast<const T*>(src), static_cast<T*>(dst));
}

}  // namespace

absl::Status StridedCopy(const StridedLoop& loop, DType dtype, WriteReq req, const void* src,
                         void* dst) {
  if (req == WriteReq::kNull || loop.empty()) return absl::OkStatus();
  if (loop.too_deep()) {
    return absl::UnimplementedError(
        absl::StrCat("a copy with more than ", StridedLoop::kMaxRank, " strides"));
  }
  if (req == WriteReq::kAdd) {
    DispatchDType(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      Run<T, true>(loop, static_cast<const T*>(src), static_cast<T*>(dst));
    });
    return absl::OkStatus();
  }
  switch (SizeOf(dtype)) {  // copies bits, without arithmetic
    case 1:
      Move<uint8_t>(loop, src, dst);
      break;
    case 2:
      Move<uint16_t>(loop, src, dst);
      break;
    case 4:
      Move<uint32_t>(loop, src, dst);
      break;
    default:
      Move<uint64_t>(loop, src, dst);
      break;
  }
  return absl::OkStatus();
}

absl::Status CopyElements(const ArrayView& src, WriteReq req, const ArrayView& dst) {
  if (req == WriteReq::kNull || (req == WriteReq::kWrite && src.data == dst.data)) {
    return absl::OkStatus();
  }
  StridedLoop loop;
  loop.Add(dst.size(), 1, 1);
  return StridedCopy(loop, dst.dtype, req, src.data, dst.data);
}

void ZeroIfWrite(WriteReq req, const ArrayView& dst) {
  if (req == WriteReq::kWrite && dst.size() > 0) std::memset(dst.data, 0, dst.size_bytes());
}

absl::Status CpuMover::Fill(const KernelContext&, const StridedLoop& loop, double value,
                            const ArrayView& whole, int64_t begin) {
  if (loop.empty()) return absl::OkStatus();
  return DispatchDType(whole.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T element = ConvertElement<T>(value);
    return StridedCopy(loop, whole.dtype, WriteReq::kWrite, &element, ElementAt(whole, begin));
  });
}

}  // namespace cooper
