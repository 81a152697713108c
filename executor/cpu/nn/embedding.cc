// Kernels of Embedding and its gradient.

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "absl/status/status.h"
#include "executor/cpu/dispatch_float.h"
#include "executor/cpu/row_grain.h"
#include "executor/kernel.h"
#include "ndarray/cpu_level.h"
#include "ndarray/parallel.h"
#include "symbol/ops/nn/embedding_param.h"

namespace cooper {
namespace {

// The row that an index names. Clipped before the conversion, which is undefined for a float out of
// range; NaN goes to row 0.
template <typename Index>
int64_t RowOf(Index index, int64_t rows) {
  const auto value = static_cast<ComputeType<Index>>(index);
  if (!(value > 0)) return 0;
  if constexpr (std::is_floating_point_v<ComputeType<Index>>) {
    if (value >= static_cast<ComputeType<Index>>(rows)) return rows - 1;
  }
  return std::min<int64_t>(static_cast<int64_t>(value), rows - 1);
}

template <typename T, typename Index>
void Forward(const KernelContext& c) {
  using enum EmbeddingArrays::Input;
  const Index* index = c.inputs[kData].as<Index>();
  const T* weight = c.inputs[kWeight].as<T>();
  T* out = c.outputs[0].as<T>();
  const int64_t rows = c.inputs[kWeight].shape[0];
  const int64_t width = c.inputs[kWeight].shape[1];
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelForPlain(c.inputs[kData].size(), RowGrain(width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = weight + RowOf(index[i], rows) * width;
      T* to = out + i * width;
      if (!add) {
        std::memcpy(to, from, width * sizeof(T));
      } else {
        for (int64_t j = 0; j < width; ++j) Store(to + j, Load(from[j]), true);
      }
    }
  });
}

// to[j] += from[j], apart from the many types of indices.
template <typename T>
void AddRow(const T* from, int64_t n, T* to) {
  RunAtCpuLevel([=] {
    for (int64_t j = 0; j < n; ++j) Store(to + j, Load(from[j]), true);
  });
}

// Threads share the columns, not the rows: an index may occur in several places, and every element
// is summed in the order of data whatever the number of threads.
template <typename T, typename Index>
void Backward(const KernelContext& c) {
  using enum EmbeddingGradientArrays::Input;
  const T* ograd = c.inputs[kOgrad].as<T>();
  const Index* index = c.inputs[kData].as<Index>();
  T* grad = c.outputs[0].as<T>();
  const int64_t rows = c.outputs[0].shape[0];
  const int64_t width = c.outputs[0].shape[1];
  const int64_t n = c.inputs[kData].size();
  if (c.reqs[0] == WriteReq::kWrite) {
    ParallelForPlain(rows, RowGrain(width, 65536), [&](int64_t begin, int64_t end) {
      std::memset(static_cast<void*>(grad + begin * width), 0, (end - begin) * width * sizeof(T));
    });
  }
  const int64_t grain = std::max<int64_t>(64, 32768 / std::max<int64_t>(n, 1));
  ParallelForPlain(width, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = 0; i < n; ++i) {
      const T* from = ograd + i * width;
      T* to = grad + RowOf(index[i], rows) * width;
      AddRow(from + begin, end - begin, to + begin);
    }
  });
}

absl::Status EmbeddingCpu(const KernelContext& c) {
  using enum EmbeddingArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  DispatchDType(c.outputs[0].dtype, [&](auto type) {
    DispatchDType(c.inputs[kData].dtype, [&](auto index) {
      Forward<typename decltype(type)::type, typename decltype(index)::type>(c);
    });
  });
  return absl::OkStatus();
}

absl::Status EmbeddingBackwardCpu(const KernelContext& c) {
  using enum EmbeddingGradientArrays::Input;
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  return DispatchFloat(c.outputs[0].dtype, [&](auto type) {
    DispatchDType(c.inputs[kData].dtype, [&](auto index) {
      Backward<typename decltype(type)::type, typename decltype(index)::type>(c);
    });
  });
}

COOPER_REGISTER_KERNEL(Embedding, DeviceType::kCpu, kAnyDType, EmbeddingCpu);
COOPER_REGISTER_KERNEL(_backward_Embedding, DeviceType::kCpu, kFloats, EmbeddingBackwardCpu);

}  // namespace
}  // namespace cooper
