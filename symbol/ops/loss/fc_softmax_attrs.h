#ifndef COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_ATTRS_H_
#define COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_ATTRS_H_

// The attributes of the fused classifiers, shared by the graph pass of the executor that fuses a
// FullyConnected with its SoftmaxOutput and by LabelProbabilities (label_probabilities.h).

#include "symbol/schema/node.h"

namespace cooper {

// Returns the attributes of the operator that replaces the FullyConnected `scores` and its
// SoftmaxOutput `softmax`: the attributes of FcSoftmaxOutputParam that are set on either. Their
// parameters have different names. Hidden attributes, and parameters that the fused operators lack,
// are left out, so the caller must check that these parameters have their defaults.
inline AttrMap FcSoftmaxAttrs(const Node& scores, const Node& softmax) {
  AttrMap attrs;
  const auto take = [&attrs](const Node& node, const char* key) {
    if (const auto it = node.attrs().find(key); it != node.attrs().end()) attrs.insert(*it);
  };
  for (const char* key : {"num_hidden", "no_bias"}) take(scores, key);
  for (const char* key : {"grad_scale", "ignore_label", "use_ignore", "normalization"}) {
    take(softmax, key);
  }
  return attrs;
}

}  // namespace cooper

#endif  // COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_ATTRS_H_
