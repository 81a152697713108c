// Tests the numbers and statuses of answers with a model of one operator.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "examples/serve/serve.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "httplib.h"
#include "module/predict/predictor.h"
#include "module/predict/requests/fails_on_demand.h"
#include "module/predict/requests/request_batcher.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_matchers.h"
#include "nlohmann/json.hpp"
#include "symbol/graph/symbol.h"
#include "symbol/op/elemwise.h"

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

// The server reads enough requests concurrently to fill a batch.
TEST(PredictServerTest, ABatchFills) {
  constexpr int kBatch = 16;
  const auto batcher = MakeBatcher(
      op::log(Symbol::Variable("x")),
      {.inputs = Inputs(), .max_batch_size = kBatch, .max_delay = std::chrono::seconds(10)});
  const auto server = PredictServer::Start(batcher, Inputs()).value();
  const auto start = std::chrono::steady_clock::now();
  std::atomic<int> answered{0};
  std::vector<std::thread> clients;
  clients.reserve(kBatch);
  for (int i = 0; i < kBatch; ++i) {
    clients.emplace_back([&] {
      httplib::Client client("127.0.0.1", server->port());
      client.set_read_timeout(30);
      const auto result = client.Post("/predict", R"({"x": [1, 1]})", "application/json");
      answered += result && result->status == 200;
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(9));
  EXPECT_EQ(answered, kBatch);
  EXPECT_EQ(batcher->counts().batches, 1);
}

TEST(PredictServerTest, WhatTheBatcherHasNoRoomForIs503) {
  const auto batcher =
      MakeBatcher(op::log(Symbol::Variable("x")),
                  {.inputs = Inputs(), .max_delay = std::chrono::seconds(2), .max_waiting = 1});
  const auto server = PredictServer::Start(batcher, Inputs()).value();
  auto waiting = batcher->Submit({{"x", *NDArray::FromVector<float>({2}, {1, 1})}});
  const httplib::Result result = Predict(*server, R"({"x": [1, 1]})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 503);
  EXPECT_THAT(result->body, HasSubstr("max_waiting"));
  COOPER_EXPECT_OK(waiting.get().status());
}

TEST(PredictServerTest, AStatusSaysWhoseFaultItIs) {
  const Symbol symbol =
      Symbol::Create("FailsOnDemand", {.inputs = {Symbol::Variable("x")}}).value();
  const auto server =
      PredictServer::Start(MakeBatcher(symbol, {.inputs = Inputs()}), Inputs()).value();
  const std::pair<absl::StatusCode, int> cases[] = {{absl::StatusCode::kInvalidArgument, 400},
                                                    {absl::StatusCode::kOutOfRange, 400},
                                                    {absl::StatusCode::kResourceExhausted, 503},
                                                    {absl::StatusCode::kInternal, 500}};
  for (const auto& [code, status] : cases) {
    FailsOnDemand::code = code;
    const httplib::Result result = Predict(*server, R"({"x": [1, 1]})");
    ASSERT_TRUE(result) << code;
    EXPECT_EQ(result->status, status) << code;
    EXPECT_THAT(result->body, HasSubstr("as it was told")) << code;
  }
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
