// Tests that cells over padded sequences compute the same outputs, states and gradients as for each
// row alone without padding, and the same as Gluon's cells of MXNet 1.9.1
// (tests/golden/make_valid_length.py).

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "nlohmann/json.hpp"
#include "symbol/graph/symbol.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/dropout_cell.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/residual_cell.h"
#include "symbol/rnn/rnn_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"
#include "symbol/rnn/zoneout_cell.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr int64_t kBatch = 4, kLength = 5, kFeatures = 3;
const std::vector<float> kValid = {5, 2, 1, 4};

RNNCellPtr Lstm(int64_t num_hidden, const std::string& prefix) {
  return std::make_shared<LSTMCell>(num_hidden, LSTMCellOptions{.prefix = prefix});
}
RNNCellPtr Gru(int64_t num_hidden, const std::string& prefix) {
  return std::make_shared<GRUCell>(num_hidden, GRUCellOptions{.prefix = prefix});
}
RNNCellPtr Both(RNNCellPtr l, RNNCellPtr r) {
  return std::make_shared<BidirectionalCell>(std::move(l), std::move(r));
}
RNNCellPtr Residual(RNNCellPtr base) { return std::make_shared<ResidualCell>(std::move(base)); }
RNNCellPtr Stack(const std::vector<RNNCellPtr>& cells) {
  auto stack = std::make_shared<SequentialRNNCell>();
  for (const RNNCellPtr& cell : cells) COOPER_EXPECT_OK(stack->Add(cell));
  return stack;
}
RNNCellPtr Fused(RNNMode mode, int layers, bool bidirectional) {
  return std::make_shared<FusedRNNCell>(2, FusedRNNCellOptions{.num_layers = layers,
                                                               .mode = mode,
                                                               .bidirectional = bidirectional,
                                                               .get_next_state = true,
                                                               .prefix = "fused_"});
}

// Creates the cells of the golden cases, and others.
RNNCellPtr MakeCell(const std::string& name) {
  if (name == "rnn") return std::make_shared<RNNCell>(4);
  if (name == "lstm") return Lstm(4, "lstm_");
  if (name == "gru") return Gru(4, "gru_");
  if (name == "bidirectional") return Both(Lstm(4, "l_"), Gru(2, "r_"));
  if (name == "residual") return Residual(Gru(kFeatures, "gru_"));
  if (name == "sequential") return Stack({Lstm(4, "low_"), Residual(Gru(4, "top_"))});
  if (name == "deep") {
    return Stack({Both(Gru(2, "l0_"), Lstm(3, "r0_")), std::make_shared<DropoutCell>(0),
                  Residual(Both(Lstm(3, "l1_"), Gru(2, "r1_")))});
  }
  if (name == "zoneout") return std::make_shared<ZoneoutCell>(Lstm(4, "lstm_"));
  if (name == "fused_lstm") return Fused(RNNMode::kLstm, 2, false);
  if (name == "fused_gru") return Fused(RNNMode::kGru, 1, true);
  if (name == "fused_in_both") {
    return Both(Fused(RNNMode::kRnnTanh, 1, false), Lstm(2, "r_"));
  }
  ADD_FAILURE() << name;
  return nullptr;
}

// The results of a network: all outputs, followed by all states.
struct Results {
  std::vector<NDArray> outputs;
  ArrayMap gradients;
};

struct Network {
  Symbol symbol;  // merged outputs, then states
  size_t num_states = 0;
};

Network MakeNetwork(const std::string& cell, int64_t length, const std::string& layout,
                    bool with_lengths, std::optional<bool> merge = true) {
  UnrollOptions options = {.layout = layout, .merge_outputs = merge};
  if (with_lengths) options.valid_length = Symbol::Variable("valid_length");
  const auto unrolled =
      MakeCell(cell)->Unroll(static_cast<int>(length), Symbol::Variable("data"), options);
  EXPECT_THAT(unrolled, IsOk());
  std::vector<Symbol> heads = unrolled->outputs.symbols();
  heads.insert(heads.end(), unrolled->states.begin(), unrolled->states.end());
  return {.symbol = Symbol::Group(heads).value(), .num_states = unrolled->states.size()};
}

// Runs the network forward and backward. `heads` may be shorter than the outputs: the head
// gradients of the others are 0.
Results Compute(const Network& network, const ArrayMap& args, std::vector<NDArray> heads) {
  BindOptions options = {.args = args};
  if (args.contains("valid_length")) options.grad_reqs["valid_length"] = WriteReq::kNull;
  auto executor = Executor::SimpleBind(network.symbol, options);
  EXPECT_THAT(executor, IsOk());
  COOPER_EXPECT_OK((*executor)->Forward(true));
  Results run;
  const auto outputs = (*executor)->outputs();
  for (const NDArray& output : *outputs) run.outputs.push_back(*output.Copy());
  for (size_t i = heads.size(); i < run.outputs.size(); ++i) {
    heads.push_back(*NDArray::Zeros(run.outputs[i].shape()));
  }
  COOPER_EXPECT_OK((*executor)->Backward(heads));
  for (const auto& [name, gradient] : (*executor)->grad_dict()) {
    run.gradients[name] = *gradient.Copy();
  }
  return run;
}

