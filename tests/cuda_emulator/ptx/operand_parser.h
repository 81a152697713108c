#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_OPERAND_PARSER_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_OPERAND_PARSER_H_

// Parses operands of instructions and resolves their names.

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/declarations.h"
#include "tests/cuda_emulator/ptx/lexer.h"
#include "tests/cuda_emulator/ptx/scopes.h"
#include "tests/cuda_emulator/ptx/syntax.h"

namespace cooper::ptx {

// Parses the operands of one body. Refers to its arguments, which must outlive it.
class OperandParser {
 public:
  // Shared variables of the module are added to body.shared when they are first named.
  OperandParser(Lexer& lexer, const Scopes& scopes, const Declarations& declarations, Body& body)
      : lexer_(lexer), scopes_(scopes), declarations_(declarations), body_(body) {}

  // Parses one operand. Errors: kInvalidArgument, with line and token.
  absl::Status Parse(Operand& operand);
  // Parses operands separated by commas, up to and including `end`.
  absl::Status ParseList(std::string_view end, std::vector<Operand>& operands);

 private:
  absl::Status ParseAddress(Operand& operand);
  absl::Status ParseName(const Token& token, Operand& operand);
  // Sets a number and returns true, if `token` is a number.
  static bool ParseNumber(std::string_view token, Operand& operand);

  Lexer& lexer_;
  const Scopes& scopes_;
  const Declarations& declarations_;
  Body& body_;
  int depth_ = 0;
};

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_OPERAND_PARSER_H_
