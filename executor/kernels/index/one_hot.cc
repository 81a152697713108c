// Kernel of one_hot.

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/row_grain.h"
#include "executor/kernels/loops/index_reader.h"
#include "executor/kernels/loops/wrapping.h"
#include "executor/program/kernel.h"
#include "ndarray/threads/parallel.h"
#include "symbol/ops/index/one_hot_param.h"

namespace cooper {
namespace {

using enum OneHotArrays::Input;

template <typename T>
void OneHot(const KernelContext& c) {
  using C = ComputeType<T>;
  const auto& param = c.param<OneHotParam>();
  const IndexReader indices(c.inputs[kIndices]);
  const T on = ConvertElement<T>(param.on_value), off = ConvertElement<T>(param.off_value);
  const bool add = c.reqs[0] == WriteReq::kAdd;
  ParallelForPlain(
      c.inputs[kIndices].size(), RowGrain(param.depth), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          T* row = c.outputs[0].as<T>() + i * param.depth;
          const int64_t hot = indices[i];
          if (!add) {
            std::fill_n(row, param.depth, off);
            if (hot >= 0 && hot < param.depth) row[hot] = on;
            continue;
          }
          for (int64_t j = 0; j < param.depth; ++j) {
            const C value = static_cast<C>(j == hot ? on : off);
            row[j] = ConvertElement<T>(WrapAdd(static_cast<C>(row[j]), static_cast<C>(value)));
          }
        }
      });
}

absl::Status OneHotCpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  DispatchDType(c.outputs[0].dtype, [&](auto tag) { OneHot<typename decltype(tag)::type>(c); });
  return absl::OkStatus();
}

COOPER_REGISTER_KERNEL(one_hot, DeviceType::kCpu, kAnyDType, OneHotCpu);

}  // namespace
}  // namespace cooper
