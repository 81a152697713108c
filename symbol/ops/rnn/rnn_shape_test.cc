// Tests RNN's shape rules in both directions, its type rules, and errors for invalid parameters.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"
#include "symbol/ops/rnn/rnn_layout.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Symbol MakeRNN(const std::string& mode, const AttrMap& more = {}) {
  AttrMap attrs = {{"mode", mode}, {"num_layers", "2"}, {"state_size", "4"}};
  for (const auto& [key, value] : more) attrs[key] = value;
  return Symbol::Create("RNN", {.name = "rnn", .attrs = attrs}).value();
}

std::vector<std::string> Texts(const std::vector<PartialShape>& shapes) {
  std::vector<std::string> texts;
  texts.reserve(shapes.size());
  for (const PartialShape& shape : shapes) texts.push_back(shape.ToString());
  return texts;
}

TEST(RNNSymbolTest, NamesArgumentsAndOutputs) {
  const Symbol lstm = MakeRNN("lstm", {{"state_outputs", "True"}, {"use_sequence_length", "True"}});
  EXPECT_THAT(lstm.ListArguments(), ElementsAre("rnn_data", "rnn_parameters", "rnn_state",
                                                "rnn_state_cell", "rnn_sequence_length"));
  EXPECT_THAT(lstm.ListOutputs(),
              ElementsAre("rnn_output", "rnn_state_output", "rnn_statecell_output"));
  const Symbol gru = MakeRNN("gru");
  EXPECT_THAT(gru.ListArguments(), ElementsAre("rnn_data", "rnn_parameters", "rnn_state"));
  EXPECT_THAT(gru.ListOutputs(), ElementsAre("rnn_output"));
}

struct ShapeCase {
  std::string name;
  KnownShapes known;
  std::vector<std::string> args;
  std::vector<std::string> outputs;
  std::string error;
};

TEST(RNNShapeTest, InfersBothWays) {
  constexpr int64_t kUnknown = kUnknownDim;
  // A bidirectional lstm of two layers. In MXNet 1.9.1 it has 736 parameters for 3 features.
  const std::vector<std::string> args = {"(5, 2, 3)", "(736,)", "(4, 2, 4)", "(4, 2, 4)"};
  const std::vector<std::string> outputs = {"(5, 2, 8)", "(4, 2, 4)", "(4, 2, 4)"};
  const ShapeCase cases[] = {
      {"FromData", {{"rnn_data", {5, 2, 3}}}, args, outputs, ""},
      {"FromStateAndParameters",
       {{"rnn_data", {5, kUnknown, kUnknown}},
        {"rnn_parameters", {736}},
        {"rnn_state_cell", {4, 2, 4}}},
       args,
       outputs,
       ""},
      {"Partial",
       {{"rnn_data", {kUnknown, 2, 3}}},
       {"(?, 2, 3)", "(736,)", "(4, 2, 4)", "(4, 2, 4)"},
       {"(?, 2, 8)", "(4, 2, 4)", "(4, 2, 4)"},
       ""},
      {"BadState",
       {{"rnn_data", {5, 2, 3}}, {"rnn_state", {2, 2, 4}}},
       {},
       {},
       "expected (4, 2, 4) = (num_layers * directions, batch, state_size)"},
      {"BadParameters",
       {{"rnn_data", {5, 2, 3}}, {"rnn_parameters", {735}}},
       {},
       {},
       "has shape (735,), expected (736,)"},
      {"NoInputSize", {{"rnn_parameters", {735}}}, {}, {}, "735 elements, which no input size"},
      {"BadRank", {{"rnn_data", {5, 2}}}, {}, {}, "(length, batch, input)"},
  };
  const Symbol rnn = MakeRNN("lstm", {{"bidirectional", "True"}, {"state_outputs", "True"}});
  for (const ShapeCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto inferred = InferShapePartial(rnn, c.known);
    if (!c.error.empty()) {
      EXPECT_THAT(inferred.status(),
                  StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)));
      continue;
    }
    ASSERT_THAT(inferred, IsOk());
    EXPECT_EQ(Texts(inferred->args), c.args);
    EXPECT_EQ(Texts(inferred->outputs), c.outputs);
  }
}

