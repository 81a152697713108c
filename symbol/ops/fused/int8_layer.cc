#include "symbol/ops/fused/int8_layer.h"

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/elemwise/activation_param.h"
#include "symbol/ops/elemwise/unary_param.h"
#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/leaky_relu_param.h"
#include "symbol/schema/is_op.h"

namespace cooper {
namespace {

absl::Status Refuse(const Node& node, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat("the subgraph of an int8 layer has ", Describe(node), why));
}

// Sets the activation that `node` stands for, and returns whether it is one.
absl::StatusOr<bool> ReadActivation(const Node& node, bool is_conv, Int8Layer& parts) {
  if (IsOp(node, "Activation")) {
    if (node.call().param<ActivationParam>().act_type != ActivationType::kRelu) {
      return Refuse(node, ", expected relu");
    }
    parts.negative = 0;
    parts.is_uint8 = true;
  } else if (IsOp(node, "LeakyReLU")) {
    const auto& param = node.call().param<LeakyReluParam>();
    if (param.act_type != LeakyReluParam::kLeaky) return Refuse(node, ", expected act_type leaky");
    parts.negative = param.slope;
    parts.is_uint8 = !is_conv || param.slope == 0;  // as MXNet decides it
  } else if (IsOp(node, "clip")) {
    const auto& param = node.call().param<ClipParam>();
    if (param.a_min != 0) return Refuse(node, ", expected a_min 0");
    parts.negative = 0;
    parts.limit = param.a_max;
    parts.is_uint8 = true;
  } else if (IsOp(node, "abs") && !is_conv) {
    parts.negative = -1;
    parts.is_uint8 = true;
  } else {
    return false;
  }
  return true;
}

absl::Status CheckBatchNorm(const Node& node) {
  if (node.call().param<BatchNormParam>().axis == 1) return absl::OkStatus();
  return Refuse(node, " of another axis than 1");
}

}  // namespace

absl::StatusOr<Int8Layer> ReadInt8Layer(const OpCall& call) {
  const std::vector<NodeEntry>& outputs = call.subgraphs->front();
  if (outputs.empty()) return absl::InvalidArgumentError("the subgraph has no output");
  const bool is_conv = call.op->name() == "_sg_mkldnn_conv";
  Int8Layer parts;
  std::vector<const Node*> variables;
  // Takes the inputs of a node from `first` on, and returns the node of input 0.
  const auto take = [&](const Node& node, size_t first) {
    for (size_t i = first; i < node.inputs().size(); ++i) {
      variables.push_back(node.inputs()[i].node.get());
    }
    return node.inputs()[0].node.get();
  };
  const Node* node = outputs[0].node.get();
  COOPER_ASSIGN_OR_RETURN(const bool acts, ReadActivation(*node, is_conv, parts));
  if (acts) node = take(*node, 1);
  if (is_conv && IsOp(*node, "elemwise_add")) {
    parts.sum = true;
    node = take(*node, 1);
  }
  if (is_conv && IsOp(*node, "BatchNorm")) {
    COOPER_RETURN_IF_ERROR(CheckBatchNorm(*node));
    parts.batch_norm = node;
    node = take(*node, 1);
  }
  if (!IsOp(*node, is_conv ? "Convolution" : "FullyConnected")) {
    return absl::InvalidArgumentError(
        absl::StrCat("the subgraph has ", Describe(*node), " where its ",
                     is_conv ? "Convolution" : "FullyConnected", " belongs"));
  }
  if (is_conv && ChannelsLast(node->call().param<ConvolutionParam>().layout)) {
    return Refuse(*node, " whose channels are last");
  }
  parts.layer = node;
  take(*node, 0);
  const bool all = absl::c_all_of(variables, [](const Node* v) { return v->is_variable(); });
  absl::c_sort(variables);
  if (!all || absl::c_adjacent_find(variables) != variables.end()) {
    return absl::InvalidArgumentError(
        "the subgraph has other inputs of its nodes than one variable each");
  }
  return parts;
}

}  // namespace cooper
