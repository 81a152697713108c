#include "tests/onnx/small_networks.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "symbol/schema/attr_values.h"

namespace cooper {
namespace {

Symbol Op(const char* op, std::vector<Symbol> inputs, AttrValues attrs = {}) {
  return Symbol::Keep(Symbol::Create(op, {.inputs = std::move(inputs), .attrs = std::move(attrs)}));
}

Symbol ConvRelu(const Symbol& data, int64_t filters, int64_t stride) {
  const Symbol conv = Op("Convolution", {data},
                         {{"kernel", "(3, 3)"},
                          {"pad", "(1, 1)"},
                          {"stride", absl::StrCat("(", stride, ", ", stride, ")")},
                          {"num_filter", filters}});
  return Op("Activation", {Op("BatchNorm", {conv})}, {{"act_type", "relu"}});
}

}  // namespace

Symbol TextCnn(int64_t num_ids, int64_t length) {
  const Symbol words =
      Op("Embedding", {Symbol::Variable("data")}, {{"input_dim", num_ids}, {"output_dim", 16}});
  const Symbol image = Op("expand_dims", {words}, {{"axis", 1}});
  std::vector<Symbol> pooled;
  for (int64_t size : {3, 4, 5}) {
    const Symbol conv = Op("Convolution", {image},
                           {{"kernel", absl::StrCat("(", size, ", 16)")}, {"num_filter", 8}});
    pooled.push_back(
        Op("Pooling", {Op("relu", {conv})},
           {{"pool_type", "max"}, {"kernel", absl::StrCat("(", length - size + 1, ", 1)")}}));
  }
  const Symbol joined = Op("Concat", pooled, {{"dim", 1}});
  const Symbol hidden = Op("Dropout", {Op("Reshape", {joined}, {{"shape", "(0, -1)"}})});
  return Op("SoftmaxOutput", {Op("FullyConnected", {hidden}, {{"num_hidden", 3}})});
}

Symbol SmallSsd() {
  const Symbol map1 = ConvRelu(ConvRelu(Symbol::Variable("data"), 8, 2), 16, 2);
  const Symbol map2 = ConvRelu(map1, 16, 2);
  std::vector<Symbol> classes, offsets, anchors;
  for (const Symbol& map : {map1, map2}) {
    // 2 sizes and 2 ratios make 3 anchors for each position.
    const Symbol score =
        Op("Convolution", {map}, {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", 3 * 4}});
    const Symbol offset =
        Op("Convolution", {map}, {{"kernel", "(3, 3)"}, {"pad", "(1, 1)"}, {"num_filter", 3 * 4}});
    classes.push_back(Op("Flatten", {Op("transpose", {score}, {{"axes", "(0, 2, 3, 1)"}})}));
    offsets.push_back(Op("Flatten", {Op("transpose", {offset}, {{"axes", "(0, 2, 3, 1)"}})}));
    anchors.push_back(Op("_contrib_MultiBoxPrior", {map},
                         {{"sizes", "(0.2, 0.3)"}, {"ratios", "(1, 2)"}, {"clip", true}}));
  }
  const Symbol scores =
      Op("Reshape", {Op("Concat", classes, {{"dim", 1}})}, {{"shape", "(0, -1, 4)"}});
  const Symbol probabilities =
      Op("SoftmaxActivation", {Op("transpose", {scores}, {{"axes", "(0, 2, 1)"}})},
         {{"mode", "channel"}});
  return Symbol::Keep(Symbol::Group(
      {probabilities, Op("Concat", offsets, {{"dim", 1}}), Op("Concat", anchors, {{"dim", 1}})}));
}

Symbol ManyDetections() {
  const Symbol heads = SmallSsd();
  std::vector<Symbol> outputs;
  const auto add = [&](const char* op, const std::vector<Symbol>& inputs, AttrValues attrs) {
    outputs.push_back(Op(op, inputs, std::move(attrs)));
  };
  const auto detect = [&](AttrValues attrs) {
    add("_contrib_MultiBoxDetection", {heads[0], heads[1], heads[2]}, std::move(attrs));
  };
  detect({});
  detect({{"threshold", 0.4}, {"nms_threshold", 0.2}, {"nms_topk", 100}});
  detect({{"force_suppress", true}, {"clip", false}, {"variances", "(0.5, 0.4, 0.3, 0.2)"}});
  detect({{"nms_threshold", 0}, {"threshold", 0.5}});
  const Symbol all = outputs.back();
  const Symbol images = Op("expand_dims", {all}, {{"axis", 0}});
  add("_contrib_box_nms", {all}, {{"id_index", 0}, {"background_id", 1}, {"topk", 200}});
  add("_contrib_box_nms", {images}, {{"overlap_thresh", 0.3}, {"out_format", "center"}});
  // Boxes with negative sides too.
  add("_contrib_box_nms", {Op("_minus_scalar", {all}, {{"scalar", 0.5}})},
      {{"id_index", 0}, {"force_suppress", true}, {"in_format", "center"}, {"topk", 300}});
  add("_contrib_box_nms", {images},
      {{"id_index", 0}, {"in_format", "center"}, {"out_format", "corner"}, {"valid_thresh", 0.6}});
  return Symbol::Keep(Symbol::Group(outputs));
}

Symbol ManyImageOperators() {
  const Symbol x = Op("_minus_scalar", {Symbol::Variable("data")}, {{"scalar", 0.5}});
  std::vector<Symbol> outputs;
  const auto add = [&](const char* op, AttrValues attrs = {}) {
    outputs.push_back(Op(op, {x}, std::move(attrs))[0]);
  };
  for (const char* type : {"max", "avg", "sum", "lp"}) {
    for (const char* convention : {"valid", "full"}) {
      for (const char* counts : {"True", "False"}) {
        add("Pooling", {{"pool_type", type},
                        {"pooling_convention", convention},
                        {"count_include_pad", counts},
                        {"p_value", 2},
                        {"kernel", "(3, 4)"},
                        {"stride", "(2, 3)"},
                        {"pad", "(1, 1)"}});
      }
    }
    add("Pooling", {{"pool_type", type}, {"global_pool", true}, {"p_value", 2}});
    add("Pooling", {{"pool_type", type},
                    {"pooling_convention", "same"},
                    {"p_value", 2},
                    {"kernel", "(3, 3)"},
                    {"stride", "(2, 3)"}});
  }
  add("Pooling_v1",
      {{"pool_type", "max"}, {"kernel", "(3, 3)"}, {"stride", "(2, 2)"}, {"pad", "(1, 1)"}});
  add("_contrib_AdaptiveAvgPooling2D", {{"output_size", "(4, 5)"}});
  add("Deconvolution", {{"kernel", "(3, 3)"},
                        {"stride", "(2, 2)"},
                        {"pad", "(1, 1)"},
                        {"adj", "(1, 0)"},
                        {"num_filter", 6},
                        {"num_group", 2}});
  add("Deconvolution", {{"kernel", "(4, 4)"},
                        {"stride", "(2, 2)"},
                        {"target_shape", "(31, 40)"},
                        {"num_filter", 3},
                        {"no_bias", false}});
  add("Convolution",
      {{"kernel", "(3, 2)"}, {"dilate", "(2, 1)"}, {"num_filter", 8}, {"num_group", 4}});
  add("BatchNorm", {{"fix_gamma", false}});
  add("BatchNorm", {{"axis", 3}});
  add("InstanceNorm");
  add("GroupNorm", {{"num_groups", 2}});
  add("LRN", {{"nsize", 3}, {"alpha", 0.5}});
  for (const char* mode : {"instance", "channel", "spatial"})
    add("L2Normalization", {{"mode", mode}});
  for (const char* type : {"leaky", "prelu", "elu", "selu", "gelu", "rrelu"})
    add("LeakyReLU", {{"act_type", type}});
  for (const char* type : {"sigmoid", "tanh", "softrelu", "softsign"})
    add("Activation", {{"act_type", type}});
  add("UpSampling", {{"scale", 2}, {"sample_type", "nearest"}});
  add("UpSampling", {{"scale", 3}, {"sample_type", "bilinear"}, {"num_filter", 4}});
  add("_contrib_BilinearResize2D", {{"height", 9}, {"width", 33}});
  add("_contrib_BilinearResize2D", {{"height", 32}, {"width", 10}, {"align_corners", false}});
  for (const char* mode : {"constant", "edge", "reflect"}) {
    add("Pad",
        {{"mode", mode}, {"pad_width", "(0, 0, 0, 0, 1, 2, 3, 4)"}, {"constant_value", 0.5}});
  }
  add("depth_to_space", {{"block_size", 2}});
  add("space_to_depth", {{"block_size", 4}});
  add("Crop", {{"num_args", 1}, {"h_w", "(5, 6)"}, {"center_crop", true}});
  add("SoftmaxActivation", {{"mode", "channel"}});
  return Symbol::Keep(Symbol::Group(outputs));
}

Symbol ManyArrayOperators() {
  const Symbol data = Symbol::Variable("data");
  const Symbol x = Op("_minus_scalar", {data}, {{"scalar", 0.5}});
  const Symbol positive = Op("_plus_scalar", {data}, {{"scalar", 0.1}});
  const Symbol rows = Op("slice_axis", {x}, {{"axis", 1}, {"begin", 1}, {"end", 2}});
  std::vector<Symbol> outputs;
  const auto add = [&](const char* op, std::vector<Symbol> inputs, AttrValues attrs = {}) {
    const Symbol out = Op(op, std::move(inputs), std::move(attrs));
    if (!out.status().ok()) outputs.push_back(out);
    for (int i = 0; i < out.num_outputs(); ++i) outputs.push_back(out[i]);
  };
  for (const char* op : {"relu",
                         "sigmoid",
                         "softsign",
                         "abs",
                         "sign",
                         "round",
                         "rint",
                         "ceil",
                         "floor",
                         "trunc",
                         "fix",
                         "square",
                         "cbrt",
                         "exp",
                         "expm1",
                         "sin",
                         "cos",
                         "tan",
                         "arcsin",
                         "arccos",
                         "arctan",
                         "sinh",
                         "cosh",
                         "tanh",
                         "arcsinh",
                         "erf",
                         "negative",
                         "degrees",
                         "radians",
                         "logical_not",
                         "_contrib_div_sqrt_dim"}) {
    add(op, {x});
  }
  for (const char* op : {"sqrt", "rsqrt", "rcbrt", "reciprocal", "log", "log10", "log2", "log1p"}) {
    add(op, {positive});
  }
  add("arccosh", {Op("_plus_scalar", {positive}, {{"scalar", 1}})});
  add("arctanh", {Op("_mul_scalar", {x}, {{"scalar", 0.5}})});
  add("clip", {x}, {{"a_min", -0.25}, {"a_max", 0.125}});
  add("hard_sigmoid", {x}, {{"alpha", 0.5}});
  add("smooth_l1", {x}, {{"scalar", 2}});
  add("_contrib_quadratic", {x}, {{"a", 2}, {"b", -1}, {"c", 0.5}});
  for (const char* op :
       {"add", "sub", "mul", "mod", "maximum", "minimum", "hypot", "equal", "not_equal", "greater",
        "greater_equal", "lesser", "lesser_equal", "logical_and", "logical_or", "logical_xor"}) {
    add(absl::StrCat("broadcast_", op).c_str(), {x, rows});
  }
  add("broadcast_div", {x, Op("slice_like", {positive, rows})});
  add("broadcast_power", {positive, rows});
  for (const char* op : {"_plus", "_minus", "_rminus", "_mul", "_div", "_rdiv", "_mod", "_maximum",
                         "_minimum", "_hypot", "_greater", "_lesser_equal", "_rpower"}) {
    add(absl::StrCat(op, "_scalar").c_str(), {x}, {{"scalar", 0.25}});
  }
  add("_power_scalar", {positive}, {{"scalar", 1.5}});
  add("where", {Op("_greater_scalar", {x}, {{"scalar", 0}}), x, positive});
  add("add_n", {x, positive, data});
  for (const char* op : {"sum", "mean", "prod", "max", "min"}) {
    add(op, {x}, {{"axis", "(1,)"}});
    add(op, {x}, {{"axis", "(0, 2)"}, {"exclude", true}, {"keepdims", true}});
    add(op, {x});
  }
  add("norm", {x}, {{"axis", "(1, 2)"}});
  add("norm", {x}, {{"ord", 1}, {"axis", "(2,)"}, {"keepdims", true}});
  add("moments", {x}, {{"axes", "(1, 2)"}});
  add("argmax", {x}, {{"axis", 2}});
  add("argmin", {x}, {{"axis", 1}, {"keepdims", true}});
  add("_np_cumsum", {x}, {{"axis", 2}});
  add("Reshape", {x}, {{"shape", "(-3, 0)"}});
  add("Reshape", {x}, {{"shape", "(0, -4, 2, -1, -2)"}});
  add("Reshape", {x}, {{"shape", "(-1,)"}});
  add("Reshape", {x}, {{"shape", "(-1, 2, 0)"}, {"reverse", true}});
  add("expand_dims", {x}, {{"axis", -1}});
  add("transpose", {x});
  add("SwapAxis", {x}, {{"dim1", 0}, {"dim2", 2}});
  add("Concat", {x, positive}, {{"dim", 2}});
  add("stack", {x, positive}, {{"axis", -1}});
  add("slice", {x},
      {{"begin", "(None, 4, None)"}, {"end", "(None, 1, -1)"}, {"step", "(None, -2, 3)"}});
  add("SliceChannel", {x}, {{"num_outputs", 2}, {"axis", 2}});
  add("SliceChannel", {x}, {{"num_outputs", 6}, {"squeeze_axis", true}});
  add("_split_v2", {x}, {{"indices", "(0, 2, 5)"}, {"axis", 2}});
  add("tile", {x}, {{"reps", "(2, 1, 3)"}});
  add("repeat", {x}, {{"repeats", 2}, {"axis", 1}});
  add("repeat", {x}, {{"repeats", 3}});
  add("reverse", {x}, {{"axis", "(1, 2)"}});
  add("broadcast_like", {rows, x});
  add("softmax", {x}, {{"temperature", 0.5}});
  add("softmax", {x}, {{"axis", 1}});
  add("softmin", {x});
  add("log_softmax", {x}, {{"axis", 1}});
  const Symbol lengths =
      Op("_mul_scalar", {Op("mean", {data}, {{"axis", "(1,)"}})}, {{"scalar", 8}});
  add("softmax", {x, lengths}, {{"axis", 1}, {"use_length", true}});
  const Symbol steps = Op("transpose", {x}, {{"axes", "(1, 0, 2)"}});
  const Symbol ends =
      Op("_mul_scalar", {Op("mean", {data}, {{"axis", "(1, 2)"}})}, {{"scalar", 9}});
  for (const char* op : {"SequenceMask", "SequenceReverse", "SequenceLast"}) {
    add(op, {steps, ends}, {{"use_sequence_length", true}});
    add(op, {steps});
  }
  add("SequenceMask", {x, ends}, {{"use_sequence_length", true}, {"axis", 1}, {"value", -1}});
  add("SequenceLast", {x, ends}, {{"use_sequence_length", true}, {"axis", 1}});
  const Symbol ids = Op("_mul_scalar", {Op("mean", {data}, {{"axis", "(2,)"}})}, {{"scalar", 9}});
  add("one_hot", {ids}, {{"depth", 6}, {"on_value", 2}, {"off_value", -1}});
  add("take", {x, ids}, {{"axis", 2}});
  add("take", {x, ids}, {{"axis", 1}, {"mode", "wrap"}});
  add("take", {x, ids});
  add("pick", {x, ids});
  add("Embedding", {ids}, {{"input_dim", 5}, {"output_dim", 3}});
  add("topk", {x}, {{"k", 3}, {"ret_typ", "both"}});
  add("sort", {x}, {{"axis", 1}, {"is_ascend", false}});
  add("argsort", {x});
  add("zeros_like", {x});
  add("_contrib_arange_like", {x}, {{"axis", 0}, {"step", 2}, {"start", 1}});
  add("batch_dot", {x, x}, {{"transpose_b", true}});
  add("_linalg_gemm2", {x, x}, {{"transpose_a", true}, {"alpha", 0.5}});
  add("dot", {x, Op("Reshape", {Op("slice_axis", {rows}, {{"axis", 0}, {"begin", 0}, {"end", 1}})},
                    {{"shape", "(8, 1)"}})});
  add("FullyConnected", {x}, {{"num_hidden", 4}});
  add("FullyConnected", {x}, {{"num_hidden", 4}, {"flatten", false}, {"no_bias", true}});
  add("LayerNorm", {x});
  add("LayerNorm", {x}, {{"axis", 1}});
  add("SoftmaxOutput", {x});
  add("SoftmaxOutput", {x}, {{"multi_output", true}});
  add("LogisticRegressionOutput", {x});
  const Symbol projected = Op("_contrib_interleaved_matmul_encdec_qk",
                              {steps, Op("Concat", {steps, steps}, {{"dim", 2}})}, {{"heads", 2}});
  outputs.push_back(projected);
  add("_contrib_interleaved_matmul_encdec_valatt",
      {Op("Concat", {steps, steps}, {{"dim", 2}}), projected}, {{"heads", 2}});
  return Symbol::Keep(Symbol::Group(outputs));
}

}  // namespace cooper