NDArray Random(Shape shape, RandomGenerator& random) {
  NDArray array = *NDArray::Empty(std::move(shape));
  const auto elements = array.Data<float>();
  for (float& x : *elements) x = static_cast<float>(random.NextUniform() * 2 - 1);
  return array;
}

std::vector<float> Values(const NDArray& array) { return *array.ToVector<float>(); }

// Compares values. The tolerance is for sums of some hundred products of numbers below 2.
void ExpectNear(const std::vector<float>& a, const std::vector<float>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-5) << what << " [" << i << "]";
}

// Returns steps [0, length) of row `row` as a batch of one, in the same layout.
NDArray RowOf(const NDArray& batch, const std::string& layout, int64_t row, int64_t length) {
  const int64_t features = batch.shape()[2];
  const std::vector<float> all = Values(batch);
  std::vector<float> values;
  for (int64_t t = 0; t < length; ++t) {
    const int64_t at = layout == "NTC" ? row * kLength + t : t * kBatch + row;
    values.insert(values.end(), all.begin() + at * features, all.begin() + (at + 1) * features);
  }
  return *NDArray::FromVector(
      layout == "NTC" ? Shape{1, length, features} : Shape{length, 1, features}, values);
}

// Returns row `row` of states (batch, hidden) or (layers, batch, hidden).
std::vector<float> StateOf(const NDArray& states, int64_t row) {
  const int64_t hidden = states.shape()[states.shape().rank() - 1];
  const std::vector<float> all = Values(states);
  std::vector<float> values;
  for (size_t at = static_cast<size_t>(row * hidden); at < all.size();
       at += static_cast<size_t>(kBatch * hidden)) {
    values.insert(values.end(), all.begin() + at, all.begin() + at + hidden);
  }
  return values;
}

