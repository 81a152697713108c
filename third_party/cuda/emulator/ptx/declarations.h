#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_DECLARATIONS_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_DECLARATIONS_H_

// The declarations of a PTX text: everything outside of function bodies.

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "third_party/cuda/emulator/ptx/lexer.h"
#include "third_party/cuda/emulator/ptx/module.h"
#include "third_party/cuda/emulator/ptx/syntax.h"

namespace cooper::ptx {

struct BodyText {
  std::string_view text;  // from "{" to "}"; empty for a declaration
  int line = 0;
};

struct Declarations {
  std::vector<Function> functions;
  std::vector<BodyText> bodies;  // of functions
  std::vector<Variable> variables;
  std::vector<SharedVariable> shared;
  absl::flat_hash_map<std::string_view, Symbol> names;  // views of the text
};

// Reads `text`, which has to stay. kInvalidArgument, with line and token, if it is no PTX.
absl::StatusOr<Declarations> ParseDeclarations(std::string_view text);

// A variable as it is declared in any space, behind the space's name.
struct VariableDeclaration {
  std::string_view name;
  uint64_t size = 0;  // 0 if open: "name[]"
  uint64_t align = 1;
  std::vector<uint8_t> init;
  std::vector<Relocation> relocations;
  bool managed = false;
};

// Reads "[.align N] .type name [dims] [= initialiser]", up to before ";" or ",".
absl::StatusOr<VariableDeclaration> ParseVariable(Lexer& lexer);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_DECLARATIONS_H_
