// Tests the numbers and statuses of answers with a model of one operator.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
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
    EXPECT_THAT(result->body, HasSubstr("requested failure")) << code;
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

// The limit holds for every transfer encoding.
TEST(PredictServerTest, BodiesAreBounded) {
  constexpr size_t kMaxBody = 500'000;
  const auto server =
      PredictServer::Start(MakeBatcher(op::log(Symbol::Variable("x")), {.inputs = Inputs()}),
                           Inputs(), {.max_body_bytes = kMaxBody})
          .value();
  const std::string good = R"({"x": [1, 1]})";
  const std::string spaces = good + std::string(2 * kMaxBody, ' ');
  httplib::Client client("127.0.0.1", server->port());
  client.set_read_timeout(30);
  const httplib::Result large = client.Post("/predict", spaces, "application/json");
  ASSERT_TRUE(large);
  EXPECT_EQ(large->status, 413);
  const httplib::ContentProviderWithoutLength chunks = [&](size_t, httplib::DataSink& sink) {
    sink.write(spaces.data(), spaces.size());
    sink.done();
    return true;
  };
  const httplib::Result chunked =
      httplib::Client("127.0.0.1", server->port()).Post("/predict", chunks, "application/json");
  ASSERT_TRUE(chunked);
  EXPECT_EQ(chunked->status, 413);
  httplib::Client compressing("127.0.0.1", server->port());
  compressing.set_compress(true);
  const httplib::Result compressed = compressing.Post("/predict", spaces, "application/json");
  ASSERT_TRUE(compressed);
  EXPECT_EQ(compressed->status, 413) << "of a few hundred bytes that hold a million";
  // Sends the request as `curl -d` does. httplib's default limit for that type is 8 KiB.
  const httplib::Result form =
      httplib::Client("127.0.0.1", server->port())
          .Post("/predict", good + std::string(20'000, ' '), "application/x-www-form-urlencoded");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->status, 200) << form->body;
}

TEST(PredictServerTest, APortThatIsTakenIsAnError) {
  auto first = PredictServer::Start(nullptr, {});
  COOPER_ASSERT_OK(first.status());
  EXPECT_THAT(PredictServer::Start(nullptr, {}, {.port = (*first)->port()}),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("127.0.0.1:" + std::to_string((*first)->port()))));
  EXPECT_THAT(PredictServer::Start(nullptr, {}, {.host = "192.0.2.1"}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("192.0.2.1")));
}

TEST(PredictServerTest, APortIsFreeOnceItsServerHasEnded) {
  auto first = PredictServer::Start(nullptr, {});
  COOPER_ASSERT_OK(first.status());
  const int port = (*first)->port();
  httplib::Client client("127.0.0.1", port);
  EXPECT_EQ(client.Get("/healthz")->status, 200);
  first->reset();
  COOPER_EXPECT_OK(PredictServer::Start(nullptr, {}, {.port = port}).status());
}

TEST(PredictServerTest, ASilentClientLosesItsThread) {
  const auto server =
      PredictServer::Start(nullptr, {}, {.num_threads = 1, .timeout_seconds = 1}).value();
  const int silent = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(server->port()));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(connect(silent, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  const std::string half = "POST /predict HTTP/1.1\r\nContent-Length: 9\r\n\r\n{";
  ASSERT_EQ(send(silent, half.data(), half.size(), 0), static_cast<ssize_t>(half.size()));
  httplib::Client client("127.0.0.1", server->port());
  client.set_read_timeout(30);
  const httplib::Result result = client.Get("/healthz");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 200);
  close(silent);
}

TEST(PredictServerTest, OptionsAreChecked) {
  EXPECT_THAT(PredictServer::Start(nullptr, {}, {.num_threads = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("num_threads is 0")));
  EXPECT_THAT(PredictServer::Start(nullptr, {}, {.timeout_seconds = 0}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("timeout_seconds 0")));
}

TEST(PredictServerTest, EndsAtOnce) {
  for (int i = 0; i < 20; ++i) COOPER_ASSERT_OK(PredictServer::Start(nullptr, {}).status());
}

}  // namespace
}  // namespace cooper
