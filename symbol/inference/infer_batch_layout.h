#ifndef COOPER_SYMBOL_INFERENCE_INFER_BATCH_LAYOUT_H_
#define COOPER_SYMBOL_INFERENCE_INFER_BATCH_LAYOUT_H_

// Finds where the samples of a batch are in the outputs of a graph, from where they are in its
// inputs, by the rules of its operators (batch_layout.h). What a node's attribute `__layout__` says
// ("TNC") wins over the rules. Links no kernel and needs no data.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/symbol.h"
#include "symbol/schema/batch_layout.h"
#include "symbol/schema/node.h"

namespace cooper {

// An input with the axis that the batch is along; -1: it has no batch axis.
struct BatchInput {
  Shape shape;
  int axis = 0;
};

class BatchLayouts {
 public:
  // `inputs` are a network's data and labels by name; those that the graph does not have are passed
  // over. `states` are variables that have the batch size somewhere, by their `__layout__` or else
  // as their shape shows. All other variables are the same for all samples.
  //
  // Layouts are those for any batch size if the graph's shapes can be inferred for another one.
  // The errors are those of shape inference; kInvalidArgument if the inputs differ in their batch
  // size. As long as inference of shapes takes, twice.
  static absl::StatusOr<BatchLayouts> Infer(const Symbol& symbol,
                                            const std::map<std::string, BatchInput>& inputs,
                                            const std::set<std::string>& states = {});

  // Of the symbol's outputs, in their order.
  const std::vector<BatchLayout>& outputs() const { return outputs_; }
  // kUnknown for a name that is no variable.
  BatchLayout variable(const std::string& name) const;
  // The first node on the way to output `k` behind which its layout is unknown, such as "khatri_rao
  // 'kr'"; empty where it is known.
  const std::string& lost_at(int k) const { return lost_at_[k]; }

  // The losses that have to be weighted (LossNeedsWeights): nodes of the symbol's graph, which must
  // outlive them.
  const std::set<const Node*>& weighted_losses() const { return weighted_losses_; }

 private:
  std::vector<BatchLayout> outputs_;
  std::vector<std::string> lost_at_;
  std::map<std::string, BatchLayout> variables_;
  std::set<const Node*> weighted_losses_;
};

// The symbol with the gradients of these losses multiplied by `weight`: their grad_scale. As it is
// if `losses` is empty.
absl::StatusOr<Symbol> WeightLosses(const Symbol& symbol, const std::set<const Node*>& losses,
                                    double weight);

}  // namespace cooper

#endif  // COOPER_SYMBOL_INFERENCE_INFER_BATCH_LAYOUT_H_
