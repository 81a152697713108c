#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_SOLVER_CUSOLVER_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_SOLVER_CUSOLVER_H_

// A stand-in for the part of cuSOLVER that factors dense matrices, for programs that open it at run
// time (third_party/cuda/dynload.h).

#include <string_view>

namespace cooper::cuda_emulator {

// The function of that name ("cusolverDnCreate"), or null where the stand-in lacks it. Work is
// queued on the handle's stream, as cuSOLVER does.
void* FindCusolverFunction(std::string_view name);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_SOLVER_CUSOLVER_H_
