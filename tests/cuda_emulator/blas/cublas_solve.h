#ifndef COOPER_TESTS_CUDA_EMULATOR_BLAS_CUBLAS_SOLVE_H_
#define COOPER_TESTS_CUDA_EMULATOR_BLAS_CUBLAS_SOLVE_H_

#include <string_view>

namespace cooper::cuda_emulator {

// Returns the function of that name, or null. Covers the functions of cuBLAS that solve triangular
// systems or factor matrices.
void* FindCublasSolveFunction(std::string_view name);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_BLAS_CUBLAS_SOLVE_H_
