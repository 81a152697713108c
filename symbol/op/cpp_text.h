#ifndef COOPER_SYMBOL_OP_CPP_TEXT_H_
#define COOPER_SYMBOL_OP_CPP_TEXT_H_

// Formats C++ text for code generators: names, literals, comments and lines of at most 100 columns.
// Knows nothing of operators.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cooper {

// Returns `text` as `//` lines with the given indent, wrapped between words.
std::string CommentLines(absl::string_view text, absl::string_view indent);

// Returns `line`, a member of a struct, with its comment: at its end if it fits, else before it.
std::string CommentedLine(const std::string& line, const std::string& comment);

// Converts "softmax_cross_entropy" to "SoftmaxCrossEntropy"; keeps "SoftmaxOutput".
std::string CamelCase(absl::string_view name);

// Returns the text as a string literal, with quotes and escapes.
std::string Quoted(absl::string_view text);

// Converts "float32" to "DType::kFloat32".
std::string DTypeLiteral(absl::string_view name);

// Converts a printed number to a literal of type double: "1" -> "1.0"; infinity and NaN become
// members of std::numeric_limits.
std::string FloatLiteral(const std::string& text);

// Returns `before`, the elements separated by commas, and `after`, wrapped to the line length;
// later lines are indented to the first element. Leaves room for " {" or ";" at the end.
std::string Wrapped(const std::string& before, const std::vector<std::string>& elements,
                    absl::string_view after);

// Returns "cooper::op" for an empty scope, else "cooper::op::SCOPE".
std::string NamespaceOf(const std::string& scope);

// Builds text in namespaces under cooper::op, opening and closing them as the scope changes.
class ScopedText {
 public:
  // Appends text in the namespace NamespaceOf(scope).
  void Append(const std::string& scope, absl::string_view text);
  // Returns the whole text with the last namespace closed, and clears it.
  std::string Finish();

 private:
  void Close();

  std::string text_;
  std::string scope_;
  bool open_ = false;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OP_CPP_TEXT_H_
