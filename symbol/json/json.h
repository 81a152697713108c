#ifndef COOPER_SYMBOL_JSON_JSON_H_
#define COOPER_SYMBOL_JSON_JSON_H_

// Symbols as MXNet's JSON. Files of every age are read, from 0.8 to 2.x; what is written is what
// MXNet 1.9.1 writes.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "symbol/graph/symbol.h"
#include "symbol/json/load_limits.h"

namespace cooper {

// Operators must be linked into the program. The text is untrusted: loading takes time and memory
// in proportion to it and to the graph's outputs, and both have limits (load_limits.h). Variables
// of one name, of which a file may have several, are one variable of the symbol.
//
// Fails with kInvalidArgument for what is no symbol file, naming node and reason, and for an
// operator with wrong attributes or inputs, or one of gradients (OpSchema::is_gradient); with
// kNotFound, naming node and operator, for an operator that is not linked; with kResourceExhausted
// for what exceeds a limit.
absl::StatusOr<Symbol> SymbolFromJson(absl::string_view text, const LoadLimits& limits = {});

// Nodes in the order of a depth first walk from the outputs. The symbol must have been made:
// symbol.status() is OK. Of texts that are not UTF-8 it has the bytes, and is not read again.
std::string SymbolToJson(const Symbol& symbol);

// The same with files, named in every message; writing replaces the file as a whole, and fails with
// symbol.status() before it, or with kInvalidArgument, naming the node, if a name or an attribute
// is not UTF-8 or a name longer than LoadLimits::name_bytes.
absl::StatusOr<Symbol> LoadSymbol(const std::string& path, const LoadLimits& limits = {});
absl::Status SaveSymbol(const std::string& path, const Symbol& symbol);

}  // namespace cooper

#endif  // COOPER_SYMBOL_JSON_JSON_H_
