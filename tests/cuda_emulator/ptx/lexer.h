#ifndef COOPER_TESTS_CUDA_EMULATOR_PTX_LEXER_H_
#define COOPER_TESTS_CUDA_EMULATOR_PTX_LEXER_H_

// Splits a PTX text into tokens and skips comments and debug directives (.loc, .file, .section).
// Tokens are views of the text, which must outlive them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"

namespace cooper::ptx {

// A token with its line.
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

// Reads tokens one after another. Copyable; never fails.
class Lexer {
 public:
  explicit Lexer(std::string_view text, int line = 1) : text_(text), line_(line) { Advance(); }

  // Returns the token that Next() will return; kEnd after the last one.
  const Token& Peek() const { return token_; }
  // Returns the current token and advances.
  Token Next();
  // Calls Next() and returns true if the token is `text`.
  bool Take(std::string_view text);
  // Skips everything up to and including `text`; returns false if it does not occur.
  bool SkipPast(std::string_view text);
  // Requires that Peek() is "{". Returns the text from it to the matching brace, and continues
  // after that. Faster than tokens. Returns nothing if the brace is not closed.
  std::optional<std::string_view> SkipBraces();

 private:
  void Advance();
  // Scans the next token, including debug directives.
  Token Scan();
  void SkipSpace();
  bool SkipComment();

  std::string_view text_;
  size_t at_ = 0;
  int line_;
  Token token_;
};

// Returns the value of an integer literal (decimal, octal, hexadecimal or binary, with or without
// U), or nothing if `word` is not one.
std::optional<uint64_t> IntegerOf(std::string_view word);

// Returns kInvalidArgument "PTX line N: <what> at '<token>'".
absl::Status SyntaxError(const Token& token, std::string_view what);

}  // namespace cooper::ptx

#endif  // COOPER_TESTS_CUDA_EMULATOR_PTX_LEXER_H_
