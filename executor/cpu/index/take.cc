// Kernels of take, pick, batch_take and the gradients of the first two.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "executor/cpu/index/index_reader.h"
#include "executor/cpu/row_grain.h"
#include "executor/cpu/shape/strided_copy.h"
#include "executor/kernel.h"
#include "ndarray/parallel.h"
#include "symbol/ops/index/take_param.h"

namespace cooper {
namespace {

// An array seen as (outer, n, inner) around the axis that is indexed.
struct Extents {
  int64_t outer, n, inner;

  Extents(const Shape& shape, int axis) {
    if (axis < 0) axis += shape.rank();
    outer = shape.Product(0, axis);
    n = shape[axis];
    inner = StrideOf(shape, axis);
  }
};

int64_t InRange(int64_t index, int64_t n, IndexMode mode) {
  if (mode == IndexMode::kWrap) {
    index %= n;
    return index < 0 ? index + n : index;
  }
  return std::clamp<int64_t>(index, 0, n - 1);
}

template <typename T>
void AddRow(int64_t size, const T* in, T* out) {
  using C = ComputeType<T>;
  for (int64_t i = 0; i < size; ++i) {
    out[i] = ConvertElement<T>(static_cast<C>(static_cast<C>(out[i]) + static_cast<C>(in[i])));
  }
}

template <typename T>
void Take(const KernelContext& c, const Extents& a, IndexMode mode) {
  using enum TakeArrays::Input;
  const IndexReader indices(c.inputs[kIndex]);
  const int64_t count = c.inputs[kIndex].size();
  ParallelForPlain(a.outer * count, RowGrain(a.inner), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / count * a.n + InRange(indices[i % count], a.n, mode);
      const T* in = c.inputs[kData].as<T>() + row * a.inner;
      T* out = c.outputs[0].as<T>() + i * a.inner;
      if (c.reqs[0] == WriteReq::kWrite) {
        std::copy_n(in, a.inner, out);
      } else {
        AddRow(a.inner, in, out);
      }
    }
  });
}

absl::Status TakeCpu(const KernelContext& c) {
  using enum TakeArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const auto& param = c.param<TakeParam>();
  const Extents a(c.inputs[kData].shape, param.axis);
  if (param.mode == IndexMode::kRaise) {
    const IndexReader indices(c.inputs[kIndex]);
    for (int64_t i = 0; i < c.inputs[kIndex].size(); ++i) {
      if (indices[i] < 0 || indices[i] >= a.n) {
        return absl::InvalidArgumentError(
            absl::StrCat("take: index ", indices[i], " is out of range for axis ", param.axis,
                         " of input 'a' ", c.inputs[kData].shape.ToString()));
      }
    }
  }
  DispatchDType(c.outputs[0].dtype,
                [&](auto tag) { Take<typename decltype(tag)::type>(c, a, param.mode); });
  return absl::OkStatus();
}

// An index may come more than once: threads share out the columns, each adds all rows in order.
template <typename T>
void TakeBackward(const KernelContext& c, const Extents& a, IndexMode mode) {
  using enum TakeGradientArrays::Input;
  const IndexReader indices(c.inputs[kIndex]);
  const int64_t count = c.inputs[kIndex].size();
  ParallelFor(a.inner, std::max<int64_t>(16, 16384 / std::max<int64_t>(a.outer * count, 1)),
              [&](int64_t begin, int64_t end) {
                for (int64_t i = 0; i < a.outer * count; ++i) {
                  const int64_t row = i / count * a.n + InRange(indices[i % count], a.n, mode);
                  AddRow(end - begin, c.inputs[kOgrad].as<T>() + i * a.inner + begin,
                         c.outputs[0].as<T>() + row * a.inner + begin);
                }
              });
}

absl::Status TakeBackwardCpu(const KernelContext& c) {
  using enum TakeGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  ZeroIfWrite(c.reqs[0], c.outputs[0]);
  if (c.inputs[kOgrad].size() == 0) return absl::OkStatus();
  const auto& param = c.param<TakeParam>();
  const Extents a(c.outputs[0].shape, param.axis);
  DispatchDType(c.outputs[0].dtype,
                [&](auto tag) { TakeBackward<typename decltype(tag)::type>(c, a, param.mode); });
  return absl::OkStatus();
}

// Calls fn(i, j) for the picks i, in [begin, end), and the elements j of data that they are.
template <typename Fn>
void ForPicks(const Extents& data, const IndexReader& index, IndexMode mode, const Fn& fn) {
  ParallelForPlain(data.outer * data.inner, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = InRange(index[i], data.n, mode);
      fn(i, (i / data.inner * data.n + at) * data.inner + i % data.inner);
    }
  });
}

absl::Status Pick(const KernelContext& c, int axis, IndexMode mode) {
  using enum TakeArrays::Input;
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const Extents data(c.inputs[kData].shape, axis);
  DispatchDType(c.outputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* in = c.inputs[kData].as<T>();
    T* out = c.outputs[0].as<T>();
    ForPicks(data, IndexReader(c.inputs[kIndex]), mode, [&](int64_t i, int64_t j) {
      if (c.reqs[0] == WriteReq::kWrite) {
        out[i] = in[j];
      } else {
        AddRow(1, in + j, out + i);
      }
    });
  });
  return absl::OkStatus();
}

absl::Status PickCpu(const KernelContext& c) {
  const auto& param = c.param<PickParam>();
  return Pick(c, param.axis.value_or(-1), param.mode);
}

absl::Status BatchTakeCpu(const KernelContext& c) { return Pick(c, -1, IndexMode::kClip); }

absl::Status PickBackwardCpu(const KernelContext& c) {
  using enum TakeGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  ZeroIfWrite(c.reqs[0], c.outputs[0]);
  if (c.inputs[kOgrad].size() == 0) return absl::OkStatus();
  const auto& param = c.param<PickParam>();
  const Extents data(c.outputs[0].shape, param.axis.value_or(-1));
  DispatchDType(c.outputs[0].dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    ForPicks(data, IndexReader(c.inputs[kIndex]), param.mode, [&](int64_t i, int64_t j) {
      AddRow(1, c.inputs[kOgrad].as<T>() + i, c.outputs[0].as<T>() + j);
    });
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(take, DeviceType::kCpu, kAnyDType, TakeCpu);
COOPER_REGISTER_KERNEL(_backward_take, DeviceType::kCpu, kAnyDType, TakeBackwardCpu);
COOPER_REGISTER_KERNEL(pick, DeviceType::kCpu, kAnyDType, PickCpu);
COOPER_REGISTER_KERNEL(_backward_pick, DeviceType::kCpu, kAnyDType, PickBackwardCpu);
COOPER_REGISTER_KERNEL(batch_take, DeviceType::kCpu, kAnyDType, BatchTakeCpu);

}  // namespace
}  // namespace cooper
