#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "symbol/node.h"
#include "symbol/op.h"
#include "symbol/symbol.h"

namespace cooper {

std::vector<std::string> OutputNames(absl::Span<const NodeEntry> entries) {
  absl::flat_hash_map<const Node*, OpSchema::Names> by_node;  // made once for all of its outputs
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const NodeEntry& entry : entries) {
    if (!entry) {
      names.emplace_back();
      continue;
    }
    const Node& node = *entry.node;
    if (node.num_outputs() == 1) {
      names.push_back(OutputName(entry));
      continue;
    }
    const auto [it, is_new] = by_node.try_emplace(&node);
    if (is_new) it->second = node.op()->OutputNames(node.call());
    names.push_back(absl::StrCat(node.name(), "_", it->second[entry.index]));
  }
  return names;
}

std::string OutputName(const NodeEntry& entry) {
  const Node& node = *entry.node;
  if (node.is_variable()) return node.name();
  return absl::StrCat(node.name(), "_", node.op()->OutputNames(node.call())[entry.index]);
}

}  // namespace cooper
