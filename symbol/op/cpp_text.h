#ifndef COOPER_SYMBOL_OP_CPP_TEXT_H_
#define COOPER_SYMBOL_OP_CPP_TEXT_H_

// C++ as text, for what generates it: names, literals, comments and lines of at most 100 columns.
// It knows nothing of operators.

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cooper {

// `text` as lines of `//` behind `indent`, broken between words.
std::string CommentLines(absl::string_view text, absl::string_view indent);

// `line`, a member of a struct, with its comment: behind it where there is room, else before it.
std::string CommentedLine(const std::string& line, const std::string& comment);

// "softmax_cross_entropy" -> "SoftmaxCrossEntropy"; "SoftmaxOutput" stays.
std::string CamelCase(absl::string_view name);

// "a\"b" with its quotes and what has to be escaped in them.
std::string Quoted(absl::string_view text);

// "float32" -> "DType::kFloat32".
std::string DTypeLiteral(absl::string_view name);

// A number as it is printed for a user -> a literal of type double: "1" -> "1.0"; infinity and NaN
// are members of std::numeric_limits.
std::string FloatLiteral(const std::string& text);

// `before`, the elements with commas between them and `after`, in lines as wide as can be, the
// later ones indented to where the first element stands. Leaves room for " {" or ";" behind it.
std::string Wrapped(const std::string& before, const std::vector<std::string>& elements,
                    absl::string_view after);

// "cooper::op" for an empty scope, else "cooper::op::SCOPE".
std::string NamespaceOf(const std::string& scope);

// Text in namespaces of cooper::op, each opened when it begins and closed when another does.
class ScopedText {
 public:
  void Append(const std::string& scope, absl::string_view text);
  // All of it, with the last namespace closed; nothing is left.
  std::string Finish();

 private:
  void Close();

  std::string text_;
  std::string scope_;
  bool open_ = false;
};

}  // namespace cooper

#endif  // COOPER_SYMBOL_OP_CPP_TEXT_H_
