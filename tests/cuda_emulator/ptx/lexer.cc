#include "tests/cuda_emulator/ptx/lexer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "tests/cuda_emulator/ptx/concat.h"

namespace cooper::ptx {
namespace {

bool IsWord(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%' ||
         c == '.';
}

}  // namespace

bool Lexer::SkipComment() {
  const std::string_view rest = text_.substr(at_);
  if (rest.substr(0, 2) == "//") {
    const size_t end = text_.find('\n', at_);
    at_ = end == std::string_view::npos ? text_.size() : end;
    return true;
  }
  if (rest.substr(0, 2) != "/*") return false;
  size_t end = text_.find("*/", at_ + 2);
  end = end == std::string_view::npos ? text_.size() : end + 2;
  for (; at_ < end; ++at_) line_ += text_[at_] == '\n';
  return true;
}

void Lexer::SkipSpace() {
  while (at_ < text_.size()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) {
      line_ += text_[at_] == '\n';
      ++at_;
    } else if (!SkipComment()) {
      return;
    }
  }
}

Token Lexer::Scan() {
  SkipSpace();
  Token token{Token::Kind::kEnd, text_.substr(text_.size()), line_};
  if (at_ >= text_.size()) return token;
  const size_t begin = at_;
  if (text_[at_] == '"') {
    token.kind = Token::Kind::kString;
    const size_t end = text_.find('"', at_ + 1);
    at_ = end == std::string_view::npos ? text_.size() : end + 1;
    for (size_t i = begin; i < at_; ++i) line_ += text_[i] == '\n';
  } else if (IsWord(text_[at_])) {
    token.kind = Token::Kind::kWord;
    while (at_ < text_.size()) {
      if (IsWord(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_, 2) == "::") {  // ".shared::cta"
        at_ += 2;
      } else {
        break;
      }
    }
  } else {
    token.kind = Token::Kind::kMark;
    ++at_;
  }
  token.text = text_.substr(begin, at_ - begin);
  return token;
}

void Lexer::Advance() {
  for (;;) {
    token_ = Scan();
    if (token_.Is(".loc") || token_.Is(".file")) {  // they end with their line
      const size_t end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end;
    } else if (token_.Is(".section")) {
      while (token_.kind != Token::Kind::kEnd && !token_.Is("{")) token_ = Scan();
      while (token_.kind != Token::Kind::kEnd && !token_.Is("}")) token_ = Scan();
    } else {
      return;
    }
  }
}

Token Lexer::Next() {
  const Token token = token_;
  Advance();
  return token;
}

bool Lexer::Take(std::string_view text) {
  if (!token_.Is(text)) return false;
  Advance();
  return true;
}

bool Lexer::SkipPast(std::string_view text) {
  while (token_.kind != Token::Kind::kEnd) {
    if (Take(text)) return true;
    Advance();
  }
  return false;
}

std::optional<std::string_view> Lexer::SkipBraces() {
  const size_t begin = static_cast<size_t>(token_.text.data() - text_.data());
  int depth = 1;
  while (at_ < text_.size() && depth > 0) {
    const char c = text_[at_];
    if (c == '/' && SkipComment()) continue;
    if (c == '"') {
      const size_t end = text_.find('"', at_ + 1);
      if (end == std::string_view::npos) return std::nullopt;
      for (; at_ < end; ++at_) line_ += text_[at_] == '\n';
    } else if (c == '\n') {
      ++line_;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}') {
      --depth;
    }
    ++at_;
  }
  if (depth > 0) return std::nullopt;
  const std::string_view body = text_.substr(begin, at_ - begin);
  Advance();
  return body;
}

std::optional<uint64_t> IntegerOf(std::string_view word) {
  if (!word.empty() && (word.back() == 'U' || word.back() == 'u')) word.remove_suffix(1);
  if (word.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(word[0]))) return {};
  uint64_t base = 10;
  if (word.size() > 1 && word[0] == '0') {
    const char kind = absl::ascii_tolower(static_cast<unsigned char>(word[1]));
    base = kind == 'x' ? 16 : kind == 'b' ? 2 : 8;
    word.remove_prefix(base == 8 ? 1 : 2);
    if (word.empty()) return {};
  }
  uint64_t value = 0;
  for (char c : word) {
    c = absl::ascii_tolower(static_cast<unsigned char>(c));
    uint64_t digit = 99;
    if (c >= '0' && c <= '9') digit = static_cast<uint64_t>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<uint64_t>(c - 'a') + 10;
    if (digit >= base) return {};
    value = value * base + digit;
  }
  return value;
}

absl::Status SyntaxError(const Token& token, std::string_view what) {
  std::string_view text = token.kind == Token::Kind::kEnd ? "the end" : token.text;
  return absl::InvalidArgumentError(
      Concat("PTX line ", token.line, ": ", what, " at '", text.substr(0, 80), "'"));
}

}  // namespace cooper::ptx
