// Operators that a program registers: names, shapes, dtypes, runs, gradients, errors.

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/executor_fixtures.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"
#include "symbol/schema/custom_op.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<float>;

// out = data * scale, sum = the sum of data; counts its training runs. `scale` has the shape of
// data.
CustomOp Scaled() {
  using Names = CustomOp::Names;
  return {.arguments =
              [](const AttrMap&) {
                return Names{"data", "scale"};
              },
          .outputs =
              [](const AttrMap&) {
                return Names{"output", "sum"};
              },
          .auxiliary_states = [](const AttrMap&) { return Names{"runs"}; },
          .infer_shape =
              [](CustomShapes& s) {
                s.arguments[1] = s.outputs[0] = s.arguments[0];
                s.outputs[1] = s.auxiliary_states[0] = PartialShape({1});
                return absl::OkStatus();
              },
          .forward =
              [](const CustomForward& c) {
                const float *data = c.arguments[0].as<float>(), *scale = c.arguments[1].as<float>();
                float sum = 0;
                for (int64_t i = 0; i < c.outputs[0].size(); ++i) {
                  c.outputs[0].as<float>()[i] = data[i] * scale[i];
                  sum += data[i];
                }
                *c.outputs[1].as<float>() = sum;
                if (c.is_train) ++*c.auxiliary_states[0].as<float>();
                return absl::OkStatus();
              },
          .backward =
              [](const CustomBackward& c) {
                const float* head = c.head_gradients[0].as<float>();
                for (int64_t i = 0; i < c.gradients[0].size(); ++i) {
                  c.gradients[0].as<float>()[i] =
                      head[i] * c.arguments[1].as<float>()[i] + *c.head_gradients[1].as<float>();
                  c.gradients[1].as<float>()[i] = head[i] * c.arguments[0].as<float>()[i];
                }
                return absl::OkStatus();
              }};
}

// The gradient of this loss is data - 1, whatever comes from above.
CustomOp Loss() {
  return {.forward =
              [](const CustomForward& c) {
                std::copy_n(c.arguments[0].as<float>(), c.outputs[0].size(),
                            c.outputs[0].as<float>());
                return absl::OkStatus();
              },
          .backward =
              [](const CustomBackward& c) {
                EXPECT_TRUE(c.head_gradients.empty());
                for (int64_t i = 0; i < c.gradients[0].size(); ++i) {
                  c.gradients[0].as<float>()[i] = c.outputs[0].as<float>()[i] - 1;
                }
                return absl::OkStatus();
              },
          .needs_head_gradient = false};
}

CustomOp Failing() {
  return {.forward = [](const CustomForward&) { return absl::DataLossError("no luck"); }};
}

void RegisterAll() {
  static const bool registered = [] {
    COOPER_EXPECT_OK(RegisterCustomOp("test_scaled", Scaled()));
    COOPER_EXPECT_OK(RegisterCustomOp("test_loss", Loss()));
    COOPER_EXPECT_OK(RegisterCustomOp("test_failing", Failing()));
    return true;
  }();
  ASSERT_TRUE(registered);
}

Symbol Custom(const char* op_type) {
  RegisterAll();
  auto symbol = Symbol::Create("Custom", {.name = "c",
                                          .inputs = {Symbol::Variable("x")},
                                          .attrs = {{"op_type", op_type}, {"k", "3"}}});
  return symbol.ok() ? *symbol : Symbol(symbol.status());
}

std::unique_ptr<Executor> Bind(const Symbol& symbol, WriteReq req = WriteReq::kWrite) {
  auto bound = Executor::SimpleBind(symbol, {.shapes = {{"x", {2}}}, .grad_req = req});
  EXPECT_TRUE(bound.ok()) << bound.status();
  return bound.ok() ? *std::move(bound) : nullptr;
}

NDArray Array(const Values& values) {
  return *NDArray::FromVector(Shape({static_cast<int64_t>(values.size())}), values);
}

