// Kernels of NumPy products for CPUs, through Gemm.

#include <cstdint>

#include "absl/status/status.h"
#include "executor/kernels/launch/dispatch_float.h"
#include "executor/kernels/launch/product_grain.h"
#include "executor/kernels/loops/strided_copy.h"
#include "executor/kernels/numpy/contraction_kernels.h"
#include "executor/kernels/numpy/contraction_plan.h"
#include "executor/program/kernel.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

struct CpuDevice : CpuMover {
  using State = KernelState;
  static constexpr DTypeSet kDTypes = kFloat32Or64;

  static absl::Status Prepare(const PrepareContext&, State&) { return absl::OkStatus(); }

  static absl::Status Multiply(const KernelContext&, const ContractionStep& step, const void* a,
                               const void* b, const ArrayView& out, bool add) {
    const int64_t m = step.m, n = step.n, k = step.k;
    return DispatchFloat32Or64(out.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      ParallelForPlain(step.batch, ProductGrain(step.batch, m * n * k),
                       [&](int64_t begin, int64_t end) {
                         for (int64_t i = begin; i < end; ++i) {
                           Gemm(step.transpose_from, step.transpose_second, m, n, k, T{1},
                                static_cast<const T*>(a) + i * m * k, step.transpose_from ? m : k,
                                static_cast<const T*>(b) + i * k * n, step.transpose_second ? k : n,
                                add ? T{1} : T{0}, out.as<T>() + i * m * n, n);
                         }
                       });
    });
  }
};

[[maybe_unused]] const bool kRegistered = ContractionKernels<CpuDevice>::Register(DeviceType::kCpu);

}  // namespace
}  // namespace cooper
