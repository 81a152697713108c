#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_PROGRAM_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_PROGRAM_H_

// The device code of the running program: what its static initialisers register, by the addresses
// that stand for kernels and variables on the host. PTX is parsed at the first use of a module, and
// its variables are placed on a device at the first use there. Callers hold the ApiLock.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "third_party/cuda/emulator/ptx/module.h"

namespace cooper::cuda_emulator {

// The device code of one source file.
class Binary {
 public:
  explicit Binary(const void* data) : data_(data) {}

  absl::StatusOr<const ptx::Module*> Load();

  // The address on `device` of each variable of the module, which has been loaded.
  absl::StatusOr<absl::Span<const uint64_t>> Place(int device);

 private:
  const void* const data_;
  absl::Status status_;
  std::unique_ptr<ptx::Module> module_;
  std::map<int, std::vector<uint64_t>> addresses_;  // by device
};

struct Kernel {
  Binary* binary = nullptr;
  std::string name;                 // in the PTX
  std::string readable;             // as written in C++
  uint64_t max_dynamic_shared = 0;  // bytes asked for by cudaFuncSetAttribute
};

struct DeviceVariable {
  Binary* binary = nullptr;
  std::string name;
  uint64_t bytes = 0;
};

Binary* AddBinary(const void* data);
void AddKernel(const void* host, Binary* binary, const char* name);
void AddVariable(const void* host, Binary* binary, const char* name, uint64_t bytes);

// Null if nothing was registered under that address.
Kernel* FindKernel(const void* host);
const DeviceVariable* FindVariable(const void* host);

}  // namespace cooper::cuda_emulator

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_RUNTIME_PROGRAM_H_
