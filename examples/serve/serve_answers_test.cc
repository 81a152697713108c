// What requests are answered with, by a model of one operator: the answers' numbers and statuses.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "examples/serve/serve.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "module/predict/predictor.h"
#include "module/predict/request_batcher.h"
#include "ndarray/dtype.h"
#include "nlohmann/json.hpp"
#include "symbol/op/elemwise.h"
#include "symbol/symbol.h"

namespace cooper {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::shared_ptr<RequestBatcher> MakeBatcher(const Symbol& symbol, RequestBatcherOptions options) {
  return RequestBatcher::Create(Predictor::Create(symbol, {}).value(), std::move(options)).value();
}

const std::vector<RequestInput>& Inputs() {
  static const auto* const inputs = new std::vector<RequestInput>{{.name = "x", .shape = {2}}};
  return *inputs;
}

httplib::Result Predict(const PredictServer& server, const std::string& body) {
  httplib::Client client("127.0.0.1", server.port());
  return client.Post("/predict", body, "application/json");
}

TEST(PredictServerTest, AnOutputThatIsNotFiniteIsAnError) {
  const auto server =
      PredictServer::Start(MakeBatcher(op::log(Symbol::Variable("x")), {.inputs = Inputs()}),
                           Inputs())
          .value();
  for (const char* body : {R"({"x": [1, 0]})", R"({"x": [-1, 1]})"}) {
    const httplib::Result result = Predict(*server, body);
    ASSERT_TRUE(result) << body;
    EXPECT_EQ(result->status, 500) << body;
    EXPECT_THAT(result->body, HasSubstr("output 0 has ")) << body;
  }
  const httplib::Result result = Predict(*server, R"({"x": [1, 1]})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  EXPECT_EQ(json::parse(result->body)["outputs"][0]["values"], json({0.0, 0.0}));
}

TEST(PredictServerTest, WholeNumbersArriveAsTheyAre) {
  const std::vector<RequestInput> inputs = {{.name = "x", .shape = {2}, .dtype = DType::kInt64}};
  const Symbol symbol = op::identity(Symbol::Variable("x", {.dtype = DType::kInt64}));
  const auto server = PredictServer::Start(MakeBatcher(symbol, {.inputs = inputs}), inputs).value();
  const httplib::Result result = Predict(*server, R"({"x": [16777217, -9007199254740991]})");
  ASSERT_TRUE(result);
  ASSERT_EQ(result->status, 200) << result->body;
  EXPECT_EQ(result->body, R"({"outputs":[{"shape":[2],"values":[16777217,-9007199254740991]}]})");
}

}  // namespace
}  // namespace cooper
