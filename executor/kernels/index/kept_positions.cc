#include "executor/kernels/index/kept_positions.h"

#include <algorithm>
#include <array>

#include "absl/container/inlined_vector.h"
#include "executor/kernels/loops/row_parts.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

template <typename T>
bool IsNonzero(T x) {
  return ConvertElement<ComputeType<T>>(x) != 0;
}

// Parts of an array of `size` elements, each of which one thread counts and then writes.
class Parts {
 public:
  static constexpr int64_t kMaxParts = 64;
  // The fewest elements in a part, except for small arrays.
  static constexpr int64_t kMinElements = 16384;

  explicit Parts(int64_t size)
      : size_(size), count_(std::clamp<int64_t>(size / kMinElements, 1, kMaxParts)) {}

  // Calls fn(part, begin, end) for each part, on several threads.
  template <typename Fn>
  void ForEach(const Fn& fn) const {
    ParallelFor(count_, /*grain=*/1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        fn(part, size_ * part / count_, size_ * (part + 1) / count_);
      }
    });
  }

  // Counts the nonzero elements of `x` and returns their number. Sets offset(part) to the number of
  // nonzero elements in earlier parts.
  template <typename T>
  int64_t CountNonzero(const T* x) {
    ForEach([&](int64_t part, int64_t begin, int64_t end) {
      int64_t count = 0;
      for (int64_t i = begin; i < end; ++i) count += IsNonzero(x[i]) ? 1 : 0;
      offsets_[part] = count;
    });
    int64_t total = 0;
    for (int64_t part = 0; part < count_; ++part) {
      const int64_t count = offsets_[part];
      offsets_[part] = total;
      total += count;
    }
    return total;
  }
  int64_t offset(int64_t part) const { return offsets_[part]; }

 private:
  const int64_t size_, count_;
  std::array<int64_t, kMaxParts> offsets_ = {};
};

// Writes the indices of the nonzero elements in [begin, end) of x, in rows of `shape`.rank().
template <bool kAdd, typename T>
void WriteIndices(const T* x, const Shape& shape, int64_t begin, int64_t end, int64_t* out) {
  const int leading = std::max(shape.rank(), 1) - 1;  // axes before the last one
  const int64_t row_size = shape.rank() == 0 ? 1 : shape[leading];
  absl::InlinedVector<int64_t, 8> at(leading);
  ForEachRowPart(begin, end, row_size, [&](int64_t row, int64_t first, int64_t last) {
    const T* const from = x + row * row_size;
    for (int axis = leading - 1; axis >= 0; --axis) {
      at[axis] = row % shape[axis];
      row /= shape[axis];
    }
    for (int64_t i = first; i < last; ++i) {
      if (!IsNonzero(from[i])) continue;
      for (int axis = 0; axis < leading; ++axis, ++out) *out = at[axis] + (kAdd ? *out : 0);
      *out = i + (kAdd ? *out : 0);
      ++out;
    }
  });
}

}  // namespace

ArrayView FindNonzero(const ArrayView& mask, void* workspace) {
  Parts parts(mask.size());
  int64_t count = 0;
  DispatchDType(mask.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const flags = mask.as<T>();
    count = parts.CountNonzero(flags);
    parts.ForEach([&](int64_t part, int64_t begin, int64_t end) {
      int64_t* to = static_cast<int64_t*>(workspace) + parts.offset(part);
      for (int64_t i = begin; i < end; ++i) {
        if (IsNonzero(flags[i])) *to++ = i;
      }
    });
  });
  return PositionsView(workspace, count);
}

int64_t WriteNonzeroIndices(const ArrayView& x, WriteReq req, int64_t* out) {
  Parts parts(x.size());
  const int rank = std::max(x.shape.rank(), 1);
  int64_t count = 0;
  DispatchDType(x.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* const from = x.as<T>();
    count = parts.CountNonzero(from);
    if (req == WriteReq::kNull) return;
    parts.ForEach([&](int64_t part, int64_t begin, int64_t end) {
      int64_t* const to = out + parts.offset(part) * rank;
      if (req == WriteReq::kAdd) {
        WriteIndices<true>(from, x.shape, begin, end, to);
      } else {
        WriteIndices<false>(from, x.shape, begin, end, to);
      }
    });
  });
  return count;
}

}  // namespace cooper
