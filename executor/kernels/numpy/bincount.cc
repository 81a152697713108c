// Kernel of _npi_bincount for CPUs.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/kernels/index/indexed_rows.h"
#include "executor/kernels/loops/counted_shapes.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "symbol/ops/numpy/bincount_param.h"

namespace cooper {
namespace {

using enum BincountArrays::Input;
using enum BincountArrays::Output;

// The workspace holds the numbers as int64.
absl::StatusOr<Prepared> PrepareBincount(const PrepareContext& c) {
  return Prepared{.workspace_bytes = c.inputs[kData].size() * SizeOf(DType::kInt64)};
}

absl::Status BincountCpu(const KernelContext& c) {
  const auto& param = c.param<BincountParam>();
  const int64_t size = c.inputs[kData].size(), most = c.outputs[kCounts].shape[0];
  auto* const numbers = static_cast<int64_t*>(c.workspace);
  int64_t least = 0, greatest = -1;
  DispatchDType(c.inputs[kData].dtype, [&](auto tag) {
    const auto* const data = c.inputs[kData].as<typename decltype(tag)::type>();
    for (int64_t i = 0; i < size; ++i) {
      numbers[i] = ConvertElement<int64_t>(data[i]);
      least = std::min(least, numbers[i]);
      greatest = std::max(greatest, numbers[i]);
    }
  });
  if (least < 0) {
    return absl::InvalidArgumentError(absl::StrCat("input 'data' has the negative number ", least));
  }
  if (greatest >= most) {
    return absl::InvalidArgumentError(absl::StrCat("input 'data' has the number ", greatest,
                                                   ", and memory is planned for ", most,
                                                   " bins; set minlength above all numbers"));
  }
  ArrayView counts = c.outputs[kCounts];
  counts.shape = Shape({std::max({param.minlength, greatest + 1, int64_t{0}})});
  WriteShapes(c, {counts.shape});
  if (c.reqs[kCounts] == WriteReq::kNull) return absl::OkStatus();
  ZeroIfWrite(c.reqs[kCounts], counts);
  DispatchDType(counts.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const to = counts.as<T>();
    const T* const weights = param.has_weights ? c.inputs[kWeights].as<T>() : nullptr;
    const T one = ConvertElement<T>(1);
    for (int64_t i = 0; i < size; ++i) {
      MoveRow(1, weights != nullptr ? weights + i : &one, WriteReq::kAdd, to + numbers[i]);
    }
  });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(_npi_bincount, DeviceType::kCpu, kAnyDType, BincountCpu, PrepareBincount);

}  // namespace
}  // namespace cooper
