// GPU kernels of the operators that a backward program is completed with: the sum of the gradients
// that reach one value (symbol/gradient.h), and the copy and the zeros that bring a gradient into
// the caller's array (executor/compile/program_passes/program_passes.h).

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "executor/cuda/launch.h"
#include "executor/kernel.h"
#include "ndarray/cuda/cuda_status.h"
#include "ndarray/cuda/device_scope.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

constexpr int kMaxTerms = 256;  // a kernel's arguments are 4096 bytes at most

struct Terms {
  const float* data[kMaxTerms];
  int count;
};

// One pass over all terms, in their order: `out` may be any of them.
__global__ void Sum(int64_t n, Terms terms, float* out, bool add) {
  for (int64_t i = FirstElement(); i < n; i += ElementStep()) {
    float sum = terms.data[0][i];
    for (int k = 1; k < terms.count; ++k) sum += terms.data[k][i];
    out[i] = add ? out[i] + sum : sum;
  }
}

absl::StatusOr<Prepared> PrepareSum(const PrepareContext& c) {
  if (c.inputs.size() > kMaxTerms) {
    return absl::UnimplementedError(absl::StrCat(c.inputs.size(), " inputs, at most ", kMaxTerms));
  }
  return Prepared{};
}

absl::Status SumGpu(const KernelContext& c) {
  if (c.reqs[0] == WriteReq::kNull) return absl::OkStatus();
  Terms terms;
  terms.count = static_cast<int>(c.inputs.size());
  for (int k = 0; k < terms.count; ++k) terms.data[k] = c.inputs[k].as<float>();
  const int64_t n = c.outputs[0].size();
  return LaunchElements(c, n, Sum, n, terms, c.outputs[0].as<float>(), c.reqs[0] == WriteReq::kAdd);
}

absl::Status ZerosGpu(const KernelContext& c) {
  if (c.reqs[0] != WriteReq::kWrite) return absl::OkStatus();
  const CudaDeviceScope scope(c.context.device_id);
  COOPER_RETURN_IF_ERROR(scope.status());
  return CudaStatus(cudaMemsetAsync(c.outputs[0].data, 0,
                                    static_cast<size_t>(c.outputs[0].size_bytes()), StreamOf(c)),
                    "cudaMemsetAsync");
}

COOPER_REGISTER_KERNEL(_grad_sum, DeviceType::kGpu, kFloat32Only, SumGpu, PrepareSum);
// A sum of one.
COOPER_REGISTER_KERNEL(_copy, DeviceType::kGpu, kFloat32Only, SumGpu, PrepareSum);
// Zero bytes are zero in every dtype.
COOPER_REGISTER_KERNEL(_zeros, DeviceType::kGpu, kAnyDType, ZerosGpu);

}  // namespace
}  // namespace cooper
