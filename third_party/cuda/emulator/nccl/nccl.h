#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_NCCL_NCCL_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_NCCL_NCCL_H_

// A stand-in for NCCL's sums over the devices of one process, for programs that open it at run time
// (third_party/cuda/dynload.h). It needs no nccl.h: what calls pass is declared here alike.

#include <string_view>

namespace cooper::cuda_emulator {

// The function of that name ("ncclAllReduce"), or null where the stand-in lacks it. A sum is queued
// on the streams of all ranks, which have to bring their parts within one group; it adds float32
// and float64 in the order of ranks. Ranks of other processes are refused. Where ncclCommDestroy
// would wait for ever, since not all ranks of a set are destroyed within one group, the program
// ends with a message.
void* FindNcclFunction(std::string_view name);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_NCCL_NCCL_H_
