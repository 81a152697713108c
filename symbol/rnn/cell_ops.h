#ifndef COOPER_SYMBOL_RNN_CELL_OPS_H_
#define COOPER_SYMBOL_RNN_CELL_OPS_H_

// The operators that cells use, under the names by which MXNet's cells call them: automatic node
// names ("_plus0", "_mul1") are derived from these, and files of MXNet and cooper then have the
// same names. Errors are those of Symbol::Create.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "symbol/graph/symbol.h"

namespace cooper {

// Returns a + b, elementwise.
inline absl::StatusOr<Symbol> Plus(const Symbol& a, const Symbol& b, const std::string& name = "") {
  return Symbol::Create("_plus", {.name = name, .inputs = {a, b}});
}

// Returns a * b, elementwise.
inline absl::StatusOr<Symbol> Multiply(const Symbol& a, const Symbol& b,
                                       const std::string& name = "") {
  return Symbol::Create("_mul", {.name = name, .inputs = {a, b}});
}

// Returns 1 - a. The scalar is written as Python writes it.
inline absl::StatusOr<Symbol> OneMinus(const Symbol& a) {
  return Symbol::Create("_RMinusScalar", {.inputs = {a}, .attrs = {{"scalar", "1.0"}}});
}

// Returns Activation of `data` with the function `act_type`.
inline absl::StatusOr<Symbol> Activate(const Symbol& data, const std::string& act_type,
                                       const std::string& name = "") {
  return Symbol::Create("Activation",
                        {.name = name, .inputs = {data}, .attrs = {{"act_type", act_type}}});
}

// Splits axis 1 into `parts` equal parts; output i of the symbol is part i.
inline absl::StatusOr<Symbol> SliceGates(const Symbol& data, int parts, const std::string& name) {
  return Symbol::Create(
      "SliceChannel",
      {.name = name, .inputs = {data}, .attrs = {{"num_outputs", std::to_string(parts)}}});
}

// Returns a float as Python prints it: 1.0, 0.5, 1e-05. Attributes of cells are written in this
// form, so that symbol files equal MXNet's.
std::string PythonFloat(double value);

}  // namespace cooper

#endif  // COOPER_SYMBOL_RNN_CELL_OPS_H_
