#include "symbol/visualization/node_label.h"

#include "symbol/visualization/printable_text.h"

namespace cooper {
namespace {

const char* ColorOf(OpKind kind) {
  switch (kind) {
    case OpKind::kLayer:
      return "#fb8072";
    case OpKind::kActivation:
      return "#ffffb3";
    case OpKind::kNormalization:
      return "#bebada";
    case OpKind::kPooling:
      return "#80b1d3";
    case OpKind::kShaping:
      return "#fdb462";
    case OpKind::kLoss:
      return "#b3de69";
    case OpKind::kOther:
      break;
  }
  return "#fccde5";
}

}  // namespace

NodeLabel MakeNodeLabel(const Node& node) {
  if (node.is_variable()) return {PrintableText(node.name()), "", "#8dd3c7"};
  const OpSchema& op = *node.op();
  return {op.name(), PrintableText(op.Summary(node.call())), ColorOf(op.Kind(node.call()))};
}

}  // namespace cooper
