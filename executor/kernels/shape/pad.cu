// GPU kernels of Pad and its gradient.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "executor/kernels/launch/words.h"
#include "executor/kernels/loops/move_rows.h"
#include "executor/kernels/loops/strided_copy_cuda.h"
#include "executor/kernels/shape/pad_copies.h"
#include "executor/program/kernel.h"
#include "symbol/ops/shape/pad_param.h"

namespace cooper {
namespace {

constexpr int kMaxRank = 16;

// The axes of Pad. Neighbouring axes without padding are merged, which saves divisions.
struct PadAxes {
  int rank = 0;
  PadParam::Mode mode;
  int64_t before[kMaxRank], data[kMaxRank], padded[kMaxRank];

  PadAxes(const PadParam& param, const Shape& data_shape, const Shape& padded_shape)
      : mode(param.mode) {
    bool merges = false;
    for (int i = 0; i < data_shape.rank(); ++i) {
      const bool is_whole = param.pad_width[2 * i] == 0 && param.pad_width[2 * i + 1] == 0;
      if (is_whole && merges) {
        data[rank - 1] *= data_shape[i];
        padded[rank - 1] *= data_shape[i];
        continue;
      }
      before[rank] = param.pad_width[2 * i];
      data[rank] = data_shape[i];
      padded[rank] = padded_shape[i];
      merges = is_whole;
      ++rank;
    }
  }
};

// The axes of arrays whose elements int32_t can number. Missing axes have extent 1 and come first.
template <int kRank>
struct FewAxes {
  PadParam::Mode mode;
  int32_t before[kRank], data[kRank], padded[kRank];

  explicit FewAxes(const PadAxes& axes) : mode(axes.mode) {
    const int missing = kRank - axes.rank;
    for (int i = 0; i < kRank; ++i) {
      const bool exists = i >= missing;
      before[i] = exists ? static_cast<int32_t>(axes.before[i - missing]) : 0;
      data[i] = exists ? static_cast<int32_t>(axes.data[i - missing]) : 1;
      padded[i] = exists ? static_cast<int32_t>(axes.padded[i - missing]) : 1;
    }
  }

  // Computes the coordinates of element i of an array with these extents.
  __device__ static void Locate(int64_t i, const int32_t (&extents)[kRank], int32_t (&at)[kRank]) {
    uint32_t rest = static_cast<uint32_t>(i);
#pragma unroll
    for (int axis = kRank - 1; axis > 0; --axis) {
      const uint32_t above = rest / static_cast<uint32_t>(extents[axis]);
      at[axis] = static_cast<int32_t>(rest - above * extents[axis]);
      rest = above;
    }
    at[0] = static_cast<int32_t>(rest);
  }
};

// Returns fn(FewAxes), a status, or other() if there are too many axes or elements.
template <typename Fn, typename Other>
absl::Status DispatchFewAxes(const PadAxes& axes, int64_t padded_size, Fn&& fn, Other&& other) {
  if (padded_size > INT32_MAX || axes.rank > 4) return other();
  if (axes.rank <= 3) return fn(FewAxes<3>(axes));
  return fn(FewAxes<4>(axes));
}

// Copies data to the padded array, with the result of MoveRows with Padded.
template <typename Word, int kRank>
__global__ void PadWords(int64_t size, const FewAxes<kRank> axes, const Word* src, Word fill,
                         Word* dst) {
  const auto load = [&](int64_t i) {
    int32_t at[kRank], from = 0;
    FewAxes<kRank>::Locate(i, axes.padded, at);
    bool inside = true;
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      const int64_t source =
          PadParam::SourceOf(axes.mode, at[axis] - axes.before[axis], axes.data[axis]);
      inside = inside && source >= 0;
      from = from * axes.data[axis] + static_cast<int32_t>(source);
    }
    return inside ? src[from] : fill;
  };
  ForEachLoaded(size, load, [&](int64_t i, Word word) { dst[i] = word; });
}

// Maps element i of the padded array to its element of data, or to constant_value.
struct Padded : PadAxes {
  __device__ RowMove operator()(int64_t i) const {
    int64_t rest = i, from = 0, stride = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      const int64_t above = rest / padded[axis];
      const int64_t at = rest - above * padded[axis] - before[axis];
      const int64_t source = PadParam::SourceOf(mode, at, data[axis]);
      if (source < 0) return {-1, i};
      from += source * stride;
      stride *= data[axis];
      rest = above;
    }
    return {from, i};
  }
};

