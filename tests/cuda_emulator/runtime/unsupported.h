#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_UNSUPPORTED_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_UNSUPPORTED_H_

namespace cooper::cuda_emulator {

// Prints `call` to stderr and returns cudaErrorNotSupported, as an int.
int Unsupported(const char* call);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_UNSUPPORTED_H_
