#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_OPERAND_PARSER_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_OPERAND_PARSER_H_

// Reads operands of instructions and looks their names up.

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "third_party/cuda/emulator/ptx/declarations.h"
#include "third_party/cuda/emulator/ptx/lexer.h"
#include "third_party/cuda/emulator/ptx/scopes.h"
#include "third_party/cuda/emulator/ptx/syntax.h"

namespace cooper::ptx {

class OperandParser {
 public:
  // Variables of the module in shared memory are added to body.shared when they are first named.
  OperandParser(Lexer& lexer, const Scopes& scopes, const Declarations& declarations, Body& body)
      : lexer_(lexer), scopes_(scopes), declarations_(declarations), body_(body) {}

  absl::Status Parse(Operand& operand);
  // Operands with commas between them, up to and with `end`.
  absl::Status ParseList(std::string_view end, std::vector<Operand>& operands);

 private:
  absl::Status ParseAddress(Operand& operand);
  absl::Status ParseName(const Token& token, Operand& operand);
  // Sets a number, if `token` is one.
  static bool ParseNumber(std::string_view token, Operand& operand);

  Lexer& lexer_;
  const Scopes& scopes_;
  const Declarations& declarations_;
  Body& body_;
  int depth_ = 0;
};

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_OPERAND_PARSER_H_