TEST(RNNShapeTest, LengthsAreABatch) {
  const Symbol rnn = MakeRNN("gru", {{"use_sequence_length", "True"}});
  const auto inferred = InferShape(
      rnn, {{"rnn_data", {5, kUnknownDim, 3}}, {"rnn_sequence_length", PartialShape{7}}});
  ASSERT_THAT(inferred, IsOk());
  EXPECT_EQ(inferred->args[0].ToString(), "(5, 7, 3)");
  EXPECT_EQ(inferred->args[2].ToString(), "(2, 7, 4)");
}

TEST(RNNShapeTest, RefusesParametersThatMakeNoSense) {
  const struct {
    const char* mode;
    AttrMap attrs;
    const char* error;
  } cases[] = {
      {"gru", {{"lstm_state_clip_min", "-1"}, {"lstm_state_clip_max", "1"}}, "need mode lstm"},
      {"lstm", {{"lstm_state_clip_min", "-1"}}, "must be given together"},
      {"lstm", {{"lstm_state_clip_min", "2"}, {"lstm_state_clip_max", "1"}}, "is greater than"},
      {"lstm", {{"p", "1"}}, "is not less than 1"},
      {"gru", {{"projection_size", "2"}}, "needs mode lstm"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(InferShapePartial(MakeRNN(c.mode, c.attrs), {}).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(c.error)));
  }
  EXPECT_THAT(
      Symbol::Create("RNN", {.attrs = {{"mode", "srn"}, {"num_layers", "1"}, {"state_size", "2"}}})
          .status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("rnn_relu, rnn_tanh")));
}

Symbol MakeLayer(const std::string& mode, const AttrMap& more = {}) {
  AttrMap attrs = {
      {"mode", mode}, {"num_layers", "1"}, {"state_size", "4"}, {"state_outputs", "True"}};
  for (const auto& [key, value] : more) attrs[key] = value;
  return Symbol::Create("_rnn_layer", {.name = "l", .attrs = attrs}).value();
}

TEST(RNNLayerTest, RefusesHalfAClip) {
  EXPECT_THAT(InferShapePartial(MakeLayer("lstm", {{"lstm_state_clip_min", "-1"}}), {}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be given together")));
}

// The extents fit int64, the number of bytes does not.
TEST(RNNShapeTest, RefusesAReserveThatIsTooLarge) {
  const Symbol rnn =
      Symbol::Create("RNN",
                     {.name = "rnn",
                      .attrs = {{"mode", "gru"}, {"num_layers", "13"}, {"state_size", "1048576"}}})
          .value();
  EXPECT_FALSE(InferShape(rnn, {{"rnn_data", {524288, 524288, 1}}}).ok());
}

TEST(RNNLayerTest, InfersFromData) {
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes lstm,
                              InferShape(MakeLayer("lstm"), {{"l_data", {5, 2, 3}}}));
  EXPECT_THAT(Texts(lstm.args),
              ElementsAre("(5, 2, 3)", "(16, 3)", "(16,)", "(16, 4)", "(16,)", "(2, 4)", "(2, 4)"));
  EXPECT_THAT(Texts(lstm.outputs), ElementsAre("(5, 2, 4)", "(2, 4)", "(2, 4)"));
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes gru,
                              InferShape(MakeLayer("gru"), {{"l_data", {5, 2, 3}}}));
  EXPECT_THAT(Texts(gru.args),
              ElementsAre("(5, 2, 3)", "(12, 3)", "(12,)", "(12, 4)", "(12,)", "(2, 4)"));
  EXPECT_THAT(Texts(gru.outputs), ElementsAre("(5, 2, 4)", "(2, 4)"));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const InferredShapes lengths,
      InferShape(MakeLayer("gru", {{"use_sequence_length", "True"}}), {{"l_data", {5, 2, 3}}}));
  EXPECT_EQ(lengths.args.back().ToString(), "(2,)");
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredTypes types,
                              InferType(MakeLayer("gru"), {{"l_h2h_bias", DType::kFloat64}}));
  EXPECT_THAT(types.args, ::testing::Each(DType::kFloat64));
}

