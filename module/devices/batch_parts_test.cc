// The rules of operators about samples (symbol/schema/batch_layout.h): where a rule says where
// samples are, an operator that runs on parts of a batch computes the parts of what it computes of
// all of it.

#include "module/devices/batch_parts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/control/foreach.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_batch_layout.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Kind = BatchLayout::Kind;

// Axes have this extent, so that any of them may be the batch's.
constexpr int64_t kExtent = 4;
const std::vector<BatchSlice> kSlices = {{0, 1}, {1, 4}};

struct OpCase {
  const char* op;
  AttrMap attrs;
  std::vector<int> ranks;           // of the inputs that are given; others are parameters
  std::set<int> whole_inputs = {};  // those that hold indices, classes or lengths
  std::vector<Shape> shapes = {};   // of the inputs, if not all extents are kExtent

  Shape shape(size_t i) const {
    return shapes.empty() ? Shape(std::vector<int64_t>(ranks[i], kExtent)) : shapes[i];
  }
};

// Fills a parameter with values that vary along its first and last axes only, so that all samples
// get equal values if the batch axis lies between.
absl::Status FillParameter(const NDArray& array, uint64_t seed) {
  const Shape& shape = array.shape();
  const int64_t last = shape.rank() == 0 ? 1 : shape[shape.rank() - 1];
  const int64_t of_first = shape.rank() < 2 ? shape.num_elements() : shape.Product(1, shape.rank());
  std::vector<float> values(shape.num_elements());
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    const int64_t at_first = i / of_first;
    values[i] = std::sin(0.7f * static_cast<float>(i % last) + 1.3f * static_cast<float>(at_first) +
                         static_cast<float>(seed));
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray filled, NDArray::FromVector(shape, values));
  return array.CopyFrom(filled);
}

// Returns the outputs of `symbol` for these inputs. Parameters are the same in every call.
absl::StatusOr<std::vector<NDArray>> Compute(const Symbol& symbol,
                                             const std::map<std::string, NDArray>& inputs) {
  BindOptions bind;
  bind.grad_req = WriteReq::kNull;
  for (const auto& [name, array] : inputs) {
    bind.shapes[name] = PartialShape(array.shape());
  }
  COOPER_ASSIGN_OR_RETURN(const auto executor, Executor::SimpleBind(symbol, bind));
  uint64_t seed = 1;
  for (const std::string& name : executor->arg_names()) {
    const auto input = inputs.find(name);
    if (input != inputs.end()) {
      COOPER_RETURN_IF_ERROR(executor->arg(name).CopyFrom(input->second));
    } else {
      COOPER_RETURN_IF_ERROR(FillParameter(executor->arg(name), seed++));
    }
  }
  COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/false));
  COOPER_ASSIGN_OR_RETURN(const auto outputs, executor->outputs());
  std::vector<NDArray> copies;
  for (const NDArray& output : outputs) {
    COOPER_ASSIGN_OR_RETURN(copies.emplace_back(), output.Copy());
  }
  return copies;
}

NDArray WholeNumbers(const Shape& shape, uint64_t seed) {
  std::vector<float> values = Floats(RandomArrays({shape}, seed)[0]);
  for (float& value : values) value = std::floor(std::min(std::abs(value) * 4, 3.5f));
  return *NDArray::FromVector(shape, values);
}

// Sums of few elements below 8, in another order.
bool Near(const NDArray& a, const NDArray& b) {
  if (a.shape() != b.shape()) return false;
  const std::vector<float> x = Floats(a), y = Floats(b);
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;  // boxes of negative size
    if (x[i] != y[i] && !(std::abs(x[i] - y[i]) <= 1e-4f * (1 + std::abs(y[i])))) return false;
  }
  return true;
}

std::string Text(const OpCase& c, const std::vector<int>& axes) {
  std::string text = c.op;
  for (const auto& [key, value] : c.attrs) absl::StrAppend(&text, " ", key, "=", value);
  for (const int axis : axes) absl::StrAppend(&text, " ", axis);
  return text;
}

