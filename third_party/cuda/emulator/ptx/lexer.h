#ifndef COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_LEXER_H_
#define COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_LEXER_H_

// Splits a PTX text into tokens, leaving out comments and what serves debuggers only (.loc, .file,
// .section). Tokens are views of the text, which has to stay.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"

namespace cooper::ptx {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kWord,    // a name, number, directive, or instruction with its modifiers: "ld.global.v2.f32"
    kString,  // with its quotes
    kMark,    // one character
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  int line = 0;

  bool Is(std::string_view other) const { return kind != Kind::kEnd && text == other; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text, int line = 1) : text_(text), line_(line) { Advance(); }

  // The token that Next() returns. kEnd behind the last one, for ever.
  const Token& Peek() const { return token_; }
  Token Next();
  // Next() if the token is `text`.
  bool Take(std::string_view text);
  // Passes over everything up to `text` and that too; false if it does not come.
  bool SkipPast(std::string_view text);
  // Peek() is "{": returns the text from there to the brace that closes it, and goes on behind it.
  // Faster than tokens. None if it is not closed.
  std::optional<std::string_view> SkipBraces();

 private:
  void Advance();
  // The next token, debuggers' ones too.
  Token Scan();
  void SkipSpace();
  bool SkipComment();

  std::string_view text_;
  size_t at_ = 0;
  int line_;
  Token token_;
};

// The value of an integer literal (decimal, octal, hexadecimal or binary, with or without U); none
// if `word` is none.
std::optional<uint64_t> IntegerOf(std::string_view word);

// kInvalidArgument "PTX line N: <what> at '<token>'".
absl::Status SyntaxError(const Token& token, std::string_view what);

}  // namespace cooper::ptx

#endif  // COOPER_THIRD_PARTY_CUDA_EMULATOR_PTX_LEXER_H_
