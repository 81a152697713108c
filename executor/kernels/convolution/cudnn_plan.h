#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PLAN_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PLAN_H_

// Plans of convolutions by cuDNN's graph API. cuDNN is loaded at run time. From 9.8 on it also
// plans for a device that is described rather than present, so that tests without a GPU can check
// what one would run. Cudnn::Plan calls it and caches the results. Does not include cuDNN's
// headers.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/cudnn_convolution.h"

namespace cooper {

// Returns OK if cuDNN and all functions of it that cooper uses are found; otherwise
// kFailedPrecondition, naming what is missing. Thread-safe. The answer does not change during the
// life of the process.
absl::Status CheckCudnnInstalled();

// The device of a plan: a present one, or a described one.
struct CudnnDevice {
  void* handle = nullptr;   // a cudnnHandle_t, which can run the plans
  std::string description;  // JSON with cuDNN's names; used if handle is null
};

// The ids of a plan's arrays in cuDNN's variant packs.
inline constexpr int64_t kCudnnImage = 1, kCudnnWeight = 2, kCudnnMap = 3;

// Returns between one and `most_plans` plans in the order of cuDNN's heuristics, the likely fastest
// first. Each plan overwrites its result and needs at most `max_workspace_bytes` of workspace. The
// plans of a present device can be run.
//
// The results of a plan follow the rules of cooper's other products of the dtype: equal bits in
// every run, sums in float32, or in float64 for float64, and TF32 only if it is allowed
// (ndarray/cuda/tf32.h). Engines by Fourier or Winograd transforms are left out, because they
// spread an infinity or a NaN of one window over its neighbours. A handle is used by one thread at
// a time.
//
// Errors: kUnimplemented, with the last reason, if there is no such plan; kResourceExhausted for a
// lack of memory; kFailedPrecondition if cuDNN is missing; kInternal, naming the call and the
// convolution, if cuDNN rejects anything else.
absl::StatusOr<std::vector<CudnnPlan>> PlanConvolution(const CudnnConvolution& convolution,
                                                       const CudnnDevice& device,
                                                       int64_t max_workspace_bytes,
                                                       size_t most_plans = 1);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PLAN_H_