// Runs a symbol on a batch and on its parts, and compares the outputs whose layout is known.
// Returns their number. Messages begin with `text`.
int ExpectPartsOfWhole(const std::string& text, const Symbol& symbol,
                       const std::map<std::string, BatchInput>& batch,
                       const std::map<std::string, NDArray>& whole) {
  const auto layouts = BatchLayouts::Infer(symbol, batch);
  if (!layouts.ok()) return 0;
  const auto all_unknown = [](const BatchLayout& layout) { return layout.is_unknown(); };
  if (std::all_of(layouts->outputs().begin(), layouts->outputs().end(), all_unknown)) return 0;
  const auto outputs = Compute(symbol, whole);
  if (!outputs.ok()) return 0;
  std::vector<std::vector<NDArray>> parts(outputs->size());
  for (size_t p = 0; p < kSlices.size(); ++p) {
    std::map<std::string, NDArray> part = whole;
    for (auto& [name, array] : part) {
      const int axis = batch.at(name).axis;
      if (axis >= 0) array = *ReadSlice(array, BatchLayout::Samples(axis), kSlices, p);
    }
    const auto computed = Compute(symbol, part);
    if (!computed.ok()) return 0;  // as binding it to several contexts is
    for (size_t k = 0; k < parts.size(); ++k) parts[k].push_back((*computed)[k]);
  }
  int known = 0;
  for (size_t k = 0; k < outputs->size(); ++k) {
    const BatchLayout& layout = layouts->outputs()[k];
    if (layout.is_unknown()) continue;
    NDArray joined;
    const absl::Status status = JoinParts(parts[k], layout, kSlices, joined);
    EXPECT_TRUE(status.ok()) << text << ": " << status;
    if (status.ok()) {
      EXPECT_TRUE(Near(joined, (*outputs)[k])) << text << ": output " << k << ", " << layout;
    }
    ++known;
  }
  return known;
}

// Runs the operator on a batch and on its parts, the batch being along `axes` of the inputs.
int ExpectPartsOfWhole(const OpCase& c, const std::vector<int>& axes) {
  OpArgs args = {.name = "op", .attrs = c.attrs};
  std::map<std::string, BatchInput> batch;
  std::map<std::string, NDArray> whole;
  for (size_t i = 0; i < c.ranks.size(); ++i) {
    const std::string name = absl::StrCat("in", i);
    args.inputs.push_back(Symbol::Variable(name));
    const Shape shape = c.shape(i);
    batch[name] = {.shape = shape, .axis = axes[i]};
    whole[name] = c.whole_inputs.contains(static_cast<int>(i)) ? WholeNumbers(shape, i)
                                                               : RandomArrays({shape}, 10 + i)[0];
  }
  return ExpectPartsOfWhole(Text(c, axes), *Symbol::Create(c.op, args), batch, whole);
}

// Every choice of batch axes of the inputs, -1 being none, but all of them none.
int ExpectPartsOfWhole(const OpCase& c) {
  int known = 0;
  std::vector<int> axes(c.ranks.size(), -1);
  while (true) {
    size_t i = 0;
    while (i < axes.size() && ++axes[i] == c.ranks[i]) axes[i++] = -1;
    if (i == axes.size()) return known;
    known += ExpectPartsOfWhole(c, axes);
  }
}

