// Checks that networks bound with and without the pass compute the same, and have the expected
// layers.

#include "executor/passes/graph/rnn_lengths.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/rnn/bidirectional_cell.h"
#include "symbol/rnn/gru_cell.h"
#include "symbol/rnn/lstm_cell.h"
#include "symbol/rnn/rnn_cell.h"
#include "symbol/rnn/sequential_rnn_cell.h"

namespace cooper {
namespace {

constexpr int kLength = 5, kBatch = 4, kFeatures = 3;

RNNCellPtr Cell(const std::string& kind, const std::string& prefix, int64_t hidden) {
  if (kind == "lstm") {
    return std::make_shared<LSTMCell>(hidden, LSTMCellOptions{.prefix = prefix});
  }
  if (kind == "gru") return std::make_shared<GRUCell>(hidden, GRUCellOptions{.prefix = prefix});
  return std::make_shared<RNNCell>(hidden, RNNCellOptions{.prefix = prefix});
}

Unrolled UnrollWithLengths(BaseRNNCell& cell, const std::string& layout) {
  auto unrolled = cell.Unroll(
      kLength, Symbol::Variable("data"),
      {.layout = layout, .merge_outputs = true, .valid_length = Symbol::Variable("lengths")});
  EXPECT_THAT(unrolled, IsOk());
  return *std::move(unrolled);
}

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Compares a training step with the pass and without it. `masks` is the number of SequenceMask
// nodes that remain in the forward pass with it.
void ExpectSame(const Symbol& symbol, const std::string& layout, int masks) {
  std::vector<std::unique_ptr<Executor>> executors;
  for (const bool with : {true, false}) {
    BindOptions options{
        .shapes = {{"data", layout == "NTC" ? PartialShape{kBatch, kLength, kFeatures}
                                            : PartialShape{kLength, kBatch, kFeatures}}}};
    options.grad_reqs["lengths"] = WriteReq::kNull;
    if (!with) options.disabled_passes = {"rnn_lengths"};
    COOPER_ASSERT_OK_AND_ASSIGN(auto executor, Executor::SimpleBind(symbol, options));
    executors.push_back(std::move(executor));
  }
  Executor& fused = *executors[0];
  Executor& plain = *executors[1];
  // The gradient of each mask is a SequenceMask too.
  EXPECT_EQ(Count(fused.DebugString(), "SequenceMask "), 2 * masks) << fused.DebugString();
  EXPECT_GT(Count(plain.DebugString(), "SequenceMask "), 2 * masks);
  uint64_t seed = 1;
  for (const std::string& name : fused.arg_names()) {
    if (name == "lengths") {
      const std::vector<float> lengths = {3, 0, 5, 1};
      COOPER_ASSERT_OK(fused.arg(name).CopyFrom(*NDArray::FromVector({kBatch}, lengths)));
    } else {
      FillRandom(fused.arg(name), seed++);
    }
    COOPER_ASSERT_OK(plain.arg(name).CopyFrom(fused.arg(name)));
  }
  std::vector<std::vector<float>> outputs;
  for (auto& executor : executors) {
    COOPER_ASSERT_OK(executor->Forward(true));
    COOPER_ASSERT_OK_AND_ASSIGN(const auto arrays, executor->outputs());
    std::vector<NDArray> heads;
    for (const NDArray& array : arrays) {
      heads.push_back(*NDArray::Empty(array.shape()));
      FillRandom(heads.back(), 1000 + heads.size());
      outputs.push_back(*array.ToVector<float>());
    }
    COOPER_ASSERT_OK(executor->Backward(heads));
  }
  // Sums of at most 20 products of numbers below 4, which are rounded differently in products with
  // another number of rows.
  const auto expect_near = [](const std::vector<float>& a, const std::vector<float>& b,
                              const std::string& what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 2e-5) << what << " at " << i;
  };
  const size_t half = outputs.size() / 2;
  for (size_t i = 0; i < half; ++i) expect_near(outputs[i], outputs[half + i], "output");
  for (const auto& [name, gradient] : fused.grad_dict()) {
    expect_near(*gradient.ToVector<float>(), *plain.grad(name).ToVector<float>(), name);
  }
}

TEST(RNNLengthsTest, LayersTakeTheLengths) {
  for (const std::string kind : {"lstm", "gru", "rnn"}) {
    for (const std::string layout : {"NTC", "TNC"}) {
      SCOPED_TRACE(kind + " " + layout);
      SequentialRNNCell stack;
      COOPER_ASSERT_OK(stack.Add(Cell(kind, "a_", 4)));
      COOPER_ASSERT_OK(
          stack.Add(std::make_shared<BidirectionalCell>(Cell(kind, "l_", 3), Cell(kind, "r_", 2))));
      ExpectSame(UnrollWithLengths(stack, layout).outputs.merged(), layout, 0);
    }
  }
}

// For a row of length 0 the masked layer's last states are those of its first step, which a layer
// with lengths skips.
TEST(RNNLengthsTest, LayersWhoseStatesAreUsedStay) {
  GRUCell cell(4);
  const Unrolled unrolled = UnrollWithLengths(cell, "TNC");
  const Symbol both = *Symbol::Group({unrolled.outputs.merged(), unrolled.states[0]});
  BindOptions options{.shapes = {{"data", {kLength, kBatch, kFeatures}}}};
  COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(both, options));
  EXPECT_GE(Count(executor->DebugString(), "SequenceLast "), 1);
  EXPECT_GE(Count(executor->DebugString(), "SequenceMask "), 1);
}

TEST(RNNLengthsTest, OtherMasksStay) {
  for (const AttrMap& attrs : {AttrMap{{"use_sequence_length", "True"}, {"value", "1"}},
                               AttrMap{{"use_sequence_length", "True"}, {"axis", "1"}}}) {
    GRUCell cell(4);
    COOPER_ASSERT_OK_AND_ASSIGN(
        const Unrolled unrolled,
        cell.Unroll(kLength, Symbol::Variable("data"), {.layout = "TNC", .merge_outputs = true}));
    COOPER_ASSERT_OK_AND_ASSIGN(
        const Symbol mask,
        Symbol::Create(
            "SequenceMask",
            {.inputs = {unrolled.outputs.merged(), Symbol::Variable("lengths")}, .attrs = attrs}));
    BindOptions options{.shapes = {{"data", {kLength, kBatch, kFeatures}}}};
    COOPER_ASSERT_OK_AND_ASSIGN(const auto executor, Executor::SimpleBind(mask, options));
    EXPECT_GE(Count(executor->DebugString(), "SequenceMask "), 1);
  }
}

}  // namespace
}  // namespace cooper