__device__ PadCopies CopiesOf(const PadAxes& axes, int axis, int64_t i) {
  return PadCopies(axes.mode, axes.before[axis], axes.data[axis], axes.padded[axis], i);
}

// Sums the copies of an element in one thread, in the order of the padded array.
template <typename C>
__global__ void SumCopies(int64_t size, const PadAxes axes, DType dtype, const void* ograd,
                          void* grad, bool add) {
  for (int64_t i = FirstElement(); i < size; i += ElementStep()) {
    int64_t rest = i, total = 1;
    for (int axis = axes.rank - 1; axis >= 0; --axis) {
      total *= CopiesOf(axes, axis, rest % axes.data[axis]).count;
      rest /= axes.data[axis];
    }
    C sum = add ? LoadElement<C>(grad, dtype, i) : C{0};
    for (int64_t term = 0; term < total; ++term) {
      int64_t number = term, at = 0, stride = 1;
      rest = i;
      for (int axis = axes.rank - 1; axis >= 0; --axis) {
        const PadCopies copies = CopiesOf(axes, axis, rest % axes.data[axis]);
        at += copies[number % copies.count] * stride;
        number /= copies.count;
        stride *= axes.padded[axis];
        rest /= axes.data[axis];
      }
      sum += LoadElement<C>(ograd, dtype, at);
    }
    StoreElement(grad, dtype, i, sum, /*add=*/false);
  }
}

// Copies of one position for few axes, in registers. In a run the k-th of `count` copies is `begin`
// + k; otherwise the inner copy is among up to two mirrored ones, in order.
struct FewCopies {
  int32_t begin, inner, behind, count;
  bool run, mirrored_before;

  template <int kRank>
  __device__ FewCopies(const FewAxes<kRank>& axes, int axis, int32_t d) {
    const int32_t before = axes.before[axis], n = axes.data[axis], padded = axes.padded[axis];
    inner = before + d;
    run = axes.mode == PadParam::kEdge;
    if (run) {
      begin = d == 0 ? 0 : inner;
      count = (d == n - 1 ? padded : inner + 1) - begin;
      return;
    }
    const bool mirrors = axes.mode == PadParam::kReflect || axes.mode == PadParam::kSymmetric;
    const int32_t repeats_end = axes.mode == PadParam::kSymmetric ? 1 : 0;
    begin = before - repeats_end - d;
    mirrored_before = mirrors && d + repeats_end > 0 && begin >= 0;
    // Counts from the last element, because before + 2 * (n - 1) might exceed 32 bits.
    const int32_t last = before + n - 1, from_last = n - 1 - d + repeats_end;
    const bool mirrored_behind = mirrors && from_last > 0 && from_last < padded - last;
    behind = mirrored_behind ? last + from_last : 0;
    count = 1 + mirrored_before + mirrored_behind;
  }

  __device__ int32_t operator[](int32_t k) const {
    if (run) return begin + k;
    if (mirrored_before) return k == 0 ? begin : k == 1 ? inner : behind;
    return k == 0 ? inner : behind;
  }
};

// Loads element i. With kSame the dtype is C, which saves a switch for each element.
template <typename C, bool kSame>
__device__ C LoadAs(const void* data, DType dtype, int64_t i) {
  if constexpr (kSame) return static_cast<const C*>(data)[i];
  return LoadElement<C>(data, dtype, i);
}

// Adds all copies of the element at `at` except the first one, along the axes from kAxis on.
// `above` is the position along the axes before kAxis, and `first` says whether each of them has
// its first copy.
template <int kAxis, typename C, bool kSame, int kRank>
__device__ void AddOtherCopies(const FewAxes<kRank>& axes, const int32_t (&at)[kRank],
                               int32_t above, bool first, DType dtype, const void* ograd, C* sum) {
  const FewCopies copies(axes, kAxis, at[kAxis]);
#pragma unroll 1
  for (int32_t k = 0; k < copies.count; ++k) {
    const int32_t place = above * axes.padded[kAxis] + copies[k];
    if constexpr (kAxis + 1 < kRank) {
      AddOtherCopies<kAxis + 1, C, kSame>(axes, at, place, first && k == 0, dtype, ograd, sum);
    } else if (!first || k > 0) {
      *sum += LoadAs<C, kSame>(ograd, dtype, place);
    }
  }
}