// The data of a loop may be cut along every axis but that of the steps; its state, which the first
// step gives samples if it had none, follows.
TEST(BatchPartsTest, LoopsComputePartsOfTheWhole) {
  const Symbol data = Symbol::Variable("data"), begin = Symbol::Variable("begin");
  const auto call = [](const char* op, std::vector<Symbol> inputs, AttrMap attrs = {}) {
    return *Symbol::Create(op, {.inputs = std::move(inputs), .attrs = attrs});
  };
  const auto loop_from = [&](const Symbol& first) {
    const ForeachResult loop = Foreach(
        [&](const std::vector<Symbol>& inputs, const std::vector<Symbol>& states) {
          const Symbol sum = call("elemwise_add", {inputs[0], states[0]});
          return ForeachStep{.outputs = {call("softmax", {sum})}, .states = {call("tanh", {sum})}};
        },
        {data}, {first}, "loop");
    return *Symbol::Group({loop.outputs[0], loop.states[0]});
  };
  const Symbol zeros = call("zeros_like", {call("sum", {data}, {{"axis", "0"}})});
  const std::map<std::string, NDArray> whole = {
      {"data", RandomArrays({{kExtent, kExtent, kExtent}}, 10)[0]},
      {"begin", RandomArrays({{kExtent, kExtent}}, 11)[0]}};
  // The softmax of a step is over all samples if they are on its last axis.
  for (const auto& [data_axis, begin_axis, known] :
       {std::tuple(0, 0, 0), {0, -1, 0}, {1, 0, 2}, {2, 1, 1}, {1, 1, 0}}) {
    const std::string text = absl::StrCat("axes ", data_axis, " ", begin_axis);
    const std::map<std::string, BatchInput> batch = {
        {"data", {.shape = whole.at("data").shape(), .axis = data_axis}},
        {"begin", {.shape = whole.at("begin").shape(), .axis = begin_axis}}};
    EXPECT_EQ(ExpectPartsOfWhole(text, loop_from(begin), batch, whole), known) << text;
  }
  for (const auto& [axis, known] : {std::pair(0, 0), {1, 2}, {2, 1}}) {
    EXPECT_EQ(ExpectPartsOfWhole(absl::StrCat("axis ", axis), loop_from(zeros),
                                 {{"data", {.shape = whole.at("data").shape(), .axis = axis}}},
                                 {*whole.find("data")}),
              known);
  }
}

