#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_SWITCH_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_SWITCH_H_

// Whether kernels that are bound from now on use cuDNN where it is found. All ways can so be
// compared on one machine.

#include <cstdint>

namespace cooper {

enum class CudnnUse : uint8_t { kNever, kWhereFaster, kAlways };

// kWhereFaster, unless the environment says COOPER_CUDNN=0, which is kNever, or =1, kAlways; or the
// last SetCudnnUse. Thread-safe.
CudnnUse TheCudnnUse();
void SetCudnnUse(CudnnUse use);

// Whether nodes that do not say how measure which plan is the fastest: the environment says
// COOPER_CUDNN_TUNE=1.
bool CudnnTunesByDefault();

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_SWITCH_H_