// Sums copies as SumCopies does. Most elements have one copy: the first copies of several elements
// are loaded at once.
template <typename C, bool kSame, int kRank>
__global__ void SumFewCopies(int64_t size, const FewAxes<kRank> axes, DType dtype,
                             const void* ograd, void* grad, bool add) {
  struct First {
    C value;
    bool is_all;
  };
  const auto load = [&](int64_t i) {
    int32_t at[kRank], place = 0;
    FewAxes<kRank>::Locate(i, axes.data, at);
    First first = {.is_all = true};
#pragma unroll
    for (int axis = 0; axis < kRank; ++axis) {
      const FewCopies copies(axes, axis, at[axis]);
      place = place * axes.padded[axis] + copies[0];
      first.is_all = first.is_all && copies.count == 1;
    }
    first.value = LoadAs<C, kSame>(ograd, dtype, place);
    return first;
  };
  ForEachLoaded(size, load, [&](int64_t i, const First& first) {
    C sum = (add ? LoadAs<C, kSame>(grad, dtype, i) : C{0}) + first.value;
    if (!first.is_all) {
      int32_t at[kRank];
      FewAxes<kRank>::Locate(i, axes.data, at);
      AddOtherCopies<0, C, kSame>(axes, at, 0, true, dtype, ograd, &sum);
    }
    if constexpr (kSame) {
      static_cast<C*>(grad)[i] = sum;
    } else {
      StoreElement(grad, dtype, i, sum, /*add=*/false);
    }
  });
}

absl::StatusOr<Prepared> PreparePad(const PrepareContext& c) {
  const int rank = c.outputs[0].shape.rank();
  if (rank <= kMaxRank) return Prepared{};
  return absl::UnimplementedError(absl::StrCat(rank, " axes, at most ", kMaxRank));
}

absl::Status PadGpu(const KernelContext& c) {
  const ArrayView& out = c.outputs[0];
  if (out.size() == 0) return absl::OkStatus();
  if (out.shape.rank() == 0) return CudaMover::CopyAll(c, c.inputs[0], c.reqs[0], out);
  const auto& param = c.param<PadParam>();
  const PadAxes axes(param, c.inputs[0].shape, out.shape);
  const auto move = [&] {
    return MoveRows(c, out.size(), 1, Padded{axes}, out.dtype, c.reqs[0], c.inputs[0].data,
                    out.data, param.constant_value);
  };
  if (c.reqs[0] == WriteReq::kNull || c.reqs[0] == WriteReq::kAdd) return move();
  const auto pad = [&](const auto& few) {
    return DispatchWord(SizeOf(out.dtype), [&](auto zero) {
      using Word = decltype(zero);
      return LaunchElements(c, out.size(), PadWords<Word, sizeof(few.data) / sizeof(*few.data)>,
                            out.size(), few, static_cast<const Word*>(c.inputs[0].data),
                            WordOf<Word>(param.constant_value, out.dtype),
                            static_cast<Word*>(out.data));
    });
  };
  return DispatchFewAxes(axes, out.size(), pad, move);
}

absl::Status PadBackwardGpu(const KernelContext& c) {
  const ArrayView& grad = c.outputs[0];
  if (c.reqs[0] == WriteReq::kNull || grad.size() == 0) return absl::OkStatus();
  if (grad.shape.rank() == 0) return CudaMover::CopyAll(c, c.inputs[0], c.reqs[0], grad);
  const PadAxes axes(c.param<PadParam>(), grad.shape, c.inputs[0].shape);
  const void* ograd = c.inputs[0].data;
  const bool add = c.reqs[0] == WriteReq::kAdd;
  return DispatchCompute(grad.dtype, /*exact_integers=*/true, [&](auto zero) {
    using C = decltype(zero);
    const auto sum_few = [&](const auto& few) {
      constexpr int kRank = sizeof(few.data) / sizeof(*few.data);
      const auto kernel =
          grad.dtype == DTypeOf<C>() ? SumFewCopies<C, true, kRank> : SumFewCopies<C, false, kRank>;
      return LaunchElements(c, grad.size(), kernel, grad.size(), few, grad.dtype, ograd, grad.data,
                            add);
    };
    return DispatchFewAxes(axes, c.inputs[0].size(), sum_few, [&] {
      return LaunchElements(c, grad.size(), SumCopies<C>, grad.size(), axes, grad.dtype, ograd,
                            grad.data, add);
    });
  });
}

COOPER_REGISTER_KERNEL(Pad, DeviceType::kGpu, kAnyDType, PadGpu, PreparePad);
COOPER_REGISTER_KERNEL(_backward_Pad, DeviceType::kGpu, kAnyDType, PadBackwardGpu, PreparePad);

}  // namespace
}  // namespace cooper
