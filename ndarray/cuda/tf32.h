#ifndef COOPER_NDARRAY_CUDA_TF32_H_
#define COOPER_NDARRAY_CUDA_TF32_H_

// The switch for TF32, which applies to products (cuBLAS) and convolutions (cuDNN).

namespace cooper {

// Returns whether float32 products and convolutions may round their factors to the 11 significant
// bits of TF32, which GPUs compute on tensor cores: true if the environment says COOPER_TF32=1.
// Sums are float32 in either case. Corresponds to MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION.
bool Tf32IsAllowed();

}  // namespace cooper

#endif  // COOPER_NDARRAY_CUDA_TF32_H_
