#ifndef COOPER_SYMBOL_OP_ATTRIBUTE_H_
#define COOPER_SYMBOL_OP_ATTRIBUTE_H_

// Types for the options of operator functions, in addition to C++'s own. The generated headers
// symbol/op/<family>.h use them in their option structs; node_builder.h turns them into attributes.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "symbol/schema/attr_values.h"
#include "symbol/schema/param_text.h"

namespace cooper::op {

// An attribute of several integers, each of which may be absent: {3, 3}, {std::nullopt, 2}, or a
// vector. A single number is accepted if the operator accepts one (axis = 1). A default-constructed
// Tuple leaves the attribute out, so that the operator's default applies. A plain value that holds
// the attribute's text. {3} is a tuple of one element, 3 a single number.
class Tuple {
 public:
  Tuple() = default;
  Tuple(int64_t value) : text_(PrintParamText(value)) {}  // NOLINT: as the attribute is written
  Tuple(std::nullopt_t) : text_("None") {}                // NOLINT
  Tuple(std::initializer_list<std::optional<int64_t>> values)
      : text_(PrintParamText(std::vector<std::optional<int64_t>>(values))) {}
  Tuple(const std::vector<int64_t>& values) : text_(PrintParamText(values)) {}  // NOLINT

  // Returns the text of a symbol file, "(3, 3)"; empty if the attribute is not set.
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The options of an operator without parameters. Attributes without the form __x__ are refused when
// the node is made, as unknown parameters.
struct NodeOptions {
  std::string name = {};  // empty: an automatic one, "relu0"
  AttrValues attrs = {};  // attributes by name, such as __lr_mult__
};

}  // namespace cooper::op

#endif  // COOPER_SYMBOL_OP_ATTRIBUTE_H_
