#ifndef COOPER_SYMBOL_OP_ATTRIBUTE_H_
#define COOPER_SYMBOL_OP_ATTRIBUTE_H_

// The types that the options of an operator's function have beside those of C++ itself.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbol/schema/attr_values.h"
#include "symbol/schema/param_text.h"

namespace cooper::op {

// An attribute of several integers, any of which may be absent: {3, 3}, {std::nullopt, 2}, an
// absl::Span's or vector's. A number alone is one where an operator takes both (axis = 1). One that
// nobody sets leaves the attribute out, so that the operator's default holds.
class Tuple {
 public:
  Tuple() = default;
  Tuple(int64_t value) : text_(PrintParamText(value)) {}  // NOLINT: as the attribute is written
  Tuple(std::nullopt_t) : text_("None") {}                // NOLINT
  Tuple(std::initializer_list<std::optional<int64_t>> values)
      : text_(PrintParamText(std::vector<std::optional<int64_t>>(values))) {}
  Tuple(const std::vector<int64_t>& values) : text_(PrintParamText(values)) {}  // NOLINT

  // As a symbol file has it, "(3, 3)"; empty if nobody set it.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The options of an operator that has no others.
struct NodeOptions {
  std::string name = {};  // empty: an automatic one, "relu0"
  AttrValues attrs = {};  // attributes by name, such as __lr_mult__
};

}  // namespace cooper::op

#endif  // COOPER_SYMBOL_OP_ATTRIBUTE_H_
