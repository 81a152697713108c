#ifndef COOPER_SYMBOL_JSON_JSON_H_
#define COOPER_SYMBOL_JSON_JSON_H_

// Reads and writes symbols as MXNet's JSON. Reads files of MXNet 0.8 to 2.x; writes the format of
// MXNet 1.9.1.

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "symbol/graph/symbol.h"
#include "symbol/json/load_limits.h"

namespace cooper {

// Parses a symbol. Its operators must be linked into the program. The text is untrusted: loading
// takes time and memory in proportion to the text and to the graph's outputs, and both have limits
// (load_limits.h). Variables of one name, of which a file may have several, become one variable.
//
// Fails with kInvalidArgument for text that is no symbol file, naming node and reason, and for an
// operator with wrong attributes or inputs, or a gradient operator (OpSchema::is_gradient); with
// kNotFound, naming node and operator, for an operator that is not linked; with kResourceExhausted
// for text that exceeds a limit.
absl::StatusOr<Symbol> SymbolFromJson(absl::string_view text, const LoadLimits& limits = {});

// Returns the JSON with nodes in the order of a depth-first walk from the outputs, which is
// MXNet's. symbol.status() must be OK. Texts that are not UTF-8 are written as they are;
// SymbolFromJson refuses them. Attributes are written as they are stored, so a parameter that was
// not set is left out.
std::string SymbolToJson(const Symbol& symbol);

// Returns whether `symbol`, or the body of a loop or choice in it, has an operator that MXNet runs
// in NumPy mode (npx.set_np()) only. The JSON then says so. symbol.status() must be OK.
bool HasNumpyOperators(const Symbol& symbol);

// Read and write files, whose paths are in every message. Besides the errors of SymbolFromJson,
// LoadSymbol fails with those of the file system. SaveSymbol replaces the file as a whole: a crash
// does not damage the old one. It fails with symbol.status() if that is an error, and with
// kInvalidArgument, naming the node, if a name or an attribute is not UTF-8 or a name is longer
// than LoadLimits::name_bytes.
absl::StatusOr<Symbol> LoadSymbol(const std::string& path, const LoadLimits& limits = {});
absl::Status SaveSymbol(const std::string& path, const Symbol& symbol);

}  // namespace cooper

#endif  // COOPER_SYMBOL_JSON_JSON_H_
