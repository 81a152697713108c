// Tests the errors, sharing and naming of cells; tests/rnn compares their graphs with MXNet's.

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/name_manager.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
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

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Symbol Data() { return Symbol::Variable("data"); }

// Returns the names of all operator nodes that `unrolled` reaches.
std::vector<std::string> NodeNames(const Unrolled& unrolled) {
  std::vector<Symbol> heads = unrolled.outputs.symbols();
  heads.insert(heads.end(), unrolled.states.begin(), unrolled.states.end());
  std::vector<std::string> names;
  for (const Node* node : TopologicalOrder(Symbol::Group(heads)->outputs())) {
    if (!node->is_variable()) names.push_back(node->name());
  }
  return names;
}

std::vector<std::string> Arguments(const SymbolSequence& sequence) {
  return Symbol::Group(sequence.symbols())->ListArguments();
}

TEST(RNNCellsTest, StepsAreNamedFromZeroAfterReset) {
  RNNCell cell(4);
  const auto states = cell.BeginState();
  ASSERT_THAT(states, IsOk());
  EXPECT_EQ((*states)[0].name(), "rnn_begin_state_0");
  EXPECT_EQ(cell.Step(Data(), *states)->output.name(), "rnn_t0_out");
  EXPECT_EQ(cell.Step(Data(), *states)->output.name(), "rnn_t1_out");
  EXPECT_EQ((*cell.BeginState())[0].name(), "rnn_begin_state_1");
  cell.Reset();
  EXPECT_EQ(cell.Step(Data(), *states)->output.name(), "rnn_t0_out");
  EXPECT_EQ((*cell.BeginState())[0].name(), "rnn_begin_state_0");
}

TEST(RNNCellsTest, LayoutDecidesTheAxisOfTime) {
  for (const char* layout : {"NTC", "TNC"}) {
    const bool batch_first = layout[0] == 'N';
    LSTMCell cell(4);
    const auto out = cell.Unroll(3, Data(), {.layout = layout, .merge_outputs = true});
    ASSERT_THAT(out, IsOk());
    const PartialShape data = batch_first ? PartialShape{2, 3, 5} : PartialShape{3, 2, 5};
    const auto shapes = InferShape(out->outputs.merged(), {{"data", data}});
    ASSERT_THAT(shapes, IsOk());
    EXPECT_EQ(shapes->outputs[0], batch_first ? PartialShape({2, 3, 4}) : PartialShape({3, 2, 4}));
  }
}

TEST(RNNCellsTest, OutputsStayInStepsUnlessAsked) {
  GRUCell gru(4);
  EXPECT_FALSE(gru.Unroll(2, Data())->outputs.is_merged());
  FusedRNNCell fused(4, {.mode = RNNMode::kGru});
  const auto out = fused.Unroll(2, Data());
  EXPECT_TRUE(out->outputs.is_merged());
  EXPECT_THAT(out->states, IsEmpty());
  DropoutCell dropout(0.5);
  EXPECT_TRUE(dropout.Unroll(2, Data())->outputs.is_merged());
}

TEST(RNNCellsTest, CellsWithOneContainerShareWeights) {
  const auto params = std::make_shared<RNNParams>("shared_");
  auto below = std::make_shared<LSTMCell>(4, LSTMCellOptions{.prefix = "a_", .params = params});
  auto above = std::make_shared<LSTMCell>(4, LSTMCellOptions{.prefix = "b_", .params = params});
  SequentialRNNCell stack;
  COOPER_ASSERT_OK(stack.Add(below));
  COOPER_ASSERT_OK(stack.Add(above));
  const auto out = stack.Unroll(2, Data(), {.merge_outputs = true});
  ASSERT_THAT(out, IsOk());
  EXPECT_THAT(Arguments(out->outputs), ElementsAre("data", "shared_i2h_weight", "shared_i2h_bias",
                                                   "shared_h2h_weight", "shared_h2h_bias"));
  EXPECT_EQ(stack.params()->variables().size(), 4);
}

