#ifndef COOPER_EXECUTOR_CUDA_NN_CUDNN_SWITCH_H_
#define COOPER_EXECUTOR_CUDA_NN_CUDNN_SWITCH_H_

// Whether kernels that are bound from now on use cuDNN where it is found. Both ways can so be
// compared on one machine.

namespace cooper {

// True unless the environment says COOPER_CUDNN=0, or the last SetCudnn. Thread-safe.
bool CudnnIsOn();
void SetCudnn(bool on);

}  // namespace cooper

#endif  // COOPER_EXECUTOR_CUDA_NN_CUDNN_SWITCH_H_
