#ifndef COOPER_SYMBOL_INFERENCE_H_
#define COOPER_SYMBOL_INFERENCE_H_

// The engine behind shape and type inference: runs the rules of a graph's nodes, forward and
// backward, until none of them learns anything more. Private to this layer: infer_shape.h and
// infer_type.h are its two uses.

#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "symbol/indexed_graph.h"

namespace cooper {

// Runs `apply(node_index, inputs, outputs, forward_inputs)` for nodes whose entries changed.
// `values` holds one Value per entry of `graph` and is refined in place. A backward node's forward
// node must be in the graph too if its rule asks for it.
template <typename Value, typename Apply>
absl::Status InferToFixpoint(const IndexedGraph& graph, std::vector<Value>& values, Apply apply) {
  const int num_nodes = graph.num_nodes();
  // Users of each entry, so that a change wakes only them: compressed rows.
  std::vector<int> producer(graph.num_entries());
  std::vector<int> user_begin(graph.num_entries() + 1, 0);
  auto for_each_input = [&](int i, auto fn) {
    const Node* node = graph.nodes()[i];
    for (const NodeEntry& e : node->inputs()) fn(graph.entry(e));
    if (node->forward() != nullptr && graph.contains(node->forward().get())) {
      for (const NodeEntry& e : node->forward()->inputs()) fn(graph.entry(e));
    }
  };
  for (int i = 0; i < num_nodes; ++i) {
    for (int e = graph.first_entry(i); e < graph.first_entry(i + 1); ++e) producer[e] = i;
    for_each_input(i, [&](int e) { ++user_begin[e + 1]; });
  }
  for (int e = 0; e < graph.num_entries(); ++e) user_begin[e + 1] += user_begin[e];
  std::vector<int> users(user_begin.back());
  std::vector<int> next = user_begin;
  for (int i = 0; i < num_nodes; ++i) {
    for_each_input(i, [&](int e) { users[next[e]++] = i; });
  }

  std::vector<bool> awake(num_nodes, true);
  std::vector<Value> before;
  std::vector<int> entries;
  std::vector<Value*> pointers;
  bool any = true;
  auto visit = [&](int i) -> absl::Status {
    const Node* node = graph.nodes()[i];
    awake[i] = false;
    if (node->is_variable()) return absl::OkStatus();
    entries.clear();
    for_each_input(i, [&](int e) { entries.push_back(e); });
    const size_t num_inputs = node->inputs().size();
    const size_t num_all_inputs = entries.size();
    for (int e = graph.first_entry(i); e < graph.first_entry(i + 1); ++e) entries.push_back(e);
    before.clear();
    pointers.clear();
    for (int e : entries) {
      before.push_back(values[e]);
      pointers.push_back(&values[e]);
    }
    const absl::Span<Value* const> all(pointers);
    absl::Status status = apply(i, all.subspan(0, num_inputs), all.subspan(num_all_inputs),
                                all.subspan(num_inputs, num_all_inputs - num_inputs));
    if (!status.ok()) return status;
    for (size_t k = 0; k < entries.size(); ++k) {
      const int e = entries[k];
      if (values[e] == before[k]) continue;
      any = true;
      if (producer[e] != i) awake[producer[e]] = true;
      for (int u = user_begin[e]; u < user_begin[e + 1]; ++u) awake[users[u]] = true;
    }
    return absl::OkStatus();
  };
  while (any) {
    any = false;
    for (int i = 0; i < num_nodes; ++i) {
      if (!awake[i]) continue;
      absl::Status status = visit(i);
      if (!status.ok()) return status;
    }
    for (int i = num_nodes - 1; i >= 0; --i) {
      if (!awake[i]) continue;
      absl::Status status = visit(i);
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_INFERENCE_H_