TEST(RNNCellsTest, StatesCanComeFromOutside) {
  LSTMCell cell(4);
  const auto states = cell.BeginState(VariableStates());
  ASSERT_THAT(states, IsOk());
  EXPECT_EQ((*states)[1].Attr("__shape__"), "(0, 4)");
  EXPECT_EQ((*states)[1].Attr("__layout__"), "NC");
  const auto out = cell.Unroll(1, Data(), {.begin_state = *states});
  ASSERT_THAT(out, IsOk());
  EXPECT_THAT(Arguments(out->outputs),
              ElementsAre("data", "lstm_i2h_weight", "lstm_i2h_bias", "lstm_begin_state_0",
                          "lstm_h2h_weight", "lstm_h2h_bias", "lstm_begin_state_1"));
}

// Names are those of MXNet 1.9.1.
TEST(ZoneoutCellTest, MixesWithTheStepBefore) {
  NameManager names;
  ZoneoutCell cell(std::make_shared<RNNCell>(4), {.zoneout_outputs = 0.3, .zoneout_states = 0.2});
  const auto out = cell.Unroll(2, Data());
  ASSERT_THAT(out, IsOk());
  EXPECT_THAT(NodeNames(*out),
              ElementsAre("split0", "rnn_t0_i2h", "rnn_begin_state_0", "rnn_t0_h2h", "_plus0",
                          "rnn_t0_out", "ones_like0", "dropout0", "_zeros0", "where0", "rnn_t1_i2h",
                          "ones_like1", "dropout1", "where1", "rnn_t1_h2h", "_plus1", "rnn_t1_out",
                          "ones_like2", "dropout2", "where2", "ones_like3", "dropout3", "where3"));
  const auto again = cell.Unroll(1, Data());
  ASSERT_THAT(again, IsOk());
  EXPECT_THAT(NodeNames(*again), ::testing::Contains("rnn_t0_i2h"));
}

TEST(ModifierCellTest, TakesItsBaseOver) {
  auto base = std::make_shared<LSTMCell>(4);
  ResidualCell residual(base);
  EXPECT_THAT(base->BeginState().status(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cell 'lstm_'")));
  EXPECT_THAT(residual.BeginState(), IsOk());
  EXPECT_EQ(residual.state_shape(), base->state_shape());
  EXPECT_EQ(residual.params(), base->params());
  const auto out = residual.Unroll(2, Data(), {.merge_outputs = false});
  ASSERT_THAT(out, IsOk());
  EXPECT_EQ(out->outputs.steps()[1].name(), "lstm_t1_out_plus_residual");
  EXPECT_EQ(out->states[0].name(), "lstm_t1_out");
}

TEST(FusedRNNCellTest, UnfusesWithDropoutBetweenLayers) {
  NameManager names;
  const FusedRNNCell fused(4, {.num_layers = 3, .dropout = 0.25, .prefix = "f_"});
  const auto stack = fused.Unfuse();
  ASSERT_EQ(stack->cells().size(), 5);
  EXPECT_EQ(stack->cells()[1]->prefix(), "f__dropout0_");
  EXPECT_EQ(stack->state_info().size(), 6);
}

TEST(FusedRNNCellTest, StepsComeMergedIntoTheOperator) {
  FusedRNNCell fused(4, {.mode = RNNMode::kRnnTanh, .bidirectional = true, .get_next_state = true});
  const auto out = fused.Unroll(
      2, std::vector<Symbol>{Symbol::Variable("a"), Symbol::Variable("b")}, {.layout = "TNC"});
  ASSERT_THAT(out, IsOk());
  ASSERT_EQ(out->states.size(), 1);
  EXPECT_EQ(out->states[0].Attr("__layout__"), "LNC");
  const auto shapes = InferShape(out->outputs.merged(), {{"a", {3, 5}}});
  ASSERT_THAT(shapes, IsOk());
  EXPECT_EQ(shapes->outputs[0], PartialShape({2, 3, 8}));
}

// Without cells the inputs are merged or split as requested.
TEST(SequentialRNNCellTest, WithoutCellsItMergesAndSplits) {
  SequentialRNNCell empty;
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled merged,
                              empty.Unroll(2, {std::vector<Symbol>{Data(), Symbol::Variable("x1")}},
                                           {.merge_outputs = true}));
  EXPECT_TRUE(merged.outputs.is_merged());
  COOPER_ASSERT_OK_AND_ASSIGN(const Unrolled split,
                              empty.Unroll(2, {Data()}, {.merge_outputs = false}));
  EXPECT_EQ(split.outputs.symbols().size(), 2);
}

TEST(RNNCellErrorsTest, ASequenceOfCellsRefusesOnesOfTheSameNames) {
  const auto stack = std::make_shared<SequentialRNNCell>();
  EXPECT_THAT(stack->Add(nullptr), StatusIs(absl::StatusCode::kInvalidArgument,
                                            "SequentialRNNCell::Add: the cell is null"));
  EXPECT_THAT(stack->Add(stack),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "SequentialRNNCell::Add: the cell is the one that it is added to"));
  const auto first = std::make_shared<LSTMCell>(4);
  COOPER_EXPECT_OK(stack->Add(first));
  COOPER_EXPECT_OK(stack->Add(first)) << "a cell may be used twice";
  EXPECT_THAT(stack->Add(std::make_shared<ResidualCell>(std::make_shared<LSTMCell>(4))),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "SequentialRNNCell::Add: cell 2 has a variable 'lstm_h2h_bias', and so has "
                       "a cell below it; give each cell a prefix of its own, or both the same "
                       "RNNParams to share weights"));
  EXPECT_EQ(stack->cells().size(), 2);
}

