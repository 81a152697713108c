#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PLAN_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PLAN_H_

// Plans of convolutions by cuDNN's graph API. cuDNN is opened at run time; from 9.8 on it plans for
// a device that is described and need not be there, so that a machine without a GPU can tell what
// one would run.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernels/convolution/cudnn_convolution.h"

namespace cooper {

// OK if cuDNN, and all of it that is used here, is found; else kFailedPrecondition, saying what is
// missing.
absl::Status CheckCudnnInstalled();

// What a plan is for: a device that is there, or one that is described.
struct CudnnDevice {
  void* handle = nullptr;   // a cudnnHandle_t; its plans can be run by it
  std::string description;  // by cuDNN's names, as JSON; looked at where there is no handle
};

// The numbers by which cuDNN's variant packs name the arrays of a plan.
inline constexpr int64_t kCudnnImage = 1, kCudnnWeight = 2, kCudnnMap = 3;

// Plans in the order of cuDNN's heuristics, the likely fastest first: at most `most_plans`, and at
// least one. Each can be made and writes over its result. Its workspace has at most
// `most_workspace_bytes`, and its results are what a product of these dtypes gives elsewhere in
// cooper: the same bits in every run; sums of float32, or of float64 for itself; no TF32 unless
// that is allowed (ndarray/cuda/tf32.h). kUnimplemented, with the last reason, if there is none;
// kResourceExhausted for a lack of memory; kInternal, naming the call and the convolution, if cuDNN
// refuses anything else.
absl::StatusOr<std::vector<CudnnPlan>> PlanConvolution(const CudnnConvolution& convolution,
                                                       const CudnnDevice& device,
                                                       int64_t most_workspace_bytes,
                                                       size_t most_plans = 1);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_PLAN_H_
