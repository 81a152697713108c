#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_DECLARATIONS_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_DECLARATIONS_H_

// Parses the declarations of a PTX text: everything outside of function bodies.

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "tests/cuda_emulator/ptx/lexer.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/syntax.h"

namespace cooper::ptx {

// The text of a function body.
struct BodyText {
  std::string_view text;  // from "{" to "}"; empty for a declaration
  int line = 0;
};

// The declarations of one PTX text. bodies[i] belongs to functions[i].
struct Declarations {
  std::vector<Function> functions;
  std::vector<BodyText> bodies;  // of functions
  std::vector<Variable> variables;
  std::vector<SharedVariable> shared;
  absl::flat_hash_map<std::string_view, Symbol> names;  // views of the text
};

// Parses `text`, which must outlive the result. Errors: kInvalidArgument, with line and token, if
// it is not PTX.
absl::StatusOr<Declarations> ParseDeclarations(std::string_view text);

// A variable declaration in any space, after the space's name.
struct VariableDeclaration {
  std::string_view name;
  uint64_t size = 0;  // 0 if open: "name[]"
  uint64_t align = 1;
  std::vector<uint8_t> init;
  std::vector<Relocation> relocations;
  bool managed = false;
};

// Parses "[.align N] .type name [dims] [= initialiser]", up to but not including ";" or ",".
absl::StatusOr<VariableDeclaration> ParseVariable(Lexer& lexer);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_DECLARATIONS_H_
