#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_MODULE_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_MODULE_H_

// A PTX module: the functions and variables that one PTX text declares, as in NVIDIA's "Parallel
// Thread Execution ISA". run.h runs its kernels.
//
// A text may hold many hundreds of kernels of which a program launches a few, so Parse() reads only
// declarations. A body is parsed and decoded when its function is first described or run, and then
// cached. A module owns no device memory: the caller gives each variable an address, so that
// several devices can share one module. Sizes and offsets are in bytes, lines count from 1.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {

struct Code;  // a decoded body: program.h

// A parameter or a result of a function.
struct Param {
  std::string name;
  uint64_t offset = 0;  // in the parameter bytes that Run() takes
  uint64_t size = 0;
  uint64_t align = 1;
};

// The declaration of a function.
struct Function {
  std::string name;
  bool entry = false;    // a kernel
  bool defined = false;  // has a body; declarations of other modules' functions have none
  int line = 0;
  std::vector<Param> params;
  std::vector<Param> results;  // of a device function; offsets start at 0
  uint64_t param_bytes = 0;    // the end of the last parameter
  uint64_t result_bytes = 0;
  int max_threads = 0;  // of a block, from .maxntid or .reqntid (their product); 0: not given
};

// The resources that a function needs.
struct Resources {
  uint64_t shared_bytes = 0;  // static shared memory, including that of its callees
  uint64_t local_bytes = 0;   // local memory of one thread, without callees
  int registers = 0;          // virtual registers; the interpreter does not know ptxas's count
};

// A pointer in an initialiser: the address of `symbol` plus `addend`, stored at `offset`.
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
  std::vector<uint8_t> init;  // `size` bytes; or empty, for zeros
  std::vector<Relocation> relocations;
  bool is_extern = false;  // defined in another module
  bool managed = false;    // .attribute(.managed)
};

// A parsed module. Thread-safe: several threads may describe and run one module at once.
class Module {
 public:
  // Parses the declarations of `text`. Linear in its length; a body costs a scan for its end.
  //
  // Errors: kInvalidArgument, naming line and token, if the text is not PTX.
  static absl::StatusOr<std::unique_ptr<Module>> Parse(std::string text);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Return the declarations in the order of the text.
  absl::Span<const Function> functions() const;
  absl::Span<const Variable> variables() const;

  // Return the declaration of that name, or null.
  const Function* FindFunction(std::string_view name) const;
  const Variable* FindVariable(std::string_view name) const;

  // Parses the bodies of `name` and of its callees, if not cached, and returns the resources of
  // `name`.
  //
  // Errors: kNotFound if no function of that name has a body; kInvalidArgument for bad PTX;
  // kUnimplemented for an instruction that the interpreter lacks. The message names function, line
  // and instruction.
  absl::StatusOr<Resources> Describe(std::string_view name) const;

  // Returns the initial bytes of variables()[index], with relocations applied; addresses[i] is the
  // address of variables()[i]. Errors: kNotFound if a relocation names an unknown symbol.
  absl::StatusOr<std::vector<uint8_t>> InitialBytes(int index,
                                                    absl::Span<const uint64_t> addresses) const;

  // Returns the decoded body, for run.h. Errors: those of Describe().
  absl::StatusOr<const Code*> FindCode(std::string_view name) const;

 private:
  struct State;
  explicit Module(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_MODULE_H_
