// Tests symbol files with shapes that no shape rule checks, that could not be saved and loaded, or
// that need too many resources: each is rejected with a reason, or runs.

#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/executor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/json/json.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;
constexpr auto kResourceExhausted = absl::StatusCode::kResourceExhausted;

// Returns a file with one operator on variables of these shapes.
std::string File(const std::string& op, const AttrMap& attrs,
                 const std::vector<std::string>& shapes) {
  std::vector<std::string> nodes, inputs;
  for (const std::string& shape : shapes) {
    inputs.push_back(absl::StrCat("[", nodes.size(), ", 0, 0]"));
    nodes.push_back(absl::StrCat(R"({"op": "null", "name": "x)", nodes.size(),
                                 R"(", "attrs": {"__shape__": ")", shape, R"("}, "inputs": []})"));
  }
  return absl::StrCat(
      R"({"nodes": [)", absl::StrJoin(nodes, ", "), R"(, {"op": ")", op,
      R"(", "name": "y", "attrs": {)",
      absl::StrJoin(attrs, ", ",
                    [](std::string* out, const auto& attr) {
                      absl::StrAppend(out, "\"", attr.first, "\": \"", attr.second, "\"");
                    }),
      R"(}, "inputs": [)", absl::StrJoin(inputs, ", "), R"(]}], "heads": [[)", nodes.size(),
      R"(, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})");
}

absl::Status BindAndRun(const Symbol& symbol, const BindOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor,
                          Executor::SimpleBind(symbol, options));
  COOPER_RETURN_IF_ERROR(executor->Forward(/*is_train=*/true));
  std::vector<NDArray> heads;
  for (const Shape& shape : executor->output_shapes()) heads.push_back(*NDArray::Zeros(shape));
  return executor->Backward(heads);
}

absl::Status LoadAndRun(const std::string& text, const BindOptions& options = {}) {
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, SymbolFromJson(text));
  return BindAndRun(symbol, options);
}

// The kernels of gradients rely on the shape rule of their forward node, which a file may omit.
TEST(HostileSymbolsTest, GradientsThatAFileNamesAreRefused) {
  const struct {
    const char* op;
    AttrMap attrs;
    std::vector<std::string> shapes;
  } kCases[] = {
      {"_backward_Pad", {{"mode", "constant"}, {"pad_width", "(1, 2, 3, 4)"}}, {"(2, 3)"}},
      {"_backward_repeat", {{"repeats", "3"}}, {"(2,)"}},
      {"_backward_Embedding", {{"input_dim", "4"}, {"output_dim", "2"}}, {"(0, 0)", "(3,)"}},
      {"_backward_ROIPooling",
       {{"pooled_size", "(2, 2)"}, {"spatial_scale", "1"}},
       {"(2,)", "(3,)"}},
      {"_backward_softmax", {{"axis", "5"}}, {"(2,)", "(2,)"}},
      {"_broadcast_backward", {}, {"(2,)"}},
      {"_split_v2_backward", {{"sections", "2"}}, {"(2,)", "(2,)"}},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(LoadAndRun(File(c.op, c.attrs, c.shapes)),
                StatusIs(kInvalidArgument, AllOf(HasSubstr(c.op), HasSubstr("'y'"),
                                                 HasSubstr("computes a gradient"))));
  }
}

// Checks all linked gradient operators, since the reader has no list of them.
TEST(HostileSymbolsTest, NoOperatorOfGradientsCanBeNamed) {
  int gradients = 0;
  for (const OpSchema* op : AllOps()) {
    if (!op->is_gradient()) continue;
    ++gradients;
    EXPECT_THAT(SymbolFromJson(File(op->name(), {}, {"(1,)"})),
                StatusIs(kInvalidArgument, HasSubstr("computes a gradient")));
  }
  EXPECT_GT(gradients, 100);
}

TEST(HostileSymbolsTest, WhatShapeRulesMissedIsRefused) {
  EXPECT_THAT(LoadAndRun(File("SoftmaxActivation", {{"mode", "channel"}}, {"(3,)"})),
              StatusIs(kInvalidArgument, HasSubstr("expected at least 2 axes in mode channel")));
  EXPECT_THAT(LoadAndRun(File("_arange", {{"start", "0"}, {"stop", "1e30"}}, {"(1,)"})),
              Not(IsOk()));
  for (const char* step : {"nan", "1e-320", "0"}) {
    EXPECT_THAT(
        Executor::SimpleBind(
            *Symbol::Create(
                "_arange", {.name = "y", .attrs = {{"start", "0"}, {"stop", "9"}, {"step", step}}}),
            {}),
        StatusIs(kInvalidArgument, HasSubstr("no range from 0 to 9")));
  }
  for (const char* op : {"multi_sum_sq", "reset_arrays", "multi_all_finite"}) {
    EXPECT_THAT(LoadAndRun(File(op, {{"num_arrays", "2000000000"}}, {"(1,)"})),
                StatusIs(kInvalidArgument, HasSubstr("num_arrays='2000000000'")));
  }
  EXPECT_THAT(
      LoadAndRun(File("multi_sgd_update",
                      {{"num_weights", "2000000000"}, {"lrs", "(1,)"}, {"wds", "(0,)"}}, {"(1,)"})),
      StatusIs(kInvalidArgument, HasSubstr("num_weights='2000000000'")));
}

