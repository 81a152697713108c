#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_MODULE_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_MODULE_H_

// A PTX module: the functions and variables that one PTX text declares, as NVIDIA's "Parallel
// Thread Execution ISA" describes them. run.h runs its kernels.
//
// A text may hold many hundreds of kernels of which a program launches a few, so Parse() reads
// declarations only. A body is parsed and decoded when its function is first described or run, and
// kept. A module holds no device memory: who runs kernels gives each variable an address, so that
// several devices can share one module. Sizes and offsets are in bytes, lines count from 1.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "third_party/cuda/emulator/ptx/types.h"

namespace cooper::ptx {

struct Code;  // a decoded body: program.h

struct Param {
  std::string name;
  uint64_t offset = 0;  // in the bytes that Run() takes
  uint64_t size = 0;
  uint64_t align = 1;
};

// What a text says of a function outside of its body.
struct Function {
  std::string name;
  bool entry = false;    // a kernel
  bool defined = false;  // has a body; declarations of other modules' functions have none
  int line = 0;
  std::vector<Param> params;
  std::vector<Param> results;  // of a device function; offsets count from 0 again
  uint64_t param_bytes = 0;    // the end of the last parameter
  uint64_t result_bytes = 0;
  int max_threads = 0;  // of a block, from .maxntid or .reqntid (their product); 0: not said
};

// What running a function takes.
struct Resources {
  uint64_t shared_bytes = 0;  // static shared memory: its own, and what it can call uses
  uint64_t local_bytes = 0;   // local memory of one thread, for this function alone
  int registers = 0;          // virtual registers: ptxas's count is not known here
};

// A pointer in an initialiser: the address of `symbol` plus `addend` is written at `offset`.
struct Relocation {
  uint64_t offset = 0;
  std::string symbol;
  uint64_t addend = 0;
  int bytes = 8;
};

// A variable in global or constant memory.
struct Variable {
  std::string name;
  Space space = Space::kGlobal;  // or kConst
  uint64_t size = 0;
  uint64_t align = 1;
  std::vector<uint8_t> init;  // `size` bytes, or none: then the variable starts as zeros
  std::vector<Relocation> relocations;
  bool is_extern = false;  // defined in another module
  bool managed = false;    // .attribute(.managed)
};

// Thread-safe: one module may be described and run by several threads at once.
class Module {
 public:
  // Reads the declarations of `text`. Linear in its length; a body costs a scan for its end.
  //
  // Fails with kInvalidArgument, naming line and token, if the text is no PTX.
  static absl::StatusOr<std::unique_ptr<Module>> Parse(std::string text);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // In the order of the text.
  absl::Span<const Function> functions() const;
  absl::Span<const Variable> variables() const;

  // Null if there is none of that name.
  const Function* FindFunction(std::string_view name) const;
  const Variable* FindVariable(std::string_view name) const;

  // Parses the body of `name` and of everything that it can call, if that has not been done yet.
  //
  // kNotFound: no function of that name has a body. kInvalidArgument: bad PTX. kUnimplemented: an
  // instruction that the interpreter lacks. The message names function, line and instruction.
  absl::StatusOr<Resources> Describe(std::string_view name) const;

  // The first bytes of variables()[index], with relocations applied: addresses[i] is where
  // variables()[i] lies. Fails with kNotFound if a relocation names an unknown symbol.
  absl::StatusOr<std::vector<uint8_t>> InitialBytes(int index,
                                                    absl::Span<const uint64_t> addresses) const;

  // The decoded body, for run.h: as Describe().
  absl::StatusOr<const Code*> FindCode(std::string_view name) const;

 private:
  struct State;
  explicit Module(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_MODULE_H_
