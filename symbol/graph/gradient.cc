#include "symbol/graph/gradient.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/output_namer.h"
#include "symbol/schema/gradient_context.h"

namespace cooper {
namespace {

// Returns the owning pointer of each node, since the graph walk gives raw pointers.
absl::flat_hash_map<const Node*, NodePtr> Owners(const Symbol& symbol, const IndexedGraph& graph) {
  absl::flat_hash_map<const Node*, NodePtr> owners;
  owners.reserve(graph.nodes().size());
  for (const NodeEntry& head : symbol.outputs()) owners.emplace(head.node.get(), head.node);
  for (const Node* node : graph.nodes()) {
    for (const NodeEntry& input : node->inputs()) owners.emplace(input.node.get(), input.node);
  }
  return owners;
}

class Differentiation {
 public:
  Differentiation(const Symbol& symbol)  // NOLINT: made once, below
      : symbol_(symbol), graph_(symbol.outputs()), terms_(graph_.num_entries()) {}

  absl::StatusOr<GradientGraph> Run(absl::Span<const std::string> wrt) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<int> variables, Find(wrt));
    MarkNeeded(variables);
    SeedHeads();
    const auto owners = Owners(symbol_, graph_);
    for (int i = graph_.num_nodes() - 1; i >= 0; --i) {
      if (!needed_[i] || graph_.nodes()[i]->is_variable()) continue;
      absl::Status status = Visit(owners.at(graph_.nodes()[i]));
      if (!status.ok()) return AddContext(status, "gradient of ", Describe(*graph_.nodes()[i]));
    }
    for (int variable : variables) {
      COOPER_ASSIGN_OR_RETURN(NodeEntry sum, Sum({owners.at(graph_.nodes()[variable]), 0}));
      result_.gradients.push_back(std::move(sum));
    }
    return std::move(result_);
  }

 private:
  absl::StatusOr<std::vector<int>> Find(absl::Span<const std::string> wrt) const {
    absl::flat_hash_map<std::string, int> by_name;
    for (int i = 0; i < graph_.num_nodes(); ++i) {
      if (graph_.nodes()[i]->is_variable()) by_name[graph_.nodes()[i]->name()] = i;
    }
    std::vector<int> found;
    for (const std::string& name : wrt) {
      auto it = by_name.find(name);
      if (it == by_name.end()) {
        return absl::NotFoundError(absl::StrCat("a gradient is requested for '", name,
                                                "', which is not an argument; the arguments are ",
                                                JoinNames(symbol_.ListArguments())));
      }
      found.push_back(it->second);
    }
    return found;
  }

  // Marks the nodes on a path to a requested variable; gradients are computed only for these.
  void MarkNeeded(const std::vector<int>& variables) {
    needed_.assign(graph_.num_nodes(), false);
    for (int variable : variables) needed_[variable] = true;
    for (int i = 0; i < graph_.num_nodes(); ++i) {
      for (const NodeEntry& input : graph_.nodes()[i]->inputs()) {
        if (needed_[graph_.node_index(input.node.get())]) needed_[i] = true;
      }
    }
  }

  void SeedHeads() {
    for (int i = 0; i < symbol_.num_outputs(); ++i) {
      const NodeEntry& head = symbol_.outputs()[i];
      const Node& node = *head.node;
      const int index = graph_.node_index(head.node.get());
      result_.head_gradients.emplace_back();
      if (!needed_[index]) continue;
      if (!node.is_variable() &&
          (!node.op()->gradient() || node.op()->IgnoresHeadGradient(node.call()))) {
        continue;
      }
      result_.head_gradients.back() = Symbol::Variable(HeadGradientName(i)).outputs()[0];
      terms_[graph_.entry(head)].push_back(result_.head_gradients.back());
    }
  }

  absl::Status Visit(const NodePtr& node) {
    if (!node->op()->gradient()) return absl::OkStatus();
    std::vector<NodeEntry> heads;
    // A loss starts its gradient itself wherever it is, also below BlockGrad and argmax, as in
    // MXNet. Auxiliary states are updated in the backward pass, so their nodes take part in it too.
    bool reached = node->op()->IgnoresHeadGradient(node->call()) ||
                   !node->op()->AuxInputs(node->call()).empty();
    for (int k = 0; k < node->num_outputs(); ++k) {
      COOPER_ASSIGN_OR_RETURN(NodeEntry head, Sum({node, k}));
      if (head) reached = true;
      heads.push_back(std::move(head));
    }
    if (!reached) return absl::OkStatus();
    GradientContext context(node, std::move(heads), &result_.nodes);
    COOPER_ASSIGN_OR_RETURN(const std::vector<NodeEntry> gradients,
                            node->op()->gradient()(context));
    for (size_t k = 0; k < gradients.size() && k < node->inputs().size(); ++k) {
      const NodeEntry& input = node->inputs()[k];
      if (!gradients[k] || !needed_[graph_.node_index(input.node.get())]) continue;
      terms_[graph_.entry(input)].push_back(gradients[k]);
    }
    return absl::OkStatus();
  }

  // Returns the gradient of one entry, once all its terms are known.
  absl::StatusOr<NodeEntry> Sum(const NodeEntry& entry) {
    std::vector<NodeEntry>& terms = terms_[graph_.entry(entry)];
    if (terms.empty()) return NodeEntry();
    if (terms.size() == 1) return terms[0];
    // The sum is not named after a term, which may be part of several sums: a + b passes its
    // gradient to both inputs.
    std::string name = absl::StrCat(namer_.Name(entry), "_grad_sum");
    COOPER_ASSIGN_OR_RETURN(NodePtr sum, MakeNode("_grad_sum", std::move(name), terms));
    result_.nodes.push_back(std::move(sum));
    terms = {NodeEntry{result_.nodes.back(), 0}};
    return terms[0];
  }

  const Symbol& symbol_;
  const IndexedGraph graph_;
  std::vector<std::vector<NodeEntry>> terms_;  // by entry: the gradients that arrived
  std::vector<bool> needed_;
  OutputNamer namer_;
  GradientGraph result_;
};

}  // namespace

std::string HeadGradientName(int i) { return absl::StrCat("_head_grad_", i); }

absl::StatusOr<GradientGraph> MakeGradientGraph(const Symbol& symbol,
                                                absl::Span<const std::string> wrt) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  return Differentiation(symbol).Run(wrt);
}

}  // namespace cooper
