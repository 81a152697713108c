#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "symbol/graph/output_namer.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"

namespace cooper {

std::string OutputNamer::Name(const NodeEntry& entry) {
  const Node& node = *entry.node;
  if (node.num_outputs() == 1) return OutputName(entry);
  const auto [it, is_new] = by_node_.try_emplace(&node);
  if (is_new) it->second = node.op()->OutputNames(node.call());
  return absl::StrCat(node.name(), "_", it->second[entry.index]);
}

std::vector<std::string> OutputNames(absl::Span<const NodeEntry> entries) {
  OutputNamer namer;
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const NodeEntry& entry : entries) names.push_back(entry ? namer.Name(entry) : "");
  return names;
}

std::string OutputName(const NodeEntry& entry) {
  const Node& node = *entry.node;
  if (node.is_variable()) return node.name();
  return absl::StrCat(node.name(), "_", node.op()->OutputNames(node.call())[entry.index]);
}

}  // namespace cooper