TEST(RNNLayerTest, NamesTheArgumentThatDoesNotFit) {
  const struct {
    const char* argument;
    PartialShape shape;
    const char* error;
  } cases[] = {
      {"l_i2h_weight", {16, 5}, "expected (16, 3) = (gates * state_size, input)"},
      {"l_i2h_bias", {12}, "expected (16,) = (gates * state_size,)"},
      {"l_h2h_weight", {16, 3}, "expected (16, 4) = (gates * state_size, state_size)"},
      {"l_state", {3, 4}, "expected (2, 4) = (batch, state_size)"},
      {"l_state_cell", {2, 5}, "expected (2, 4) = (batch, state_size)"},
  };
  for (const auto& c : cases) {
    const std::string input = std::string(c.argument).substr(2);
    EXPECT_THAT(InferShapePartial(MakeLayer("lstm"), {{"l_data", {5, 2, 3}}, {c.argument, c.shape}})
                    .status(),
                StatusIs(absl::StatusCode::kInvalidArgument,
                         ::testing::AllOf(HasSubstr("'" + input + "'"), HasSubstr(c.error))));
  }
  EXPECT_THAT(InferShapePartial(MakeLayer("lstm"), {{"l_data", {5, 2}}}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("(length, batch, input)")));
}

TEST(RNNLayerTest, IsOneLayerInOneDirection) {
  for (const AttrMap& more : {AttrMap{{"num_layers", "2"}}, AttrMap{{"bidirectional", "True"}},
                              AttrMap{{"state_outputs", "False"}}, AttrMap{{"p", "0.5"}}}) {
    EXPECT_THAT(InferShapePartial(MakeLayer("gru", more), {}).status(),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs num_layers 1")));
  }
}

// Rounding the rows up to a multiple of the panel size must not overflow.
TEST(PackRNNWeightTest, RefusesMoreRowsThanThereCanBe) {
  const Symbol pack =
      Symbol::Create("_pack_rnn_weight", {.name = "p", .attrs = {{"num_gates", "1"}}}).value();
  EXPECT_EQ(InferShape(pack, {{"p_weight", {17, 3}}})->outputs[0].ToString(), "(2, 3, 1, 16)");
  EXPECT_THAT(InferShape(pack, {{"p_weight", {std::numeric_limits<int64_t>::max(), 1}}}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has too many elements")));
}

TEST(RNNTypeTest, LengthsMayHaveAnotherType) {
  const Symbol rnn = MakeRNN("gru", {{"use_sequence_length", "True"}});
  const auto inferred =
      InferType(rnn, {{"rnn_data", DType::kFloat64}, {"rnn_sequence_length", DType::kInt32}});
  ASSERT_THAT(inferred, IsOk());
  EXPECT_THAT(inferred->args,
              ElementsAre(DType::kFloat64, DType::kFloat64, DType::kFloat64, DType::kInt32));
}

// Lengths of the parameter vector in MXNet 1.9.1.
TEST(RNNLayoutTest, ParameterSizes) {
  const struct {
    RNNMode mode;
    int64_t layers;
    bool bidirectional;
    int64_t input, state, size;
  } cases[] = {
      {RNNMode::kRnnTanh, 1, false, 3, 4, 36}, {RNNMode::kRnnTanh, 2, true, 3, 4, 184},
      {RNNMode::kRnnTanh, 3, false, 5, 2, 42}, {RNNMode::kLstm, 1, false, 3, 4, 144},
      {RNNMode::kLstm, 2, true, 3, 4, 736},    {RNNMode::kGru, 1, false, 3, 4, 108},
  };
  for (const auto& c : cases) {
    const RNNParam param{.state_size = c.state,
                         .num_layers = c.layers,
                         .mode = c.mode,
                         .bidirectional = c.bidirectional};
    EXPECT_EQ(RNNParameterSize(param, c.input), c.size);
    EXPECT_EQ(RNNInputSize(param, c.size), c.input);
    // The last bias ends at the end of the vector.
    const auto last = RNNOffsets(param, c.input, c.layers - 1, c.bidirectional ? 1 : 0);
    EXPECT_EQ(last.h2h_bias + RNNNumGates(c.mode) * c.state, c.size);
  }
}

}  // namespace
}  // namespace cooper
