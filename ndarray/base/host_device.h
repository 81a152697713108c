#ifndef COOPER_NDARRAY_BASE_HOST_DEVICE_H_
#define COOPER_NDARRAY_BASE_HOST_DEVICE_H_

// Marks a function that CPU and GPU kernels share: nvcc compiles it for both, other compilers for
// the CPU. A marked function calls only marked functions and functions of the C++ library that CUDA
// implements on the device, such as std::sqrt and std::fma.

#ifdef __CUDACC__
#define COOPER_HOST_DEVICE __host__ __device__
#else
#define COOPER_HOST_DEVICE
#endif

#endif  // COOPER_NDARRAY_BASE_HOST_DEVICE_H_