// Inputs that operators_fuzz has found.
TEST(HostileSymbolsTest, OperatorsAreRefusedOrRunAtTheEdgesOfTheirShapes) {
  const Shape scalar;
  const struct {
    const char* op;
    AttrMap attrs;
    KnownShapes shapes;
    const char* error;  // null: it runs
  } kCases[] = {
      {"SoftmaxOutput",
       {{"multi_output", "1"}},
       {{"y_data", {4}}, {"y_label", {4}}},
       "needs at least 2 axes"},
      {"depth_to_space", {{"block_size", "4294967296"}}, {{"y_data", {1, 4, 1, 1}}}, "block_size"},
      {"tile",
       {{"reps", "(4611686018427387904,)"}},
       {{"y_data", {5, 2, 3, 5, 4}}},
       "has too many elements"},
      {"UpSampling",
       {{"scale", "4294967296"}, {"sample_type", "nearest"}, {"num_args", "1"}},
       {{"y_arg0", {1, 1, 2, 2}}},
       "scale"},
      {"Pooling",
       {{"kernel", "(4611686018427387904, 4611686018427387904)"}, {"pool_type", "max"}},
       {{"y_data", {1, 1, 2, 2}}},
       "expected at most"},
      {"Pad",
       {{"mode", "constant"}, {"pad_width", "(0, 0, 9223372036854775807, 9223372036854775807)"}},
       {{"y_data", {1, 1}}},
       "above 2^40"},
      {"where", {}, {{"y_condition", {2}}, {"y_x", scalar}}, "'condition' has shape (2,)"},
      {"softmax_cross_entropy", {}, {{"y_data", {5, 0}}}, nullptr},
      {"MakeLoss", {{"normalization", "batch"}}, {{"y_data", scalar}}, nullptr},
  };
  for (const auto& c : kCases) {
    const auto symbol = Symbol::Create(c.op, {.name = "y", .attrs = c.attrs});
    const absl::Status status =
        symbol.ok() ? BindAndRun(*symbol, {.shapes = c.shapes}) : symbol.status();
    if (c.error == nullptr) {
      COOPER_EXPECT_OK(status) << c.op;
    } else {
      EXPECT_THAT(status, StatusIs(kInvalidArgument, HasSubstr(c.error))) << c.op;
    }
  }
}

TEST(HostileSymbolsTest, WhatAGraphTakesIsBoundedBeforeItIsAllocated) {
  const std::string text = File("relu", {}, {"(1000, 1000)"});
  COOPER_EXPECT_OK(LoadAndRun(text));
  EXPECT_THAT(LoadAndRun(text, {.max_bytes = 1 << 20}),
              StatusIs(kResourceExhausted, HasSubstr("of max_bytes")));
  EXPECT_THAT(LoadAndRun(File("relu", {}, {"(1000000, 1000000)"})),
              StatusIs(kResourceExhausted, HasSubstr("of max_bytes")));
}

// Formatting a program must not build the names of all outputs once per output.
TEST(HostileSymbolsTest, ProgramsOfManyOutputsAreShownInLinearTime) {
  const std::clock_t begin = std::clock();
  constexpr int kOutputs = 1 << 16;
  COOPER_ASSERT_OK_AND_ASSIGN(
      const Symbol split,
      Symbol::Create("SliceChannel", {.name = "y",
                                      .inputs = {Symbol::Variable("x")},
                                      .attrs = {{"num_outputs", absl::StrCat(kOutputs)}}}));
  COOPER_ASSERT_OK_AND_ASSIGN(
      const auto executor,
      Executor::SimpleBind(split, {.shapes = {{"x", {1, kOutputs}}}, .grad_req = WriteReq::kNull}));
  EXPECT_THAT(executor->DebugString(), HasSubstr("y_output65535 (1, 1)"));
  int seen = 0;
  executor->SetMonitorCallback([&](const std::string&, const NDArray&) { ++seen; });
  COOPER_ASSERT_OK(executor->Forward(/*is_train=*/false));
  EXPECT_GE(seen, kOutputs);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 30);
}

// Reading old files must not search near names for each variable.
TEST(HostileSymbolsTest, OldFilesLookForNoNearNames) {
  const std::clock_t begin = std::clock();
  const auto old_file = [](absl::string_view op) {
    std::string text = R"({"nodes": [{"op": "null", "name": "x", "inputs": []})";
    for (int i = 0; i < 50'000; ++i) {
      absl::StrAppend(&text, R"(, {"op": ")", op, R"(", "name": "y)", i, R"(", "inputs": []})");
    }
    return absl::StrCat(text, R"(], "heads": [[0, 0]], "attrs": {"mxnet_version": ["int", 904]}})");
  };
  COOPER_EXPECT_OK(SymbolFromJson(old_file("null")));
  EXPECT_THAT(SymbolFromJson(old_file("Convolutoin")),
              StatusIs(absl::StatusCode::kNotFound,
                       HasSubstr("Convolutoin 'y0': no operator 'Convolutoin'")));
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 15);
}

// Composition counts one input, the weight being made for it; a file has both.
TEST(HostileSymbolsTest, ABilinearUpSamplingIsLoadedAgain) {
  const auto make = [](const char* num_args) {
    OpArgs args = {.name = "up",
                   .inputs = {Symbol::Variable("data")},
                   .attrs = {{"scale", "2"}, {"sample_type", "bilinear"}}};
    if (*num_args != '\0') args.attrs["num_args"] = num_args;
    return Symbol::Create("UpSampling", args);
  };
  for (const char* num_args : {"", "1", "2"}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol symbol, make(num_args));
    const std::string saved = SymbolToJson(symbol);
    COOPER_ASSERT_OK_AND_ASSIGN(const Symbol again, SymbolFromJson(saved));
    EXPECT_EQ(SymbolToJson(again), saved);
  }
  EXPECT_THAT(make("3"), StatusIs(kInvalidArgument, HasSubstr("expected 1 or 2")));
}

}  // namespace
}  // namespace cooper
