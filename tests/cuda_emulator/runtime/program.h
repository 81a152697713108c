#ifndef COOPER_TESTS_CUDA_EMULATOR_RUNTIME_PROGRAM_H_
#define COOPER_TESTS_CUDA_EMULATOR_RUNTIME_PROGRAM_H_

// The device code of the running program: kernels and variables that its static initialisers
// register, by their host addresses. PTX is parsed at the first use of a module, and its variables
// are placed on a device at the first use there. Callers hold the ApiLock.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/module.h"

namespace cooper::cuda_emulator {

// The device code of one source file.
class Binary {
 public:
  explicit Binary(const void* data) : data_(data) {}

  // Parses the PTX at the first call, and returns the module or the error of that call.
  absl::StatusOr<const ptx::Module*> Load();

  // Returns the address on `device` of each variable of the module. Requires that Load succeeded.
  absl::StatusOr<absl::Span<const uint64_t>> Place(int device);

 private:
  const void* const data_;
  absl::Status status_;
  std::unique_ptr<ptx::Module> module_;
  std::map<int, std::vector<uint64_t>> addresses_;  // by device
};

// A registered kernel.
struct Kernel {
  Binary* binary = nullptr;
  std::string name;                 // in the PTX
  std::string readable;             // as written in C++
  uint64_t max_dynamic_shared = 0;  // bytes allowed by cudaFuncSetAttribute
};

// A registered variable of device code.
struct DeviceVariable {
  Binary* binary = nullptr;
  std::string name;
  uint64_t bytes = 0;
};

// Register device code, kernels and variables. They live until the program ends.
Binary* AddBinary(const void* data);
void AddKernel(const void* host, Binary* binary, const char* name);
void AddVariable(const void* host, Binary* binary, const char* name, uint64_t bytes);

// Return null if nothing was registered under that address.
Kernel* FindKernel(const void* host);
const DeviceVariable* FindVariable(const void* host);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_TESTS_CUDA_EMULATOR_RUNTIME_PROGRAM_H_
