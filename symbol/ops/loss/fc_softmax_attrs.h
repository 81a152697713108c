#ifndef COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_ATTRS_H_
#define COOPER_SYMBOL_OPS_LOSS_FC_SOFTMAX_ATTRS_H_

#include "symbol/schema/node.h"

namespace cooper {

// The attributes of the one operator that a FullyConnected and its SoftmaxOutput become: what
// either was given, since parameters of both have different names.
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