TEST(BatchPartsTest, OperatorsComputePartsOfTheWhole) {
  const OpCase kCases[] = {
      {"relu", {}, {3}},
      {"elemwise_mul", {}, {2, 2}},
      {"broadcast_add", {}, {3, 2}},
      {"broadcast_div", {}, {2, 2}},
      {"add_n", {}, {2, 2, 2}},
      {"_plus_scalar", {{"scalar", "2"}}, {2}},
      {"Cast", {{"dtype", "float64"}}, {2}},
      {"clip", {{"a_min", "0"}, {"a_max", "1"}}, {2}},
      {"where", {}, {2, 2, 2}, {0}},
      {"where", {}, {1, 2, 2}, {0}},
      {"zeros_like", {}, {2}},
      {"_contrib_arange_like", {{"axis", "1"}}, {2}},
      {"Dropout", {}, {2}},
      {"LeakyReLU", {{"act_type", "prelu"}}, {3}},
      {"_contrib_div_sqrt_dim", {}, {2}},
      {"amp_multicast", {{"num_outputs", "2"}}, {2, 2}},
      // Views and moves.
      {"Reshape", {{"shape", "(-1,)"}}, {3}},
      {"Reshape", {{"shape", "(-1, 4)"}}, {3}},
      {"Reshape", {{"shape", "(-3, -2)"}}, {3}},
      {"Reshape", {{"shape", "(0, -4, -1, 2, -2)"}}, {3}},
      {"Reshape", {{"shape", "(2, -1)"}}, {3}},
      {"reshape_like", {}, {3, 3}},
      {"Flatten", {}, {3}},
      {"expand_dims", {{"axis", "1"}}, {2}},
      {"transpose", {{"axes", "(2, 0, 1)"}}, {3}},
      {"SwapAxis", {{"dim1", "0"}, {"dim2", "2"}}, {3}},
      {"SliceChannel", {{"num_outputs", "2"}, {"axis", "1"}}, {3}},
      {"SliceChannel", {{"num_outputs", "4"}, {"axis", "1"}, {"squeeze_axis", "True"}}, {3}},
      {"_split_v2", {{"indices", "(0, 1)"}, {"axis", "0"}}, {3}},
      {"Concat", {{"dim", "1"}}, {3, 3}},
      {"stack", {{"axis", "1"}}, {2, 2}},
      {"slice", {{"begin", "(None, 1)"}, {"end", "(None, 3)"}}, {3}},
      {"slice_axis", {{"axis", "-1"}, {"begin", "0"}, {"end", "2"}}, {3}},
      {"slice_axis", {{"axis", "0"}, {"begin", "0"}, {"end", "None"}}, {3}},
      {"slice_like", {{"axes", "(1,)"}}, {2, 2}},
      {"tile", {{"reps", "(2, 1)"}}, {2}},
      {"tile", {{"reps", "(2, 1, 3)"}}, {2}},
      {"repeat", {{"repeats", "2"}, {"axis", "1"}}, {2}},
      {"repeat", {{"repeats", "2"}}, {2}},
      {"reverse", {{"axis", "(1,)"}}, {3}},
      {"Pad", {{"mode", "constant"}, {"pad_width", "(0, 0, 0, 0, 1, 1, 1, 2)"}}, {4}},
      {"depth_to_space", {{"block_size", "2"}}, {4}},
      {"broadcast_like", {}, {2, 2}},
      // Reductions.
      {"sum", {{"axis", "1"}}, {3}},
      {"sum", {}, {2}},
      {"sum", {{"axis", "0"}, {"keepdims", "True"}}, {3}},
      {"mean", {{"axis", "(0, 2)"}}, {3}},
      {"mean", {{"axis", "1"}, {"exclude", "True"}}, {3}},
      {"nansum", {{"axis", "0"}}, {2}},
      {"max", {{"axis", "1"}}, {3}},
      {"prod", {{"axis", "0"}}, {3}},
      {"norm", {{"axis", "1"}}, {3}},
      {"moments", {{"axes", "(1,)"}}, {2}},
      {"moments", {{"axes", "(0,)"}}, {2}},
      {"argmax", {{"axis", "1"}}, {3}},
      {"argmax_channel", {}, {3}},
      {"cumsum", {{"axis", "1"}}, {3}},
      // Lookups and orders.
      {"Embedding", {{"input_dim", "5"}, {"output_dim", "3"}}, {2}, {0}},
      {"take", {{"axis", "1"}}, {3, 2}, {1}},
      {"take", {{"axis", "0"}}, {2, 2}, {1}},
      {"pick", {{"axis", "1"}}, {3, 2}, {1}},
      {"pick", {{"axis", "1"}, {"keepdims", "True"}}, {3, 2}, {1}},
      {"batch_take", {}, {2, 1}, {1}},
      {"one_hot", {{"depth", "5"}}, {2}, {0}},
      {"gather_nd", {}, {4, 2}, {1}},
      {"topk", {{"axis", "1"}, {"k", "2"}, {"ret_typ", "both"}}, {3}},
      {"sort", {{"axis", "0"}}, {3}},
      {"argsort", {{"axis", "-1"}}, {3}},
      {"SequenceMask", {{"use_sequence_length", "True"}}, {3, 1}, {1}},
      {"SequenceMask", {{"use_sequence_length", "True"}, {"axis", "1"}}, {3, 1}, {1}},
      {"SequenceReverse", {{"use_sequence_length", "True"}}, {3, 1}, {1}},
      {"SequenceLast", {{"use_sequence_length", "True"}, {"axis", "1"}}, {3, 1}, {1}},
      {"SequenceLast", {}, {3}},
      // Products.
      {"FullyConnected", {{"num_hidden", "3"}}, {3}},
      {"FullyConnected", {{"num_hidden", "3"}, {"flatten", "False"}}, {3}},
      {"dot", {}, {3, 2}},
      {"dot", {{"transpose_a", "True"}}, {2, 2}},
      {"dot", {{"transpose_b", "True"}}, {2, 2}},
      {"batch_dot", {}, {3, 3}},
      {"batch_dot", {{"transpose_a", "True"}, {"transpose_b", "True"}}, {3, 3}},
      {"_linalg_gemm2", {}, {3, 3}},
      {"_linalg_syrk", {}, {3}},
      {"_linalg_det", {}, {3}},
      {"_contrib_interleaved_matmul_selfatt_qk", {{"heads", "2"}}, {3}, {}, {{4, 4, 12}}},
      // Layers.
      {"softmax", {}, {3}},
      {"log_softmax", {{"axis", "1"}}, {3}},
      {"softmax", {{"axis", "1"}, {"use_length", "True"}}, {3, 2}, {1}},
      {"SoftmaxActivation", {}, {2}},
      {"LayerNorm", {}, {3}},
      {"LayerNorm", {{"axis", "1"}}, {3}},
      {"InstanceNorm", {}, {3}},
      {"GroupNorm", {{"num_groups", "2"}}, {3}},
      {"L2Normalization", {{"mode", "instance"}}, {3}},
      {"L2Normalization", {{"mode", "channel"}}, {3}},
      {"L2Normalization", {{"mode", "spatial"}}, {3}},
      {"LRN", {{"nsize", "3"}}, {4}},
      {"BatchNorm", {}, {3}},
      {"Convolution", {{"kernel", "(3,)"}, {"num_filter", "2"}}, {3}},
      {"_contrib_DeformableConvolution",
       {{"kernel", "(1, 2)"}, {"num_filter", "2"}},
       {4, 4},
       {},
       {{4, 3, 4, 5}, {4, 4, 4, 4}}},
      {"_contrib_ModulatedDeformableConvolution",
       {{"kernel", "(2, 1)"}, {"num_filter", "2"}, {"no_bias", "True"}},
       {4, 4, 4},
       {},
       {{4, 3, 5, 4}, {4, 4, 4, 4}, {4, 2, 4, 4}}},
      {"_contrib_box_encode", {}, {2, 2, 3, 3}},
      {"_contrib_box_decode", {}, {3}},
      {"_contrib_bipartite_matching", {{"threshold", "0"}}, {4}},
      {"Pooling", {{"kernel", "(2,)"}, {"pool_type", "max"}}, {3}},
      {"UpSampling", {{"scale", "2"}, {"sample_type", "nearest"}}, {4}},
      {"BilinearSampler", {}, {4, 4}, {}, {{4, 3, 4, 4}, {4, 2, 4, 4}}},
      {"RNN",
       {{"mode", "lstm"}, {"state_size", "4"}, {"num_layers", "4"}, {"state_outputs", "True"}},
       {3}},
      // Losses.
      {"SoftmaxOutput", {}, {2, 1}, {1}},
      {"SoftmaxOutput", {{"multi_output", "True"}}, {3, 2}, {1}},
      {"SoftmaxOutput", {{"preserve_shape", "True"}}, {3, 2}, {1}},
      {"LinearRegressionOutput", {}, {2, 2}},
      {"SVMOutput", {}, {2, 1}, {1}},
      {"softmax_cross_entropy", {}, {2, 1}, {1}},
      {"CTCLoss", {}, {3, 2}, {1}},
      {"MakeLoss", {}, {2}},
  };
  int known = 0;
  for (const OpCase& c : kCases) {
    const int of_case = ExpectPartsOfWhole(c);
    EXPECT_GT(of_case, 0) << Text(c, {}) << ": nothing is known";
    known += of_case;
  }
  EXPECT_GT(known, 200);  // choices of axes that were compared
}

