#include "executor/passes/graph/expand_int8_layers.h"

#include <string>
#include <utility>
#include <vector>

#include "executor/passes/graph/graph_rebuilder.h"
#include "executor/passes/graph/replacement_nodes.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/fused/int8_layer.h"
#include "symbol/ops/fused/int8_layer_param.h"
#include "symbol/ops/nn/batch_norm_param.h"
#include "symbol/ops/nn/convolution_param.h"
#include "symbol/ops/nn/fully_connected_param.h"
#include "symbol/schema/is_op.h"
#include "symbol/schema/node.h"
#include "symbol/schema/param_text.h"

namespace cooper {
namespace {

using Entries = std::vector<NodeEntry>;

// Makes the nodes that replace one layer.
class Int8LayerNodes : ReplacementNodes {
 public:
  // `inputs` are those of the node in the new graph, `out_type` is the dtype of its output 0.
  Int8LayerNodes(const Node& node, Int8Layer parts, DType out_type, const Entries& inputs)
      : ReplacementNodes(node), node_(node), parts_(parts), out_type_(out_type), inputs_(inputs) {}

  // Returns output 0 of the last node, whose outputs are those of the layer.
  absl::StatusOr<NodeEntry> Run() {
    const bool is_conv = IsOp(node_, "_sg_mkldnn_conv");
    const OpCall& layer = parts_.layer->call();
    const bool no_bias = is_conv ? layer.param<ConvolutionParam>().no_bias
                                 : layer.param<FullyConnectedParam>().no_bias;
    const bool is_int8 = !is_conv && !node_.call().param<Int8DenseLayerParam>().by_filter();
    // The inputs are data, weight, bias, the arrays of BatchNorm, the sum, and ranges.
    const int arrays = no_bias ? 1 : 2, norms = parts_.batch_norm == nullptr ? 0 : 4;
    int next = 1;
    Entries weight = Next(next, arrays + norms);
    const Entries sum = Next(next, parts_.sum ? 1 : 0);
    const Entries data_range = Next(next, 2);
    Append(weight, Next(next, is_int8 ? 2 * arrays : 0));
    const Entries sum_range = Next(next, parts_.sum ? 2 : 0);

    AttrMap weight_attrs = {
        {"no_bias", PrintParamText(no_bias)},
        {"is_int8", PrintParamText(is_int8)},
        // MXNet has one range for all filters where it does not know that of the output.
        {"by_filter", PrintParamText(!is_int8 && out_type_ != DType::kInt32)}};
    if (parts_.batch_norm != nullptr) {
      const auto& norm = parts_.batch_norm->call().param<BatchNormParam>();
      weight_attrs["batch_norm"] = "True";
      weight_attrs["eps"] = PrintParamText(norm.eps);
      weight_attrs["fix_gamma"] = PrintParamText(norm.fix_gamma);
    }
    COOPER_ASSIGN_OR_RETURN(
        const NodeEntry quantized,
        Make("_quantized_weight", "_weight_quantized", std::move(weight), std::move(weight_attrs)));

    Entries inputs = {inputs_[0]};
    for (int k = 0; k < 3; ++k) inputs.push_back({quantized.node, k});
    Append(inputs, data_range);
    Append(inputs, sum);
    Append(inputs, sum_range);
    AttrMap attrs = layer.attrs;
    attrs["no_bias"] = "True";
    attrs["negative"] = PrintParamText(parts_.negative);
    attrs["limit"] = PrintParamText(parts_.limit);
    attrs["out_type"] = PrintParamText(out_type_);
    for (const char* name : {"min_calib_range", "max_calib_range"}) {
      const auto it = node_.attrs().find(name);
      if (it != node_.attrs().end()) attrs.insert(*it);
    }
    if (parts_.sum) attrs["sum"] = "True";
    return Make(is_conv ? "_int8_convolution" : "_int8_fully_connected", "", std::move(inputs),
                std::move(attrs));
  }

 private:
  // Returns `count` inputs from `next` on, and adds count to it.
  Entries Next(int& next, int count) const {
    const auto begin = inputs_.begin() + next;
    next += count;
    return Entries(begin, begin + count);
  }

  static void Append(Entries& to, const Entries& from) {
    to.insert(to.end(), from.begin(), from.end());
  }

  const Node& node_;
  const Int8Layer parts_;
  const DType out_type_;
  const Entries& inputs_;
};

}  // namespace

bool IsInt8Layer(const Node& node) {
  return IsOp(node, "_sg_mkldnn_conv") || IsOp(node, "_sg_mkldnn_fully_connected");
}

absl::StatusOr<std::optional<GraphRewrite>> ExpandInt8Layers(const GraphFacts& facts) {
  GraphRebuilder rebuilder(facts);
  for (int i = 0; i < facts.graph().num_nodes(); ++i) {
    const Node& node = facts.node(i);
    const Entries inputs = rebuilder.NewInputs(i);
    if (!IsInt8Layer(node)) {
      rebuilder.Keep(i, inputs);
      continue;
    }
    COOPER_ASSIGN_OR_RETURN(const Int8Layer parts, ReadInt8Layer(node.call()));
    const DType out_type = facts.type({facts.owner(i), 0});
    COOPER_ASSIGN_OR_RETURN(const NodeEntry output,
                            Int8LayerNodes(node, parts, out_type, inputs).Run());
    for (int k = 0; k < node.num_outputs(); ++k) {
      rebuilder.Replace({facts.owner(i), k}, {output.node, k});
    }
  }
  return rebuilder.Finish();
}

}  // namespace cooper
