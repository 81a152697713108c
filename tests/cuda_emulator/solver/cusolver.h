#ifndef COOPER_TESTS_CUDA_EMULATOR_SOLVER_CUSOLVER_H_
#define COOPER_TESTS_CUDA_EMULATOR_SOLVER_CUSOLVER_H_

// A stand-in for the functions of cuSOLVER that factor dense matrices, for programs that open it at
// run time (ndarray/cuda/dynload.h).

#include <string_view>

namespace cooper::cuda_emulator {

// Returns the function of that name ("cusolverDnCreate"), or null if the stand-in lacks it. Work is
// queued on the handle's stream, as in cuSOLVER.
void* FindCusolverFunction(std::string_view name);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_SOLVER_CUSOLVER_H_
