#ifndef COOPER_TESTS_CUDA_EMULATOR_BLAS_CUBLAS_H_
#define COOPER_TESTS_CUDA_EMULATOR_BLAS_CUBLAS_H_

// A stand-in for cuBLAS, for programs that open it at run time (ndarray/cuda/dynload.h).

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace cooper::cuda_emulator {

// Returns the function of that name ("cublasCreate_v2"), or null if the stand-in lacks it. Products
// are queued on the handle's stream, as in cuBLAS.
void* FindCublasFunction(std::string_view name);

// Returns how many products have been queued or captured since the program began, by the bytes of
// the workspace that the caller had set; 0 if none was set, where cuBLAS would use its own.
// Thread-safe.
std::map<size_t, int64_t> GetProductsByWorkspace();

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_BLAS_CUBLAS_H_
