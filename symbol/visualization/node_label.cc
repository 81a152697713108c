#include "symbol/visualization/node_label.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "symbol/param_text.h"
#include "symbol/visualization/printable_text.h"

namespace cooper {
namespace {

constexpr char kVariable[] = "#8dd3c7";
constexpr char kLayer[] = "#fb8072";
constexpr char kActivation[] = "#ffffb3";
constexpr char kNormalization[] = "#bebada";
constexpr char kPooling[] = "#80b1d3";
constexpr char kShaping[] = "#fdb462";
constexpr char kSoftmax[] = "#b3de69";
constexpr char kOther[] = "#fccde5";

using DetailFn = std::string (*)(AttrMap& params);

struct OpLabel {
  const char* color;
  DetailFn detail = nullptr;
};

// "5x5" for "(5, 5)".
std::string Extents(const std::string& tuple, const char* if_empty) {
  std::vector<std::string> elements;
  if (!SplitParamTuple(tuple, &elements).ok()) return tuple;
  return elements.empty() ? if_empty : absl::StrJoin(elements, "x");
}

template <const char* key>
std::string Value(AttrMap& params) {
  return params[key];
}
constexpr char kActType[] = "act_type";
constexpr char kNumHidden[] = "num_hidden";
constexpr char kNumOutputs[] = "num_outputs";
constexpr char kDim[] = "dim";
constexpr char kP[] = "p";

std::string Window(AttrMap& params) {
  return absl::StrCat(Extents(params["kernel"], "1"), "/", Extents(params["stride"], "1"));
}

std::string ConvolutionDetail(AttrMap& params) {
  return absl::StrCat(Window(params), ", ", params["num_filter"]);
}

std::string PoolingDetail(AttrMap& params) {
  const bool global = params["global_pool"] == "True";
  return absl::StrCat(params["pool_type"], ", ", global ? "global" : Window(params));
}

std::string EmbeddingDetail(AttrMap& params) {
  return absl::StrCat(params["input_dim"], "x", params["output_dim"]);
}

std::string RNNDetail(AttrMap& params) {
  return absl::StrCat(params["mode"], ", ", params["num_layers"], "x", params["state_size"],
                      params["bidirectional"] == "True" ? ", both ways" : "");
}

std::string ReshapeDetail(AttrMap& params) { return params["shape"]; }

const absl::flat_hash_map<std::string, OpLabel>& OpLabels() {
  static const auto& labels = *new absl::flat_hash_map<std::string, OpLabel>{
      {"FullyConnected", {kLayer, Value<kNumHidden>}},
      {"Convolution", {kLayer, ConvolutionDetail}},
      {"Convolution_v1", {kLayer, ConvolutionDetail}},
      {"Deconvolution", {kLayer, ConvolutionDetail}},
      {"Embedding", {kLayer, EmbeddingDetail}},
      {"RNN", {kLayer, RNNDetail}},
      {"Activation", {kActivation, Value<kActType>}},
      {"LeakyReLU", {kActivation, Value<kActType>}},
      {"relu", {kActivation}},
      {"sigmoid", {kActivation}},
      {"softsign", {kActivation}},
      {"tanh", {kActivation}},
      {"BatchNorm", {kNormalization}},
      {"BatchNorm_v1", {kNormalization}},
      {"GroupNorm", {kNormalization}},
      {"InstanceNorm", {kNormalization}},
      {"L2Normalization", {kNormalization}},
      {"LayerNorm", {kNormalization}},
      {"LRN", {kNormalization}},
      {"Pooling", {kPooling, PoolingDetail}},
      {"Pooling_v1", {kPooling, PoolingDetail}},
      {"ROIPooling", {kPooling}},
      {"UpSampling", {kPooling}},
      {"Concat", {kShaping, Value<kDim>}},
      {"Reshape", {kShaping, ReshapeDetail}},
      {"SliceChannel", {kShaping, Value<kNumOutputs>}},
      {"SwapAxis", {kShaping}},
      {"slice", {kShaping}},
      {"slice_axis", {kShaping}},
      {"slice_like", {kShaping}},
      {"stack", {kShaping}},
      {"tile", {kShaping}},
      {"transpose", {kShaping}},
      {"SoftmaxActivation", {kSoftmax}},
      {"log_softmax", {kSoftmax}},
      {"softmax", {kSoftmax}},
      {"softmax_cross_entropy", {kSoftmax}},
      {"CTCLoss", {kSoftmax}},
      {"Dropout", {kOther, Value<kP>}},
  };
  return labels;
}

// The colour of an operator that the table lacks.
const char* ColorOf(const OpSchema& op, const OpCall& call) {
  if (op.is_view()) return kShaping;  // Flatten, expand_dims, ...
  if (op.IgnoresHeadGradient(call)) return kSoftmax;
  return kOther;
}

}  // namespace

NodeLabel MakeNodeLabel(const Node& node) {
  if (node.is_variable()) return {PrintableText(node.name()), "", kVariable};
  const OpSchema& op = *node.op();
  const auto it = OpLabels().find(op.name());
  if (it == OpLabels().end()) return {op.name(), "", ColorOf(op, node.call())};
  NodeLabel label{op.name(), "", it->second.color};
  if (it->second.detail != nullptr && op.params() != nullptr) {
    AttrMap params = op.params()->Print(node.call().params.get());
    label.detail = PrintableText(it->second.detail(params));
  }
  return label;
}

}  // namespace cooper
