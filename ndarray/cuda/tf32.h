#ifndef COOPER_NDARRAY_CUDA_TF32_H_
#define COOPER_NDARRAY_CUDA_TF32_H_

namespace cooper {

// Whether products and convolutions of float32 may round what they multiply to the 11 bits of TF32,
// for which GPUs have tensor cores: the environment says COOPER_TF32=1. Sums are of float32 in
// either case. What MXNet's MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION allows.
bool Tf32IsAllowed();

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_TF32_H_