// Layouts of graphs of several operators: of data (5, 3, 2), whose axis 1 is the batch's.
struct GraphCase {
  const char* name;
  Symbol symbol;
  const char* layout;
};

Symbol Named(const char* op, const Symbol& data, const AttrMap& attrs) {
  return Op(op, {.inputs = {data}, .attrs = attrs});
}

TEST(BatchLayoutsTest, FollowsMergedAxes) {
  const Symbol data = Symbol::Variable("data");
  const Symbol rows = Named("Reshape", data, {{"shape", "(-1, 2)"}});
  const Symbol flat = Named("Reshape", data, {{"shape", "(-1,)"}});
  const Symbol mean = Named("mean", data, {});
  const Symbol heads = Named("FullyConnected", data, {{"num_hidden", "12"}, {"flatten", "False"}});
  const GraphCase kCases[] = {
      {"Rows", rows, "axis 0 as (5, N, 1)"},
      {"Elements", flat, "axis 0 as (5, N, 2)"},
      {"RowsThroughALayer", Named("FullyConnected", rows, {{"num_hidden", "7"}}),
       "axis 0 as (5, N, 1)"},
      {"TakenApart", Named("Reshape", rows, {{"shape", "(5, -1, 2)"}}), "axis 1"},
      {"MergedTheOtherWay",
       Named("Reshape", Named("transpose", data, {{"axes", "(1, 0, 2)"}}), {{"shape", "(-1, 2)"}}),
       "axis 0 as (1, N, 5)"},
      {"LastStep", Named("SequenceLast", data, {}), "axis 0"},
      {"SelfAttention",
       Op("_contrib_interleaved_matmul_selfatt_valatt",
          {.inputs = {heads, Named("softmax",
                                   Named("_contrib_interleaved_matmul_selfatt_qk", heads,
                                         {{"heads", "2"}}),
                                   {})},
           .attrs = {{"heads", "2"}}}),
       "axis 1"},
      {"Flattened", Named("FullyConnected", data, {{"num_hidden", "7"}}), "unknown"},
      {"Mean", mean, "a mean over samples"},
      {"LinearInAMean",
       Named("_plus_scalar", Named("_mul_scalar", mean, {{"scalar", "3"}}), {{"scalar", "1"}}),
       "a mean over samples"},
      {"RootOfAMean", Named("sqrt", mean, {}), "unknown"},
      {"SumOfASum", Named("sum", Named("sum", data, {{"axis", "1"}}), {}), "a sum over samples"},
      {"SumAndConstant", Named("_plus_scalar", Named("sum", data, {}), {{"scalar", "1"}}),
       "unknown"},
      {"StatisticsOfABatch", Op("broadcast_sub", {.inputs = {data, mean}}), "unknown"},
      {"ParameterAlone", Named("square", Symbol::Variable("weight", {.shape = {2}}), {}),
       "no samples"},
  };
  for (const GraphCase& c : kCases) {
    COOPER_ASSERT_OK_AND_ASSIGN(
        const BatchLayouts layouts,
        BatchLayouts::Infer(c.symbol, {{"data", {.shape = {5, 3, 2}, .axis = 1}}}));
    EXPECT_EQ(layouts.outputs()[0].ToString(), c.layout) << c.name;
  }
}

