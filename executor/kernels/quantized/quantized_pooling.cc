// Kernel of _contrib_quantized_pooling. Means are rounded to the nearest integer.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/pooling/pooling_window.h"
#include "executor/kernels/quantized/quantized_scale.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/nn/pooling_param.h"
#include "symbol/ops/nn/quantize_param.h"

namespace cooper {
namespace {

using enum QuantizedArrays::Input;

// Returns the maximum of a window, or its mean.
template <typename T>
T Pool(const PoolingPlanes& planes, const PoolingWindow& window, const T* plane, bool is_mean) {
  int64_t sum = 0;
  T greatest = std::numeric_limits<T>::min();
  planes.ForEachElement(window, [&](int64_t at) {
    sum += plane[at];
    greatest = std::max(greatest, plane[at]);
  });
  if (!is_mean) return greatest;
  return RoundTo<T>(static_cast<float>(sum) / static_cast<float>(window.divisor));
}

template <typename T>
void Run(const KernelContext& c) {
  const auto& param = c.param<PoolingParam>();
  const PoolingPlanes planes(param, c.inputs[kData].shape, c.outputs[0].shape, /*v1=*/false);
  const T* data = c.inputs[kData].as<T>();
  T* out = c.outputs[0].as<T>();
  const bool add = c.reqs[0] == WriteReq::kAdd, is_mean = param.pool_type == PoolingParam::kAvg;
  const int64_t work = planes.out_size() * planes.kernel_size();
  ParallelFor(planes.batch * planes.channels, RowGrain(work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      planes.ForEachWindow([&](int64_t position, const PoolingWindow& window) {
        PutInteger(out + i * planes.out_size() + position,
                   Pool(planes, window, data + i * planes.in_size(), is_mean), add);
      });
    }
  });
}

absl::Status QuantizedPoolingCpu(const KernelContext& c) {
  PutRange(c, *c.inputs[kMin].as<float>(), *c.inputs[kMax].as<float>());
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  if (c.inputs[kData].dtype == DType::kInt8) {
    Run<int8_t>(c);
  } else {
    Run<uint8_t>(c);
  }
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_contrib_quantized_pooling, DeviceType::kCpu,
                       (DTypeSet{DType::kInt8, DType::kUint8}), QuantizedPoolingCpu);

}  // namespace
}  // namespace cooper
