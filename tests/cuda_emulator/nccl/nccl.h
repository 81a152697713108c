#ifndef COOPER_TESTS_CUDA_EMULATOR_NCCL_NCCL_H_
#define COOPER_TESTS_CUDA_EMULATOR_NCCL_NCCL_H_

// A stand-in for NCCL's sums over the devices of one process, for programs that open it at run time
// (ndarray/cuda/dynload.h). It does not need nccl.h: it declares the types of the arguments
// itself.

#include <string_view>

namespace cooper::cuda_emulator {

// Returns the function of that name ("ncclAllReduce"), or null if the stand-in lacks it. A sum is
// queued on the streams of all ranks, whose calls must be in one group. It adds float32 and float64
// in the order of ranks. Ranks of other processes are rejected. If ncclCommDestroy would hang,
// because not all ranks of a set are destroyed in one group, the program ends with a message.
void* FindNcclFunction(std::string_view name);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_NCCL_NCCL_H_