TEST(RNNCellErrorsTest, NameTheCellThatHasNoUnits) {
  const Symbol data = Data();
  LSTMCell cell(-4);
  EXPECT_THAT(cell.Unroll(1, {std::vector<Symbol>{data}}, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cell 'lstm_': num_hidden is -4, expected at least 1")));
}

TEST(RNNCellErrorsTest, NameWhatIsWrong) {
  using ::absl::StatusCode;
  LSTMCell lstm(4);
  EXPECT_THAT(lstm.Step(Data(), {Data()}).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("has 2 states, but 1 came")));
  EXPECT_THAT(lstm.Unroll(0, Data()).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("length 0")));
  EXPECT_THAT(lstm.Unroll(3, std::vector<Symbol>{Data()}).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("got 1 symbols for 3 steps")));
  EXPECT_THAT(lstm.Unroll(3, Data(), {.layout = "NC"}).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("has no axis T")));
  EXPECT_THAT(lstm.Unroll(2, *Symbol::Group({Data(), Symbol::Variable("more")})).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("symbol of 2 outputs")));
  EXPECT_THAT(lstm.Unroll(2, Data(), {.begin_state = std::vector<Symbol>{}}).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("but 0 came")));

  for (const char* layout : {"NC", ""}) {
    EXPECT_THAT(
        lstm.Unroll(3, Data(), {.layout = layout}).status(),
        StatusIs(StatusCode::kInvalidArgument, HasSubstr("Unroll of cell 'lstm_': layout '")));
  }

  auto fused = std::make_shared<FusedRNNCell>(4);
  EXPECT_THAT(fused->Unroll(2, Data(), {.layout = "NC"}).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("Unroll of cell 'lstm_': layout")));
  ResidualCell residual(std::make_shared<GRUCell>(4, GRUCellOptions{.prefix = "top_"}));
  EXPECT_THAT(residual.Unroll(0, Data()).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("Unroll of cell 'top_': length 0")));
  ZoneoutCell zoneout(std::make_shared<GRUCell>(4, GRUCellOptions{.prefix = "z_"}));
  EXPECT_THAT(zoneout.Unroll(0, Data()).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("Unroll of cell 'z_': length 0")));
  EXPECT_THAT(fused->Step(Data(), {}).status(),
              StatusIs(StatusCode::kUnimplemented, HasSubstr("use Unroll")));
  EXPECT_THAT(ZoneoutCell(fused).Unroll(2, Data()).status(),
              StatusIs(StatusCode::kUnimplemented, HasSubstr("Unfuse it first")));
  BidirectionalCell both(std::make_shared<GRUCell>(4), std::make_shared<GRUCell>(4));
  EXPECT_THAT(both.Step(Data(), {}).status(),
              StatusIs(StatusCode::kUnimplemented, HasSubstr("BidirectionalCell 'bi_'")));
  EXPECT_THAT(both.Unroll(2, Data(), {.layout = "NC"}).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       HasSubstr("Unroll of BidirectionalCell 'bi_': layout 'NC'")));
}

