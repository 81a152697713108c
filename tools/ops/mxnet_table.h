#ifndef COOPER_TOOLS_OPS_MXNET_TABLE_H_
#define COOPER_TOOLS_OPS_MXNET_TABLE_H_

// Compares the names of MXNet's operator registry (mxnet_names.txt) with the operators that are
// linked: docs/mxnet_operators.md. An operator that is added to cooper moves to its place by
// itself.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cooper {

// A name of MXNet's registry.
struct MxnetName {
  std::string name;
  std::string canonical;  // the name that MXNet writes into files; `name` itself if it is no alias
  bool is_there = false;  // whether a file with the canonical name is loaded
  // The reason why cooper lacks the operator; empty if it has it, or if no rule gives a reason.
  std::string reason = {};

  bool is_alias() const { return name != canonical; }
};

// Parses the list of names, one a line: a name, or an alias and the canonical name.
// kInvalidArgument, with the line, if it is neither.
absl::StatusOr<std::vector<MxnetName>> ReadMxnetNames(absl::string_view text);

// Returns the page: how many names there are of each kind, and a row for each name.
std::string MxnetNamesPage(const std::vector<MxnetName>& names);

}  // namespace cooper

#endif  // COOPER_TOOLS_OPS_MXNET_TABLE_H_
