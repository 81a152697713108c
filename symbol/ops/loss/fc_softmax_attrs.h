#ifndef COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_ATTRS_H_
#define COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_ATTRS_H_

#include "symbol/schema/node.h"

namespace cooper {

// Returns the attributes of the operator that replaces a FullyConnected and its SoftmaxOutput: the
// attributes set on either. Their parameters have different names.
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
