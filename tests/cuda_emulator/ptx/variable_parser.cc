#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/cuda_emulator/ptx/declarations.h"
#include "tests/cuda_emulator/ptx/lexer.h"
#include "tests/cuda_emulator/ptx/module.h"
#include "tests/cuda_emulator/ptx/types.h"

namespace cooper::ptx {
namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 32;

// Parses an initialiser after "=". Numbers fill elements in order. Nested braces are ignored,
// because nvcc writes all elements.
absl::Status ParseInitialiser(Lexer& lexer, uint64_t element, VariableDeclaration& variable) {
  variable.init.assign(variable.size, 0);
  uint64_t at = 0;
  int depth = 0;
  do {
    const Token token = lexer.Peek();
    if (token.kind == Token::Kind::kEnd) return SyntaxError(token, "an initialiser has no end");
    if (lexer.Take("{")) {
      ++depth;
      continue;
    }
    if (lexer.Take("}")) {
      --depth;
      continue;
    }
    if (lexer.Take(",")) continue;
    if (at + element > variable.size) return SyntaxError(token, "too many initial values");
    const bool minus = lexer.Take("-");
    const Token word = lexer.Next();
    uint64_t value = 0;
    std::string_view symbol;
    if (std::optional<uint64_t> integer = IntegerOf(word.text)) {
      value = *integer;
    } else if (word.text.size() > 2 && word.text[0] == '0') {  // 0f3F800000, 0d...
      std::optional<uint64_t> bits = IntegerOf(std::string("0x").append(word.text.substr(2)));
      if (!bits) return SyntaxError(word, "expected a value");
      value = *bits;
    } else if (word.text == "generic" || word.text == "mask") {
      if (word.text == "mask") return absl::UnimplementedError("PTX: mask() in an initialiser");
      if (!lexer.Take("(")) return SyntaxError(lexer.Peek(), "expected (");
      symbol = lexer.Next().text;
      if (!lexer.Take(")")) return SyntaxError(lexer.Peek(), "expected )");
    } else if (word.kind == Token::Kind::kWord) {
      symbol = word.text;
    } else {
      return SyntaxError(word, "expected a value");
    }
    if (minus) value = 0 - value;
    if (!symbol.empty()) {
      if (lexer.Take("+")) {
        const Token addend = lexer.Next();
        const std::optional<uint64_t> integer = IntegerOf(addend.text);
        if (!integer) return SyntaxError(addend, "expected an offset");
        value = *integer;
      }
      variable.relocations.push_back(
          {at, std::string(symbol), value, static_cast<int>(std::min<uint64_t>(element, 8))});
    } else {
      std::memcpy(variable.init.data() + at, &value, std::min<uint64_t>(element, sizeof(value)));
    }
    at += element;
  } while (depth > 0);
  return absl::OkStatus();
}

// Parses "(...)" after .attribute.
absl::Status ParseAttributes(Lexer& lexer, VariableDeclaration& variable) {
  if (!lexer.Take("(")) return SyntaxError(lexer.Peek(), "expected (");
  while (!lexer.Take(")")) {
    const Token token = lexer.Next();
    if (token.kind == Token::Kind::kEnd) return SyntaxError(token, "expected )");
    if (token.Is(".managed")) variable.managed = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<VariableDeclaration> ParseVariable(Lexer& lexer) {
  VariableDeclaration variable;
  std::optional<Type> type;
  uint64_t lanes = 1;
  while (!type) {
    const Token token = lexer.Next();
    if (token.Is(".align")) {
      const Token number = lexer.Next();
      const std::optional<uint64_t> align = IntegerOf(number.text);
      if (!align || *align == 0 || *align > 4096 || (*align & (*align - 1)) != 0) {
        return SyntaxError(number, "expected an alignment");
      }
      variable.align = *align;
    } else if (token.Is(".attribute")) {
      if (absl::Status status = ParseAttributes(lexer, variable); !status.ok()) return status;
    } else if (token.Is(".v2") || token.Is(".v4")) {
      lanes = token.text == ".v2" ? 2 : 4;
    } else if (token.text.substr(0, 1) == "." && TypeOfName(token.text.substr(1))) {
      type = TypeOfName(token.text.substr(1));
    } else {
      return SyntaxError(token, "expected the type of a variable");
    }
  }
  const uint64_t element = static_cast<uint64_t>(SizeOf(*type));
  variable.align = std::max(variable.align, element * lanes);
  const Token name = lexer.Next();
  if (name.kind != Token::Kind::kWord) return SyntaxError(name, "expected a name");
  variable.name = name.text;
  uint64_t count = lanes;
  while (lexer.Take("[")) {
    if (lexer.Take("]")) {
      count = 0;
      continue;
    }
    const Token number = lexer.Next();
    const std::optional<uint64_t> extent = IntegerOf(number.text);
    if (!extent || *extent > kMaxBytes) return SyntaxError(number, "expected an extent");
    count *= *extent;
    if (count > kMaxBytes) return SyntaxError(number, "too large a variable");
    if (!lexer.Take("]")) return SyntaxError(lexer.Peek(), "expected ]");
  }
  variable.size = element * count;
  if (lexer.Take("=")) {
    // Malformed texts may request gigabytes of zeros, which would crash the parser.
    if (variable.size > (uint64_t{1} << 28)) return SyntaxError(name, "too large an initialiser");
    if (absl::Status status = ParseInitialiser(lexer, element, variable); !status.ok()) {
      return status;
    }
  }
  return variable;
}

}  // namespace cooper::ptx
