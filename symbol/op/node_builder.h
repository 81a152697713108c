#ifndef COOPER_SYMBOL_OP_NODE_BUILDER_H_
#define COOPER_SYMBOL_OP_NODE_BUILDER_H_

// Creates the node of an operator from typed values. The generated functions of symbol/op use it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "ndarray/base/dtype.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/attribute.h"
#include "symbol/schema/attr_values.h"

namespace cooper::op {

// Collects the inputs and attributes of one node. Calls are made in the order of the inputs; errors
// are found by Make. Used for one call and discarded. Values become the texts of symbol files, so a
// node made in C++ equals one that was loaded.
class NodeBuilder {
 public:
  // `op` is the operator's name or alias, `hint` the stem of an automatic name, `name` the node's
  // name (empty: an automatic one), `attrs` further attributes, which Attr overrides. `op` must
  // outlive the builder.
  NodeBuilder(const char* op, const char* hint, const std::string& name, const AttrValues& attrs);

  // Adds the input called `name`.
  void Input(const char* name, const Symbol& symbol);
  // Adds the input unless `symbol` is empty: without outputs and without an error.
  void OptionalInput(const char* name, const Symbol& symbol);
  // Sets the inputs of an operator that takes any number of them.
  void Inputs(absl::Span<const Symbol> symbols);

  // Adds an attribute unless it equals its default.
  void Attr(const char* name, bool value, bool absent);
  void Attr(const char* name, int64_t value, int64_t absent);
  void Attr(const char* name, double value, double absent);
  void Attr(const char* name, DType value, DType absent);
  void Attr(const char* name, const std::string& value, const char* absent);
  // Adds an attribute if it is set.
  void Attr(const char* name, const Tuple& value);
  void Attr(const char* name, const std::vector<double>& value);
  void Attr(const char* name, const std::optional<bool>& value);
  void Attr(const char* name, const std::optional<int64_t>& value);
  void Attr(const char* name, const std::optional<double>& value);
  void Attr(const char* name, const std::optional<DType>& value);
  void Attr(const char* name, const std::optional<std::string>& value);

  // Returns the node's outputs, or a symbol that keeps the error of Symbol::Create.
  Symbol Make() const { return Symbol::Keep(Symbol::Create(op_, args_)); }

 private:
  const char* op_;
  OpArgs args_;
};

}  // namespace cooper::op

#endif  // COOPER_SYMBOL_OP_NODE_BUILDER_H_
