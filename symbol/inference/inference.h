#ifndef COOPER_SYMBOL_INFERENCE_INFERENCE_H_
#define COOPER_SYMBOL_INFERENCE_INFERENCE_H_

// The parts that shape and type inference share: the engine that runs the rules of a graph's nodes,
// forward and backward, until nothing changes, and the conversion of named inputs and of results.
// Private to this layer: infer_shape.h, infer_type.h and node_shapes.h use it.

#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/param_text.h"

namespace cooper {

// Runs `apply(node_index, inputs, outputs, forward_inputs)` for nodes whose entries changed, until
// nothing changes. `values` holds one Value per entry of `graph` and is refined in place; apply
// gets pointers into it and may only add information, so the loop ends. `graph` must contain the
// forward node of a backward node whose rule uses forward inputs.
//
// The first sweep goes forward and the second backward, which suffices for most networks; further
// sweeps visit only nodes whose inputs or outputs have changed. Returns the first error of apply.
// Memory: O(nodes + inputs). Value is copyable and comparable with ==: a node's neighbours are
// visited again if apply has changed one of the node's entries. Time: O(nodes + inputs) for the
// first two sweeps, and as much as the visited nodes have entries for each further one. Not
// thread-safe for one `values`.
template <typename Value, typename Apply>
absl::Status InferToFixpoint(const IndexedGraph& graph, std::vector<Value>& values, Apply apply) {
  const int num_nodes = graph.num_nodes();
  // The users of each entry, in compressed rows, so that a change of an entry wakes only its users
  // and its producer.
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
  // The awake nodes after the first two sweeps. Nodes with many inputs (`wide`) wait until no other
  // node is awake: each of their inputs may wake them, and each visit looks at all their inputs.
  std::set<int> rest, wide;
  bool all_visited = false;
  const auto put_off = [&](int i) {
    constexpr size_t kWide = 32;
    (graph.nodes()[i]->inputs().size() < kWide ? rest : wide).insert(i);
  };
  const auto wake = [&](int i) {
    if (awake[i]) return;
    awake[i] = true;
    if (all_visited) put_off(i);
  };
  std::vector<Value> before;
  std::vector<int> entries;
  std::vector<Value*> pointers;
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
      if (producer[e] != i) wake(producer[e]);
      for (int u = user_begin[e]; u < user_begin[e + 1]; ++u) wake(users[u]);
    }
    return absl::OkStatus();
  };
  for (int i = 0; i < num_nodes; ++i) COOPER_RETURN_IF_ERROR(visit(i));
  for (int i = num_nodes - 1; i >= 0; --i) {
    if (awake[i]) COOPER_RETURN_IF_ERROR(visit(i));
  }
  // Further sweeps visit awake nodes only: a graph in an order that suits neither direction needs
  // as many sweeps as it has nodes.
  all_visited = true;
  for (int i = 0; i < num_nodes; ++i) {
    if (awake[i]) put_off(i);
  }
  while (!rest.empty() || !wide.empty()) {
    if (rest.empty()) {
      const int i = *wide.begin();
      wide.erase(wide.begin());
      COOPER_RETURN_IF_ERROR(visit(i));
    }
    for (auto it = rest.begin(); it != rest.end();) {
      const int i = *it;
      rest.erase(it);
      COOPER_RETURN_IF_ERROR(visit(i));
      it = rest.upper_bound(i);
    }
    for (auto it = rest.end(); it != rest.begin();) {
      const int i = *--it;
      rest.erase(it);
      COOPER_RETURN_IF_ERROR(visit(i));
      it = rest.lower_bound(i);
    }
  }
  return absl::OkStatus();
}

// Runs the rule of one node on the values of its inputs and outputs, and of the inputs of the node
// whose gradient it computes. `rule` is the member function of OpSchema that returns an operator's
// rule, which takes a Context; `print` converts a value to text. An error names the node and its
// known inputs, "; inputs: data 'fc1_output' (32, 650), weight 'fc2_weight' (800, 200)". The status
// code is that of the rule: kInvalidArgument for a contradiction.
template <typename Context, typename Value, typename Rule, typename Print>
absl::Status ApplyRule(const Node& node, absl::Span<Value* const> inputs,
                       absl::Span<Value* const> outputs, absl::Span<Value* const> forward,
                       Rule rule, Print print) {
  Context context(node.call(), inputs, outputs, forward);
  absl::Status status = (node.op()->*rule)()(context);
  if (status.ok()) return status;
  const OpSchema::Names names = node.op()->InputNames(node.call());
  const std::vector<std::string> from = OutputNames(node.inputs());
  std::string known;
  for (size_t k = 0; k < inputs.size(); ++k) {
    absl::StrAppend(&known, k == 0 ? "; inputs: " : ", ",
                    k < names.size() ? names[k] : absl::StrCat(k), " '", from[k], "' ",
                    print(*inputs[k]));
  }
  return absl::Status(status.code(), absl::StrCat(Describe(node), ": ", status.message(), known));
}

// Runs the rules of a graph's nodes on `values`, as ApplyRule does for one.
template <typename Context, typename Value, typename Rule, typename Print>
absl::Status InferByRules(const IndexedGraph& graph, std::vector<Value>& values, Rule rule,
                          Print print) {
  using Span = absl::Span<Value* const>;
  return InferToFixpoint(graph, values, [&](int i, Span inputs, Span outputs, Span forward) {
    return ApplyRule<Context>(*graph.nodes()[i], inputs, outputs, forward, rule, print);
  });
}

// Reads a hidden attribute of a variable, such as `__shape__`, if it is set. Fails with
// kInvalidArgument, naming both, if its text is no T. `*value` is unchanged if the attribute is not
// set.
template <typename T>
absl::Status ReadHidden(const Node& variable, const char* key, T* value) {
  const auto it = variable.attrs().find(key);
  if (it == variable.attrs().end()) return absl::OkStatus();
  return AddContext(ParseParamText(it->second, value), Describe(variable), ": attribute ", key,
                    "='", it->second, "'");
}

// Fails with kNotFound unless every name in `known` is that of a variable. `what` says in the
// message what is given for the name: "a shape". The message lists the graph's variables and
// suggests a similar name. Known is a map from names to values. Does not look at the values.
template <typename Known>
absl::Status CheckNames(const Symbol& symbol, const Known& known, const char* what) {
  if (known.empty()) return absl::OkStatus();
  const std::vector<std::string> inputs = symbol.ListInputs();
  const absl::flat_hash_set<absl::string_view> names(inputs.begin(), inputs.end());
  for (const auto& [name, value] : known) {
    if (names.contains(name)) continue;
    return absl::NotFoundError(absl::StrCat(what, " is given for '", name,
                                            "', which is no variable of the graph; those are ",
                                            JoinNames(inputs), DidYouMean(name, inputs)));
  }
  return absl::OkStatus();
}

// Returns the values of all arguments, outputs and auxiliary states, in the order in which Symbol
// lists their names. Result is InferredShapes or InferredTypes. `values` has one Value for each
// entry of `graph`, the graph of `symbol`; unknown ones stay unknown.
template <typename Result, typename Value>
Result Collect(const Symbol& symbol, const IndexedGraph& graph, const std::vector<Value>& values) {
  Result result;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (!graph.nodes()[i]->is_variable()) continue;
    (graph.is_aux(i) ? result.auxs : result.args).push_back(values[graph.first_entry(i)]);
  }
  for (const NodeEntry& output : symbol.outputs()) {
    result.outputs.push_back(values[graph.entry(output)]);
  }
  return result;
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_INFERENCE_INFERENCE_H_
