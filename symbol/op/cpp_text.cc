#include "symbol/op/cpp_text.h"

#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace cooper {
namespace {

constexpr size_t kLineLength = 100;

}  // namespace

std::string CommentLines(absl::string_view text, absl::string_view indent) {
  std::string lines;
  std::string line = absl::StrCat(indent, "//");
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty())) {
    if (line.size() + 1 + word.size() > kLineLength) {
      absl::StrAppend(&lines, line, "\n");
      line = absl::StrCat(indent, "//");
    }
    absl::StrAppend(&line, " ", word);
  }
  return absl::StrCat(lines, line, "\n");
}

std::string CommentedLine(const std::string& line, const std::string& comment) {
  if (line.size() + 5 + comment.size() <= kLineLength) {
    return absl::StrCat(line, "  // ", comment, "\n");
  }
  return absl::StrCat(CommentLines(comment, "  "), line, "\n");
}

std::string CamelCase(absl::string_view name) {
  std::string camel;
  bool upper = true;
  for (const char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    camel.push_back(upper ? absl::ascii_toupper(static_cast<unsigned char>(c)) : c);
    upper = false;
  }
  return camel;
}

std::string Quoted(absl::string_view text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\\", "\\\\"}, {"\"", "\\\""}}), "\"");
}

std::string DTypeLiteral(absl::string_view name) {
  return absl::StrCat("DType::k", CamelCase(name));
}

std::string FloatLiteral(const std::string& text) {
  if (absl::StrContains(text, "inf") || absl::StrContains(text, "nan")) {
    return absl::StrCat("std::numeric_limits<double>::",
                        absl::StrContains(text, "nan") ? "quiet_NaN()" : "infinity()");
  }
  return absl::StrContains(text, ".") || absl::StrContains(text, "e") ? text : text + ".0";
}

std::string Wrapped(const std::string& before, const std::vector<std::string>& elements,
                    absl::string_view after) {
  const std::string indent(before.size(), ' ');
  std::string text = before;
  size_t column = before.size();
  for (size_t i = 0; i < elements.size(); ++i) {
    const bool last = i + 1 == elements.size();
    // Leaves room for " {" or ";".
    const size_t width = elements[i].size() + (last ? after.size() + 2 : 2);
    if (i > 0 && column + width > kLineLength) {
      text.pop_back();
      absl::StrAppend(&text, "\n", indent);
      column = indent.size();
    }
    absl::StrAppend(&text, elements[i], last ? after : ", ");
    column += width;
  }
  return text;
}

std::string NamespaceOf(const std::string& scope) {
  return absl::StrCat("cooper::op", scope.empty() ? "" : "::", scope);
}

void ScopedText::Append(const std::string& scope, absl::string_view text) {
  if (!open_ || scope != scope_) {
    Close();
    absl::StrAppend(&text_, "namespace ", NamespaceOf(scope), " {\n\n");
    open_ = true;
    scope_ = scope;
  }
  absl::StrAppend(&text_, text);
}

std::string ScopedText::Finish() {
  Close();
  return std::exchange(text_, "");
}

void ScopedText::Close() {
  if (open_) absl::StrAppend(&text_, "\n}  // namespace ", NamespaceOf(scope_), "\n\n");
  open_ = false;
}

}  // namespace cooper