TEST(ValidLengthTest, RowsAreWhatTheyAreUnpadded) {
  for (const char* cell : {"rnn", "lstm", "gru", "bidirectional", "residual", "sequential", "deep",
                           "zoneout", "fused_lstm", "fused_gru", "fused_in_both"}) {
    for (const std::string layout : {"NTC", "TNC"}) {
      SCOPED_TRACE(std::string(cell) + " " + layout);
      RandomGenerator random(7);
      const Network padded = MakeNetwork(cell, kLength, layout, true);
      KnownShapes known;
      known["data"] = layout == "NTC" ? PartialShape{kBatch, kLength, kFeatures}
                                      : PartialShape{kLength, kBatch, kFeatures};
      const auto shapes = InferShape(padded.symbol, known);
      ASSERT_THAT(shapes, IsOk());
      ArrayMap args;
      const std::vector<std::string> names = padded.symbol.ListArguments();
      for (size_t i = 0; i < names.size(); ++i) {
        args[names[i]] = Random(shapes->args[i].ToShape(), random);
      }
      args["valid_length"] = *NDArray::FromVector({kBatch}, kValid);
      std::vector<NDArray> heads;
      for (const PartialShape& output : shapes->outputs) {
        heads.push_back(Random(output.ToShape(), random));
      }
      const Results whole = Compute(padded, args, heads);

      ArrayMap sums;  // of the gradients of weights
      for (int64_t row = 0; row < kBatch; ++row) {
        SCOPED_TRACE(testing::Message() << "row " << row);
        const auto length = static_cast<int64_t>(kValid[row]);
        const Network alone = MakeNetwork(cell, length, layout, false);
        ArrayMap row_args = args;
        row_args.erase("valid_length");
        row_args["data"] = RowOf(args["data"], layout, row, length);
        std::vector<NDArray> row_heads = {RowOf(heads[0], layout, row, length)};
        for (size_t i = 1; i < heads.size(); ++i) {
          Shape shape = heads[i].shape();
          shape[shape.rank() - 2] = 1;
          row_heads.push_back(*NDArray::FromVector(shape, StateOf(heads[i], row)));
        }
        const Results unpadded = Compute(alone, row_args, row_heads);
        ASSERT_EQ(unpadded.outputs.size(), whole.outputs.size());
        ExpectNear(Values(RowOf(whole.outputs[0], layout, row, length)),
                   Values(unpadded.outputs[0]), "output");
        for (size_t i = 1; i < whole.outputs.size(); ++i) {
          ExpectNear(StateOf(whole.outputs[i], row), Values(unpadded.outputs[i]), "state");
        }
        // After the end, outputs and the data's gradient are 0.
        std::vector<float> rest = Values(RowOf(whole.outputs[0], layout, row, kLength));
        rest.erase(rest.begin(), rest.begin() + unpadded.outputs[0].size());
        EXPECT_THAT(rest, testing::Each(0.0f));
        const NDArray& data_gradient = whole.gradients.at("data");
        ExpectNear(Values(RowOf(data_gradient, layout, row, length)),
                   Values(unpadded.gradients.at("data")), "gradient of data");
        rest = Values(RowOf(data_gradient, layout, row, kLength));
        rest.erase(rest.begin(), rest.begin() + length * kFeatures);
        EXPECT_THAT(rest, testing::Each(0.0f));
        for (const auto& [name, gradient] : unpadded.gradients) {
          if (name == "data") continue;
          if (!sums.contains(name)) sums[name] = *NDArray::Zeros(gradient.shape());
          const std::vector<float> values = Values(gradient);
          for (size_t i = 0; i < values.size(); ++i) (*sums[name].Data<float>())[i] += values[i];
        }
      }
      for (const auto& [name, sum] : sums) {
        ExpectNear(Values(whole.gradients.at(name)), Values(sum), "gradient of " + name);
      }
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST(ValidLengthTest, StepsAreTheMergedOutputsSteps) {
  for (const char* cell : {"gru", "bidirectional", "residual", "fused_gru", "deep"}) {
    RandomGenerator random(3);
    const Network merged = MakeNetwork(cell, kLength, "NTC", true);
    const Network steps = MakeNetwork(cell, kLength, "NTC", true, false);
    const auto shapes = InferShape(merged.symbol, {{"data", {kBatch, kLength, kFeatures}}});
    ASSERT_THAT(shapes, IsOk());
    ArrayMap args;
    const std::vector<std::string> names = merged.symbol.ListArguments();
    for (size_t i = 0; i < names.size(); ++i) {
      args[names[i]] = Random(shapes->args[i].ToShape(), random);
    }
    args["valid_length"] = *NDArray::FromVector({kBatch}, kValid);
    const Results a = Compute(merged, args, {});
    const Results b = Compute(steps, args, {});
    ASSERT_EQ(b.outputs.size(), kLength + steps.num_states);
    const int64_t hidden = a.outputs[0].shape()[2];
    for (int64_t t = 0; t < kLength; ++t) {
      for (int64_t row = 0; row < kBatch; ++row) {
        for (int64_t j = 0; j < hidden; ++j) {
          EXPECT_EQ(Values(b.outputs[t])[row * hidden + j],
                    Values(a.outputs[0])[(row * kLength + t) * hidden + j]);
        }
      }
    }
  }
}

NDArray FromJson(const Json& json) {
  return *NDArray::FromVector(Shape(absl::MakeConstSpan(json["shape"].get<std::vector<int64_t>>())),
                              json["data"].get<std::vector<float>>());
}

TEST(ValidLengthTest, EqualsGluon) {
  std::ifstream file("tests/golden/rnn/valid_length.json");
  const Json golden = Json::parse(file);
  ASSERT_EQ(golden["cases"].size(), 12);
  for (const Json& c : golden["cases"]) {
    SCOPED_TRACE(c["cell"].get<std::string>() + " " + c["layout"].get<std::string>());
    const Network network =
        MakeNetwork(c["cell"], c["length"].get<int64_t>(), c["layout"], /*with_lengths=*/true);
    ArrayMap args = {{"data", FromJson(c["data"])}};
    args["valid_length"] =
        *NDArray::FromVector({kBatch}, c["valid_length"].get<std::vector<float>>());
    for (const auto& [name, weight] : c["weights"].items()) args[name] = FromJson(weight);
    const Results run = Compute(network, args, {FromJson(c["head_gradient"])});
    ASSERT_EQ(run.outputs.size(), 1 + c["states"].size());
    ExpectNear(Values(run.outputs[0]), c["outputs"]["data"], "outputs");
    for (size_t i = 1; i < run.outputs.size(); ++i) {
      ExpectNear(Values(run.outputs[i]), c["states"][i - 1]["data"], "state");
    }
    ExpectNear(Values(run.gradients.at("data")), c["data_gradient"]["data"], "data");
    for (const auto& [name, gradient] : c["weight_gradients"].items()) {
      ExpectNear(Values(run.gradients.at(name)), gradient["data"], name);
    }
    ASSERT_FALSE(HasFailure());
  }
}

TEST(ValidLengthTest, AsksForOneSymbolOfLengths) {
  const Symbol two = Symbol::Group({Symbol::Variable("a"), Symbol::Variable("b")}).value();
  for (const char* cell : {"gru", "bidirectional", "fused_gru"}) {
    EXPECT_THAT(MakeCell(cell)->Unroll(2, Symbol::Variable("data"), {.valid_length = two}).status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("input 'sequence_length' must be one output")));
  }
}

}  // namespace
}  // namespace cooper
