#ifndef COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_SWITCH_H_
#define COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_SWITCH_H_

// Options for when kernels use cuDNN. They apply to kernels that are bound after a change, so that
// one process can compare all settings. CudnnPass::Create and the kernels of convolution.cu read
// them; tests and benchmarks set them.

#include <cstdint>

namespace cooper {

// When kernels use cuDNN, if it is found. kWhereFaster uses it where it was measured to be faster
// than im2col and cuBLAS (cudnn_pass.cc), and always for 16-bit floats, which have no other kernel.
enum class CudnnUse : uint8_t { kNever, kWhereFaster, kAlways };

// Returns the value of the last SetCudnnUse; without one kNever if the environment has
// COOPER_CUDNN=0, kAlways if it has COOPER_CUDNN=1, else kWhereFaster. The environment is read
// once. Thread-safe.
CudnnUse GetCudnnUse();
// Changes the setting for the whole process. Thread-safe.
void SetCudnnUse(CudnnUse use);

// Returns whether nodes without an explicit cudnn_tune measure which plan is the fastest: whether
// the environment has COOPER_CUDNN_TUNE=1 at the first call. MXNet measures by default; cooper does
// not, so that equal programs give equal bits. Thread-safe.
bool CudnnTunesByDefault();

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_CONVOLUTION_CUDNN_SWITCH_H_
