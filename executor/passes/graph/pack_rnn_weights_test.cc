// Checks that recurrent layers with constant weights compute the same as others, with weights that
// are packed once and several layers in one node.

#include "executor/passes/graph/pack_rnn_weights.h"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "executor/passes/graph/constants_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/threads/parallel.h"
#include "symbol/graph/symbol.h"
#include "symbol/op/nn.h"
#include "symbol/op/operators.h"

namespace cooper {
namespace {

struct Layer {
  std::string mode = "lstm";
  int hidden = 20;
  Symbol state = Symbol();    // null: a variable
  Symbol lengths = Symbol();  // null: no lengths
  AttrMap attrs = {};
};

// Returns the outputs `output`, `state_output` and, for lstm, `statecell_output`.
Symbol MakeLayer(const std::string& name, const Symbol& data, const Layer& layer) {
  std::vector<Symbol> inputs = {data};
  for (const char* input : {"i2h_weight", "i2h_bias", "h2h_weight", "h2h_bias"}) {
    inputs.push_back(Symbol::Variable(absl::StrCat(name, "_", input)));
  }
  inputs.push_back(layer.state.num_outputs() > 0 ? layer.state
                                                 : Symbol::Variable(absl::StrCat(name, "_state")));
  if (layer.mode == "lstm") inputs.push_back(Symbol::Variable(absl::StrCat(name, "_state_cell")));
  AttrMap attrs = layer.attrs;
  attrs["mode"] = layer.mode;
  attrs["state_size"] = absl::StrCat(layer.hidden);
  attrs["num_layers"] = "1";
  attrs["state_outputs"] = "True";
  if (layer.lengths.num_outputs() > 0) {
    inputs.push_back(layer.lengths);
    attrs["use_sequence_length"] = "True";
  }
  return Op("_rnn_layer", {.name = name, .inputs = inputs, .attrs = attrs});
}

int CountPrepared(const Executor& executor) {
  int count = 0;
  for (const Instruction& instruction : executor.compiled()->program().instructions) {
    count += instruction.node->op()->name() == "_prepared_rnn" ? 1 : 0;
  }
  return count;
}

std::vector<std::vector<float>> Outputs(Executor& executor) {
  FillRandom(executor.arg("data"), 99);
  COOPER_EXPECT_OK(executor.Forward(/*is_train=*/false));
  std::vector<std::vector<float>> outputs;
  const absl::Span<const NDArray> arrays = *executor.outputs();
  for (const NDArray& output : arrays) outputs.push_back(Floats(output));
  return outputs;
}

TEST(PackRNNWeightsTest, LayersReadPackedWeights) {
  struct Case {
    std::string mode = "lstm";
    DType dtype = DType::kFloat32;
    std::vector<const char*> variable = {};  // weights that are not constants
    std::set<std::string> disabled = {};
    bool packed = true;
  };
  const Case cases[] = {
      {},
      {.mode = "gru"},
      {.mode = "rnn_tanh", .packed = false},
      {.dtype = DType::kFloat64, .packed = false},
      {.variable = {"l_h2h_weight"}, .packed = false},
      {.variable = {"l_i2h_weight"}, .packed = false},
      {.variable = {"l_h2h_bias"}},
      {.disabled = {"packed_rnn_weights"}, .packed = false},
      {.disabled = {"transposed_weights"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(&c - cases);
    const Symbol net = MakeLayer("l", Symbol::Variable("data"), {.mode = c.mode});
    BindOptions options = Options(net, {7, 2, 6});
    options.types["data"] = c.dtype;
    for (auto& [name, array] : options.args) {
      const NDArray cast = *NDArray::Empty(array.shape(), c.dtype);
      COOPER_ASSERT_OK(cast.CopyFrom(array));
      array = cast;
    }
    const auto plain = Bind(net, options);
    options = WithConstants(options);
    for (const char* name : c.variable) options.constants.erase(name);
    options.disabled_passes = c.disabled;
    const auto packed = Bind(net, options);
    EXPECT_EQ(CountPrepared(*packed), c.packed ? 1 : 0);
    EXPECT_EQ(packed->arg_names().size(), plain->arg_names().size() + (c.packed ? 2 : 0));
    for (Executor* executor : {plain.get(), packed.get()}) {
      COOPER_ASSERT_OK(executor->arg("data").CopyFrom(RandomArrays({{7, 2, 6}}, 9)[0]));
      COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
    }
    const std::vector<float> expected = *(*plain->outputs())[0].ToVector<float>();
    // Sums of up to 20 products below 1.
    EXPECT_THAT(*(*packed->outputs())[0].ToVector<float>(),
                ::testing::Pointwise(::testing::FloatNear(2e-6), expected));
  }
}

struct StackCase {
  std::string mode;
  int layers = 2;
  int64_t steps = 40, batch = 1;
  std::vector<float> lengths = {};  // one per sequence; empty: not given
  bool states_only = false;         // without the last layer's output
};

// Returns stacked layers with all their last states. With `apart` the outputs of lower layers are
// outputs too, which keeps each layer a separate node.
Symbol MakeStack(const StackCase& c, bool apart) {
  Symbol data = Symbol::Variable("data");
  const Symbol lengths = c.lengths.empty() ? Symbol() : Symbol::Variable("lengths");
  std::vector<Symbol> outputs, states;
  for (int l = 0; l < c.layers; ++l) {
    const Symbol layer = MakeLayer(
        absl::StrCat("l", l), data,
        {.mode = c.mode,
         .hidden = 48,
         .lengths = lengths,
         .attrs = c.mode == "lstm"
                      ? AttrMap{{"lstm_state_clip_min", "-0.3"}, {"lstm_state_clip_max", "0.2"}}
                      : AttrMap()});
    data = layer[0];
    outputs.push_back(data);
    for (int k = 1; k < layer.num_outputs(); ++k) states.push_back(layer[k]);
  }
  std::vector<Symbol> all;
  if (!c.states_only) all.push_back(outputs.back());
  all.insert(all.end(), states.begin(), states.end());
  if (apart) all.insert(all.end(), outputs.begin(), outputs.end() - 1);
  return *Symbol::Group(all);
}

// For any number of threads, and any distribution of work among them.
TEST(PackRNNWeightsTest, LayersAboveEachOtherHaveTheBitsOfLayersApart) {
  for (const StackCase& c : std::vector<StackCase>{
           {.mode = "lstm"},
           {.mode = "gru"},
           {.mode = "lstm", .layers = 4},
           {.mode = "gru", .layers = 3, .batch = 3},
           {.mode = "lstm", .steps = 41, .batch = 5},
           {.mode = "lstm", .batch = 40},
           {.mode = "lstm", .steps = 3},
           {.mode = "lstm", .steps = 0, .batch = 2},
           {.mode = "gru", .batch = 0},
           {.mode = "lstm", .layers = 3, .batch = 2, .states_only = true},
           {.mode = "gru", .batch = 2, .lengths = {9, 30}, .states_only = true},
           {.mode = "lstm", .lengths = {33}},
           {.mode = "lstm", .lengths = {0}},
           {.mode = "gru", .layers = 3, .batch = 3, .lengths = {40, 40, 40}},
           {.mode = "gru", .layers = 3, .batch = 4, .lengths = {7, 0, 40, 39}},
       }) {
    const Symbol one = MakeStack(c, /*apart=*/false);
    const Symbol apart = MakeStack(c, /*apart=*/true);
    BindOptions options = WithConstants(Options(apart, {c.steps, c.batch, 24}));
    if (!c.lengths.empty()) {
      COOPER_ASSERT_OK(
          options.args.at("lengths").CopyFrom(*NDArray::FromVector<float>({c.batch}, c.lengths)));
      options.constants.erase("lengths");
    }
    const auto in_one = Bind(one, options);
    const auto in_many = Bind(apart, options);
    EXPECT_EQ(CountPrepared(*in_one), 1);
    EXPECT_EQ(CountPrepared(*in_many), c.layers);
    SetNumThreads(1);
    std::vector<std::vector<float>> expected = Outputs(*in_many);
    expected.resize(expected.size() - static_cast<size_t>(c.layers - 1));
    for (int threads : {1, 2, 3, 5}) {
      SCOPED_TRACE(absl::StrCat(c.mode, ", layers ", c.layers, ", batch ", c.batch, ", steps ",
                                c.steps, ", lengths ", c.lengths.size(), ", threads ", threads));
      SetNumThreads(threads);
      EXPECT_EQ(Outputs(*in_one), expected);
    }
    SetNumThreads(0);
  }
}

// Runs smaller shapes in the plan of the largest ones, with weights packed for those.
TEST(PackRNNWeightsTest, FewerStepsAndSequences) {
  for (const char* mode : {"lstm", "gru"}) {
    const Symbol net = MakeStack({.mode = mode, .layers = 3}, /*apart=*/false);
    BindOptions options = WithConstants(Options(net, {40, 5, 24}));
    // There are as many states as sequences.
    std::map<std::string, Shape> states;
    for (auto arg = options.args.begin(); arg != options.args.end();) {
      const std::string& name = arg->first;
      if (!absl::StrContains(name, "state")) {
        ++arg;
        continue;
      }
      states.emplace(name, arg->second.shape());
      options.constants.erase(name);
      arg = options.args.erase(arg);
    }
    const auto large = Bind(net, options);
    for (const auto& [steps, batch] :
         std::vector<std::pair<int64_t, int64_t>>{{40, 5}, {40, 1}, {25, 1}, {2, 3}, {0, 1}}) {
      SCOPED_TRACE(absl::StrCat(mode, ", steps ", steps, ", batch ", batch));
      KnownShapes shapes = {{"data", {steps, batch, 24}}};
      for (const auto& [name, shape] : states) shapes[name] = {batch, shape[1]};
      COOPER_ASSERT_OK_AND_ASSIGN(const auto small, large->Reshape(shapes));
      BindOptions own = options;
      own.shapes = shapes;
      EXPECT_EQ(Outputs(*small), Outputs(*Bind(net, own)));
    }
  }
}

TEST(PackRNNWeightsTest, LayersThatDifferStayApart) {
  const Symbol data = Symbol::Variable("data");
  const Symbol lower = MakeLayer("lower", data, {});
  const Symbol lengths = Symbol::Variable("lengths");
  const Symbol with_lengths = MakeLayer("lower", data, {.lengths = lengths});
  const auto count = [](const Symbol& net) {
    return CountPrepared(*Bind(net, WithConstants(Options(net, {7, 2, 20}))));
  };
  EXPECT_EQ(count(MakeLayer("upper", lower[0], {})[0]), 1);
  EXPECT_EQ(count(MakeLayer("upper", lower[0], {.hidden = 21})[0]), 2);
  EXPECT_EQ(count(MakeLayer("upper", lower[0], {.mode = "gru"})[0]), 2);
  EXPECT_EQ(
      count(MakeLayer("upper", lower[0],
                      {.attrs = {{"lstm_state_clip_min", "-1"}, {"lstm_state_clip_max", "1"}}})[0]),
      2);
  EXPECT_EQ(count(MakeLayer("upper", lower[0],
                            {.attrs = {{"lstm_state_clip_min", "-1"},
                                       {"lstm_state_clip_max", "1"},
                                       {"lstm_state_clip_nan", "1"}}})[0]),
            2);
  EXPECT_EQ(count(MakeLayer("upper", lower[0], {.lengths = lengths})[0]), 2);
  EXPECT_EQ(count(MakeLayer("upper", with_lengths[0], {.lengths = lengths})[0]), 1);
  EXPECT_EQ(count(MakeLayer("upper", with_lengths[0], {.lengths = Symbol::Variable("other")})[0]),
            2);
  // The lower one's last state is the upper one's first, or its outputs have other users.
  EXPECT_EQ(count(MakeLayer("upper", lower[0], {.state = lower[1]})[0]), 2);
  EXPECT_EQ(count(*Symbol::Group({MakeLayer("upper", lower[0], {})[0], lower[0] * 2.0})), 2);
  EXPECT_EQ(count(*Symbol::Group({MakeLayer("upper", lower[0], {})[0], lower[2] * 2.0})), 2);
  EXPECT_EQ(count(*Symbol::Group({MakeLayer("upper", lower[0], {})[0], lower[0]})), 2);
  EXPECT_EQ(count(MakeLayer("upper", lower[0], {})[0] + lower[0]), 2);
  // Another operator is between them.
  EXPECT_EQ(count(MakeLayer("upper", op::Dropout(lower[0], {.p = 0.5}), {})[0]), 2);
}

}  // namespace
}  // namespace cooper
