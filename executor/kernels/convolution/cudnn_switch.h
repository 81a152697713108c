#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_SWITCH_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_SWITCH_H_

// Options for when kernels use cuDNN. They apply to kernels that are bound after a change, so that
// one process can compare all settings.

#include <cstdint>

namespace cooper {

// When kernels use cuDNN, if it is found.
enum class CudnnUse : uint8_t { kNever, kWhereFaster, kAlways };

// Returns the value of the last SetCudnnUse; without one kNever if the environment has
// COOPER_CUDNN=0, kAlways if it has COOPER_CUDNN=1, else kWhereFaster. Thread-safe.
CudnnUse GetCudnnUse();
void SetCudnnUse(CudnnUse use);

// Returns whether nodes without an explicit cudnn_tune measure which plan is the fastest: whether
// the environment has COOPER_CUDNN_TUNE=1.
bool CudnnTunesByDefault();

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_SWITCH_H_