TEST(CustomTest, NamesAndShapesAreTheFunctions) {
  const Symbol scaled = Custom("test_scaled");
  EXPECT_THAT(scaled.ListArguments(), ElementsAre("x", "c_scale"));
  EXPECT_THAT(scaled.ListAuxiliaryStates(), ElementsAre("c_runs"));
  EXPECT_THAT(scaled.ListOutputs(), ElementsAre("c_output", "c_sum"));
  COOPER_ASSERT_OK_AND_ASSIGN(const InferredShapes shapes, InferShape(scaled, {{"x", {2, 3}}}));
  EXPECT_THAT(shapes.args, ElementsAre(PartialShape({2, 3}), PartialShape({2, 3})));
  EXPECT_THAT(shapes.outputs, ElementsAre(PartialShape({2, 3}), PartialShape({1})));
  EXPECT_THAT(InferShape(scaled, {{"x", {2}}, {"c_scale", {3}}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("Custom 'c'")));
}

TEST(CustomTest, RunsForwardAndBackward) {
  for (const WriteReq req : {WriteReq::kWrite, WriteReq::kAdd}) {
    const std::unique_ptr<Executor> executor = Bind(Custom("test_scaled"), req);
    COOPER_ASSERT_OK(executor->arg("x").CopyFrom(Array({1, 2})));
    COOPER_ASSERT_OK(executor->arg("c_scale").CopyFrom(Array({3, 4})));
    for (const auto& [name, grad] : executor->grad_dict()) COOPER_ASSERT_OK(grad.Fill(100));
    COOPER_ASSERT_OK(executor->aux("c_runs").Fill(0));
    COOPER_ASSERT_OK(executor->Forward(true));
    EXPECT_EQ(Floats((*executor->outputs())[0]), (Values{3, 8}));
    EXPECT_EQ(Floats((*executor->outputs())[1]), (Values{3}));
    COOPER_ASSERT_OK(executor->Backward({Array({1, 10}), Array({5})}));
    const float before = req == WriteReq::kAdd ? 100 : 0;
    EXPECT_EQ(Floats(executor->grad("x")), (Values{before + 8, before + 45}));
    EXPECT_EQ(Floats(executor->grad("c_scale")), (Values{before + 1, before + 20}));
    EXPECT_EQ(Floats(executor->aux("c_runs")), (Values{1}));
    COOPER_ASSERT_OK(executor->Forward(false));
    EXPECT_EQ(Floats(executor->aux("c_runs")), (Values{1}));
  }
}

TEST(CustomTest, ALossStartsItsGradient) {
  const std::unique_ptr<Executor> executor = Bind(Custom("test_loss"));
  COOPER_ASSERT_OK(executor->arg("x").Fill(4));
  COOPER_ASSERT_OK(executor->Forward(true));
  COOPER_ASSERT_OK(executor->Backward());
  EXPECT_EQ(Floats(executor->grad("x")), (Values{3, 3}));
}

TEST(CustomTest, FilesKeepTheAttributes) {
  const std::string text = SymbolToJson(Custom("test_scaled"));
  EXPECT_THAT(text, HasSubstr(R"("k": "3")"));
  COOPER_ASSERT_OK_AND_ASSIGN(const Symbol loaded, SymbolFromJson(text));
  EXPECT_EQ(SymbolToJson(loaded), text);
}

TEST(CustomTest, ErrorsNameTheNodeAndWhatIsRegistered) {
  EXPECT_THAT(Custom("test_scale").status(),
              StatusIs(absl::StatusCode::kNotFound,
                       testing::AllOf(HasSubstr("Custom 'c'"),
                                      HasSubstr("no custom operator 'test_scale' is registered"),
                                      HasSubstr("there are test_failing, test_loss, test_scaled"),
                                      HasSubstr("did you mean 'test_scaled'"))));
  EXPECT_THAT(Symbol::Create("Custom", {.name = "c"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("op_type is missing")));
  const std::unique_ptr<Executor> executor = Bind(Custom("test_failing"));
  EXPECT_THAT(executor->Forward(false),
              StatusIs(absl::StatusCode::kDataLoss,
                       HasSubstr("Custom 'c': op_type 'test_failing': no luck")));
  EXPECT_THAT(RegisterCustomOp("test_loss", Loss()),
              StatusIs(absl::StatusCode::kAlreadyExists, HasSubstr("'test_loss'")));
  EXPECT_THAT(RegisterCustomOp("empty", {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no forward function")));
}

}  // namespace
}  // namespace cooper
