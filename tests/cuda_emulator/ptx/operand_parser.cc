#include "tests/cuda_emulator/ptx/operand_parser.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tests/cuda_emulator/ptx/special.h"

namespace cooper::ptx {
namespace {

// Returns the index in body.shared of a module-level variable; adds it if it is new.
int UseShared(const SharedVariable& variable, Body& body) {
  for (size_t i = 0; i < body.shared.size(); ++i) {
    if (body.shared[i].module_index == variable.module_index) return static_cast<int>(i);
  }
  body.shared.push_back(variable);
  return static_cast<int>(body.shared.size()) - 1;
}

}  // namespace

bool OperandParser::ParseNumber(std::string_view token, Operand& operand) {
  if (token.size() > 2 && token[0] == '0' &&
      (token[1] == 'f' || token[1] == 'F' || token[1] == 'd' || token[1] == 'D')) {
    const bool wide = token[1] == 'd' || token[1] == 'D';
    const std::optional<uint64_t> bits = IntegerOf(std::string("0x").append(token.substr(2)));
    if (!bits || token.size() != (wide ? 18 : 10)) return false;
    operand.kind = wide ? Operand::Kind::kFloat64 : Operand::Kind::kFloat32;
    operand.value = *bits;
    return true;
  }
  const std::optional<uint64_t> integer = IntegerOf(token);
  if (!integer) return false;
  operand.kind = Operand::Kind::kInteger;
  operand.value = *integer;
  return true;
}

absl::Status OperandParser::ParseList(std::string_view end, std::vector<Operand>& operands) {
  while (!lexer_.Take(end)) {
    absl::Status status = Parse(operands.emplace_back());
    if (!status.ok()) return status;
    if (!lexer_.Take(",") && !lexer_.Peek().Is(end)) {
      return SyntaxError(lexer_.Peek(), "expected a comma");
    }
  }
  return absl::OkStatus();
}

absl::Status OperandParser::ParseAddress(Operand& operand) {
  absl::Status status = Parse(operand);
  if (!status.ok()) return status;
  operand.address = true;
  const bool plus = lexer_.Take("+");
  const bool minus = lexer_.Take("-");
  if (plus || minus) {
    const Token offset = lexer_.Next();
    const std::optional<uint64_t> value = IntegerOf(offset.text);
    if (!value) return SyntaxError(offset, "expected an offset");
    operand.value += minus ? 0 - *value : *value;
  }
  if (!lexer_.Take("]")) return SyntaxError(lexer_.Peek(), "expected ]");
  return absl::OkStatus();
}

absl::Status OperandParser::Parse(Operand& operand) {
  if (depth_ > 4) return SyntaxError(lexer_.Peek(), "too deep an operand");
  ++depth_;
  absl::Status status;
  const Token token = lexer_.Next();
  if (token.Is("{")) {
    operand.kind = Operand::Kind::kVector;
    status = ParseList("}", operand.parts);
  } else if (token.Is("[")) {
    status = ParseAddress(operand);
  } else if (token.Is("!")) {
    status = Parse(operand);
    operand.negated = true;
  } else if (token.Is("-")) {
    const Token number = lexer_.Next();
    if (!ParseNumber(number.text, operand) || operand.kind != Operand::Kind::kInteger) {
      status = SyntaxError(number, "expected an integer");
    }
    operand.value = 0 - operand.value;
  } else if (token.kind != Token::Kind::kWord) {
    status = SyntaxError(token, "expected an operand");
  } else if (!ParseNumber(token.text, operand)) {
    status = ParseName(token, operand);
  }
  if (status.ok() && lexer_.Take("|")) {
    Operand first = std::move(operand);
    operand = Operand();
    operand.kind = Operand::Kind::kVector;
    operand.parts.push_back(std::move(first));
    status = Parse(operand.parts.emplace_back());
  }
  --depth_;
  return status;
}

absl::Status OperandParser::ParseName(const Token& token, Operand& operand) {
  if (token.Is("_")) {
    operand.kind = Operand::Kind::kSink;
    return absl::OkStatus();
  }
  if (token.Is("WARP_SZ")) {
    operand.kind = Operand::Kind::kInteger;
    operand.value = 32;
    return absl::OkStatus();
  }
  if (std::optional<Symbol> symbol = scopes_.Find(token.text)) {
    if (symbol->kind == Symbol::Kind::kRegister) {
      operand.kind = Operand::Kind::kRegister;
      operand.index = symbol->index;
      return absl::OkStatus();
    }
    if (symbol->kind == Symbol::Kind::kTargets || symbol->kind == Symbol::Kind::kPrototype) {
      return SyntaxError(token, "expected an operand");
    }
    operand.kind = Operand::Kind::kSymbol;
    operand.symbol = *symbol;
    return absl::OkStatus();
  }
  if (const std::optional<Special> special = SpecialOfName(token.text)) {
    operand.kind = Operand::Kind::kSpecial;
    operand.index = static_cast<int>(*special);
    return absl::OkStatus();
  }
  const auto found = declarations_.names.find(token.text);
  if (found == declarations_.names.end()) return SyntaxError(token, "unknown name");
  operand.kind = Operand::Kind::kSymbol;
  operand.symbol = found->second;
  if (operand.symbol.kind == Symbol::Kind::kShared) {
    const auto& variable = declarations_.shared[static_cast<size_t>(operand.symbol.index)];
    operand.symbol.index = UseShared(variable, body_);
  }
  return absl::OkStatus();
}

}  // namespace cooper::ptx