TEST(BatchLayoutsTest, StatesAndDeclaredAxes) {
  const Symbol data = Symbol::Variable("data");
  const Symbol rnn = Op(
      "RNN",
      {.name = "rnn",
       .inputs = {data},
       .attrs = {
           {"mode", "gru"}, {"state_size", "4"}, {"num_layers", "2"}, {"state_outputs", "True"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(
      const BatchLayouts layouts,
      BatchLayouts::Infer(rnn, {{"data", {.shape = {5, 3, 2}, .axis = 1}}}, {"rnn_state"}));
  EXPECT_THAT(layouts.outputs(), ElementsAre(BatchLayout::Samples(1), BatchLayout::Samples(1)));
  EXPECT_EQ(layouts.variable("rnn_state"), BatchLayout::Samples(1));
  // khatri_rao has no rule.
  const auto infer = [&](const AttrMap& attrs) {
    const Symbol unknown = Op("khatri_rao", {.name = "kr", .inputs = {data, data}, .attrs = attrs});
    return *BatchLayouts::Infer(unknown, {{"data", {.shape = {3, 2}, .axis = 1}}});
  };
  EXPECT_TRUE(infer({}).outputs()[0].is_unknown());
  EXPECT_EQ(infer({}).first_unknown_node(0), "khatri_rao 'kr'");
  EXPECT_EQ(infer({{"__layout__", "CN"}}).outputs()[0], BatchLayout::Samples(1));
  EXPECT_THAT(BatchLayouts::Infer(Op("dot", {.inputs = {data, Symbol::Variable("b")}}),
                                  {{"data", {.shape = {3, 2}}}, {"b", {.shape = {2, 2}}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 3 samples, 'b' has 2")));
}

TEST(BatchLayoutsTest, LossesThatAMeanReachesAreWeighted) {
  const Symbol loss = Op("MakeLoss", {.name = "loss",
                                      .inputs = {Named("mean", Symbol::Variable("data"), {})},
                                      .attrs = {{"grad_scale", "3"}}});
  COOPER_ASSERT_OK_AND_ASSIGN(const BatchLayouts layouts,
                              BatchLayouts::Infer(loss, {{"data", {.shape = {4, 2}}}}));
  ASSERT_EQ(layouts.weighted_losses().size(), 1u);
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol weighted,
                              WeightLosses(loss, layouts.weighted_losses(), 0.25));
  EXPECT_EQ(weighted.outputs()[0].node->attrs().at("grad_scale"), "0.75");
  EXPECT_EQ(weighted.ListOutputs(), loss.ListOutputs());
}

}  // namespace
}  // namespace cooper