TEST(RNNCellWeightsTest, ErrorsNameTheWeight) {
  using ::absl::StatusCode;
  LSTMCell cell(2);
  const NDArray weight = NDArray::Zeros({6, 3}).value();
  EXPECT_THAT(cell.UnpackWeights({}).status(),
              StatusIs(StatusCode::kNotFound, HasSubstr("'lstm_i2h_weight'")));
  EXPECT_THAT(cell.UnpackWeights({{"lstm_i2h_weight", weight}}).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("(6, 3), expected 8 rows")));
  EXPECT_THAT(cell.PackWeights({{"lstm_i2h_i_weight", weight}}).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("'lstm_i2h_i_weight'")));
  const ArrayMap uneven = {{"lstm_i2h_i_weight", NDArray::Zeros({2, 3}).value()},
                           {"lstm_i2h_f_weight", NDArray::Zeros({2, 4}).value()},
                           {"lstm_i2h_c_weight", NDArray::Zeros({2, 3}).value()},
                           {"lstm_i2h_o_weight", NDArray::Zeros({2, 3}).value()}};
  EXPECT_THAT(cell.PackWeights(uneven).status(),
              StatusIs(StatusCode::kInvalidArgument, HasSubstr("'lstm_i2h_f_weight'")));

  const FusedRNNCell fused(2);
  EXPECT_THAT(
      fused.UnpackWeights({{"lstm_parameters", NDArray::Zeros({7}).value()}}).status(),
      StatusIs(StatusCode::kInvalidArgument, HasSubstr("'lstm_parameters' has shape (7,)")));
  EXPECT_THAT(fused.PackWeights({}).status(),
              StatusIs(StatusCode::kNotFound, HasSubstr("'lstm_l0_i2h_i_weight'")));

  const FusedRNNCell empty[] = {FusedRNNCell(0), FusedRNNCell(-1),
                                FusedRNNCell(2, {.num_layers = 0})};
  for (const FusedRNNCell& cell : empty) {
    const auto sizes = StatusIs(StatusCode::kInvalidArgument, HasSubstr("expected at least 1"));
    EXPECT_THAT(cell.UnpackWeights({{"lstm_parameters", NDArray::Zeros({7}).value()}}).status(),
                sizes);
    EXPECT_THAT(cell.PackWeights({}).status(), sizes);
  }
}

// Arrays of other cells are kept, and the unpacked ones are copies.
TEST(RNNCellWeightsTest, LeavesOthersAlone) {
  const FusedRNNCell fused(2, {.mode = RNNMode::kGru, .bidirectional = true});
  // 3 gates of 2 rows, 5 inputs, two directions: 2 * 6 * (5 + 2 + 2).
  std::vector<float> values(108);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const NDArray packed = NDArray::FromVector({108}, values).value();
  const NDArray other = NDArray::Zeros({3}).value();
  auto unpacked = fused.UnpackWeights({{"gru_parameters", packed}, {"fc_bias", other}});
  ASSERT_THAT(unpacked, IsOk());
  EXPECT_EQ(unpacked->size(), 1 + 2 * 3 * 4);
  // Follows the forward direction's weights, 6 * (5 + 2).
  EXPECT_THAT(unpacked->at("gru_r0_i2h_r_weight").ToVector<float>().value(),
              ElementsAre(42, 43, 44, 45, 46, 47, 48, 49, 50, 51));
  EXPECT_THAT(unpacked->at("gru_l0_h2h_o_bias").ToVector<float>().value(), ElementsAre(94, 95));
  ASSERT_THAT(packed.Fill(0), IsOk());
  const auto again = fused.PackWeights(*unpacked);
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->at("gru_parameters").ToVector<float>().value(), values);
  EXPECT_EQ(again->size(), 2);
}

}  // namespace
}  // namespace cooper
