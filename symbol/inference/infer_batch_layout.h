#ifndef COOPER_SYMBOL_INFERENCE_INFER_BATCH_LAYOUT_H_
#define COOPER_SYMBOL_INFERENCE_INFER_BATCH_LAYOUT_H_

// Finds the batch axis of the outputs of a graph from that of its inputs, by the rules of its
// operators (batch_layout.h). A node's attribute `__layout__` ("TNC") overrides the rules. Links no
// kernel and needs no data.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/batch_layout.h"
#include "symbol/schema/node.h"

namespace cooper {

// The shape of an input and its batch axis; -1 if it has no batch axis.
struct BatchInput {
  Shape shape;
  int axis = 0;
};

// The inferred batch layouts of a graph.
class BatchLayouts {
 public:
  // `inputs` are the network's data and labels by name; names that the graph does not have are
  // ignored. `states` names variables with the batch size in their shape; their batch axis is
  // declared by `__layout__` or is the only axis with that extent. All other variables do not
  // depend on the batch.
  //
  // Layouts hold for any batch size if the graph's shapes can be inferred for another one, else for
  // the given one. Errors: those of shape inference; kInvalidArgument if the inputs differ in batch
  // size. Costs two shape inferences.
  static absl::StatusOr<BatchLayouts> Infer(const Symbol& symbol,
                                            const std::map<std::string, BatchInput>& inputs,
                                            const std::set<std::string>& states = {});

  // Returns the layouts of the symbol's outputs, in their order.
  const std::vector<BatchLayout>& outputs() const { return outputs_; }
  // Returns kUnknown for a name that is no variable.
  BatchLayout variable(const std::string& name) const;
  // Returns the first node on the path to output `k` after which its layout is unknown, such as
  // "khatri_rao 'kr'"; empty if it is known.
  const std::string& first_unknown_node(int k) const { return first_unknown_node_[k]; }

  // Returns the losses that must be weighted (LossNeedsWeights): nodes of the symbol's graph, which
  // must outlive this object.
  const std::set<const Node*>& weighted_losses() const { return weighted_losses_; }

 private:
  std::vector<BatchLayout> outputs_;
  std::vector<std::string> first_unknown_node_;
  std::map<std::string, BatchLayout> variables_;
  std::set<const Node*> weighted_losses_;
};

// Sets the layouts of the outputs of node `i` of `graph`, an operator, from those of its inputs.
// `shapes`, inferred for `batch_size`, and `layouts` are by entry. Returns whether the node is a
// loss that must be weighted (LossNeedsWeights); false if the layout of an input is unknown.
bool SetOutputLayouts(const IndexedGraph& graph, int i, absl::Span<const Shape> shapes,
                      int64_t batch_size, absl::Span<BatchLayout> layouts);

// Returns the symbol with the grad_scale of `losses` multiplied by `weight`; `symbol` itself if
// `losses` is empty. Each loss must be a node of the symbol's graph with that parameter, or
// make_loss, which becomes MakeLoss. Nodes below the losses are shared with `symbol`. Fails with
// kInvalidArgument if a grad_scale is no number.
absl::StatusOr<Symbol> WeightLosses(const Symbol& symbol, const std::set<const Node*>& losses,
                                    double weight);

}  // namespace cooper

#endif  // COOPER_SYMBOL_INFERENCE_INFER_BATCH_LAYOUT_H_
