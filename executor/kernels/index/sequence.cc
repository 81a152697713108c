// Kernels of SequenceMask, SequenceReverse, SequenceLast and its gradient. All of them move rows,
// the elements of one time step of one sequence.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/kernels/index/sequence_steps.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/index_reader.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/index/sequence_param.h"

namespace cooper {
namespace {

using enum SequenceArrays::Input;

// Iterates over the rows of data.
class Rows : public SequenceSteps {
 public:
  // `lengths` is null if all sequences have full length.
  Rows(const Shape& data, int axis, const ArrayView* lengths) : SequenceSteps(data, axis) {
    if (lengths != nullptr) lengths_.emplace(*lengths);
  }

  int64_t length(int64_t b) const { return lengths_.has_value() ? Length((*lengths_)[b]) : time; }
  int64_t last(int64_t b) const { return std::max<int64_t>(length(b) - 1, 0); }

  // Calls fn(t, b, length of b) for every row, on several threads.
  template <typename Fn>
  void ForEach(const Fn& fn) const {
    ParallelForPlain(time * batch, RowGrain(size), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i % batch;
        fn(i / batch, b, length(b));
      }
    });
  }

 private:
  std::optional<IndexReader> lengths_;
};

const ArrayView* Lengths(const KernelContext& c) {
  return c.inputs.size() > SequenceArrays::kLength ? &c.inputs[SequenceArrays::kLength] : nullptr;
}

template <typename T>
void CopyRow(int64_t n, const T* in, WriteReq req, T* out) {
  if (req == WriteReq::kWrite) {
    if (in != out) std::copy_n(in, n, out);
    return;
  }
  using C = ComputeType<T>;
  for (int64_t i = 0; i < n; ++i) {
    out[i] = ConvertElement<T>(WrapAdd(static_cast<C>(out[i]), static_cast<C>(in[i])));
  }
}

template <typename T>
void FillRow(int64_t n, T value, WriteReq req, T* out) {
  if (req == WriteReq::kWrite) {
    std::fill_n(out, n, value);
    return;
  }
  using C = ComputeType<T>;
  for (int64_t i = 0; i < n; ++i) {
    out[i] = ConvertElement<T>(WrapAdd(static_cast<C>(out[i]), static_cast<C>(value)));
  }
}

// Calls fn(T*, T*, rows) with the input, the output and the rows of `data`.
template <typename Fn>
absl::Status WithRows(const KernelContext& c, const ArrayView& data, int axis, const Fn& fn) {
  if (c.reqs[0] == WriteReq::kNull || c.outputs[0].size() == 0) return absl::OkStatus();
  const Rows rows(data.shape, axis, Lengths(c));
  DispatchDType(data.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn(c.inputs[kData].as<T>(), c.outputs[0].as<T>(), rows);
  });
  return absl::OkStatus();
}

absl::Status SequenceMaskCpu(const KernelContext& c) {
  const auto& param = c.param<SequenceMaskParam>();
  if (c.inputs.size() == 1) return CopyElements(c.inputs[kData], c.reqs[0], c.outputs[0]);
  return WithRows(c, c.inputs[kData], param.axis, [&](auto* in, auto* out, const Rows& rows) {
    const auto value = ConvertElement<std::remove_reference_t<decltype(*out)>>(param.value);
    const int64_t n = rows.size;
    rows.ForEach([&](int64_t t, int64_t b, int64_t length) {
      const int64_t at = rows.at(t, b) * n;
      if (t < length) {
        CopyRow(n, in + at, c.reqs[0], out + at);
      } else {
        FillRow(n, value, c.reqs[0], out + at);
      }
    });
  });
}

absl::Status SequenceReverseCpu(const KernelContext& c) {
  return WithRows(c, c.inputs[kData], c.param<SequenceReverseParam>().axis,
                  [&](auto* in, auto* out, const Rows& rows) {
                    const int64_t n = rows.size;
                    rows.ForEach([&](int64_t t, int64_t b, int64_t length) {
                      const int64_t from = t < length ? length - 1 - t : t;
                      CopyRow(n, in + rows.at(from, b) * n, c.reqs[0], out + rows.at(t, b) * n);
                    });
                  });
}

absl::Status SequenceLastCpu(const KernelContext& c) {
  return WithRows(c, c.inputs[kData], c.param<SequenceParam>().axis,
                  [&](auto* in, auto* out, const Rows& rows) {
                    const int64_t n = rows.size;
                    for (int64_t b = 0; b < rows.batch; ++b) {
                      CopyRow(n, in + rows.at(rows.last(b), b) * n, c.reqs[0], out + b * n);
                    }
                  });
}

absl::Status SequenceLastBackwardCpu(const KernelContext& c) {
  ZeroIfWrite(c.reqs[0], c.outputs[0]);
  return WithRows(c, c.outputs[0], c.param<SequenceParam>().axis,
                  [&](auto* in, auto* out, const Rows& rows) {
                    const int64_t n = rows.size;
                    for (int64_t b = 0; b < rows.batch; ++b) {
                      CopyRow(n, in + b * n, c.reqs[0], out + rows.at(rows.last(b), b) * n);
                    }
                  });
}

COOPER_REGISTER_KERNEL(SequenceMask, DeviceType::kCpu, kAnyDType, SequenceMaskCpu);
COOPER_REGISTER_KERNEL(SequenceReverse, DeviceType::kCpu, kAnyDType, SequenceReverseCpu);
COOPER_REGISTER_KERNEL(SequenceLast, DeviceType::kCpu, kAnyDType, SequenceLastCpu);
COOPER_REGISTER_KERNEL(_backward_SequenceLast, DeviceType::kCpu, kAnyDType,
                       SequenceLastBackwardCpu);

}  // namespace
}  // namespace cooper
