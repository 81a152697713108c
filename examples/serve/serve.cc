#include "examples/serve/serve.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "examples/serve/http/http_server.h"
#include "examples/serve/request_json.h"
#include "httplib.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

int HttpStatus(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:  // of an operator that refuses a value
      return 400;
    case absl::StatusCode::kResourceExhausted:
      return 503;  // too many wait: the same request may pass later
    default:
      return 500;
  }
}

std::string ErrorText(absl::string_view message) {
  Json json;
  json["error"] = absl::StrCat(message);
  // The message may quote a client's text that is not UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Converts an output. JSON cannot represent NaN and infinity; a client would read null as a missing
// number.
absl::StatusOr<Json> OutputJson(const NDArray& output) {
  const auto dims = output.shape().dims();
  Json json = {{"shape", std::vector<int64_t>(dims.begin(), dims.end())}};
  if (IsFloating(output.dtype())) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<double> values, output.ToVector<double>());
    for (const double value : values) {
      if (!std::isfinite(value)) return absl::InternalError(absl::StrCat("has ", value));
    }
    json["values"] = values;
  } else {
    COOPER_ASSIGN_OR_RETURN(json["values"], output.ToVector<int64_t>());
  }
  return json;
}

absl::StatusOr<std::string> AnswerText(const std::vector<NDArray>& outputs) {
  Json json = {{"outputs", Json::array()}};
  for (size_t k = 0; k < outputs.size(); ++k) {
    absl::StatusOr<Json> output = OutputJson(outputs[k]);
    if (!output.ok()) {
      return absl::InternalError(absl::StrCat("output ", k, " ", output.status().message()));
    }
    json["outputs"].push_back(*std::move(output));
  }
  return json.dump();
}

}  // namespace

PredictServer::PredictServer(std::shared_ptr<RequestBatcher> batcher,
                             std::vector<RequestInput> inputs, const PredictServerOptions& options)
    : batcher_(std::move(batcher)),
      inputs_(std::move(inputs)),
      server_(std::make_unique<HttpServer>(
          HttpServerOptions{.max_body_bytes = options.max_body_bytes,
                            .num_threads = options.num_threads,
                            .max_waiting = options.max_waiting,
                            .timeout = std::chrono::seconds(options.timeout_seconds)})) {}

absl::StatusOr<std::unique_ptr<PredictServer>> PredictServer::Start(
    std::shared_ptr<RequestBatcher> batcher, std::vector<RequestInput> inputs,
    const PredictServerOptions& options) {
  std::unique_ptr<PredictServer> started(
      new PredictServer(std::move(batcher), std::move(inputs), options));
  started->AddHandlers();
  COOPER_ASSIGN_OR_RETURN(started->port_, started->server_->Start(options.host, options.port));
  return started;
}

PredictServer::~PredictServer() = default;

absl::Status PredictServer::Wait() { return server_->Wait(); }

void PredictServer::AddHandlers() {
  server_->PostBody("/predict", [this](const std::string& body, httplib::Response& response) {
    const Clock::time_point start = Clock::now();
    absl::StatusOr<std::string> answer = [&]() -> absl::StatusOr<std::string> {
      COOPER_ASSIGN_OR_RETURN(ArrayMap arrays, ParseRequest(body, inputs_));
      COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> outputs,
                              batcher_->Submit(std::move(arrays)).get());
      return AnswerText(outputs);
    }();
    response.status = answer.ok() ? 200 : HttpStatus(answer.status());
    const absl::string_view message = answer.status().message();
    response.set_content(answer.ok() ? *answer : ErrorText(message), "application/json");
    microseconds_ +=
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  });
  server_->Get("/healthz", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("ok\n", "text/plain");
  });
  server_->Get("/metrics", [this](const httplib::Request&, httplib::Response& response) {
    response.set_content(Metrics(), "text/plain; version=0.0.4");
  });
  // The logger also sees requests that reach no handler: unknown paths, bodies that are too large.
  server_->set_logger([this](const httplib::Request&, const httplib::Response& response) {
    ++(response.status < 400 ? answered_ : response.status < 500 ? refused_ : failed_);
  });
}

std::string PredictServer::Metrics() const {
  const RequestBatcher::Counts counts = batcher_->counts();
  const auto metric = [](absl::string_view name, absl::string_view help, auto value) {
    return absl::StrCat("# HELP cooper_", name, " ", help, "\n# TYPE cooper_", name,
                        " counter\ncooper_", name, " ", value, "\n");
  };
  return absl::StrCat(
      "# HELP cooper_http_responses_total responses by class of status\n"
      "# TYPE cooper_http_responses_total counter\n"
      "cooper_http_responses_total{status=\"2xx\"} ",
      answered_.load(), "\ncooper_http_responses_total{status=\"4xx\"} ", refused_.load(),
      "\ncooper_http_responses_total{status=\"5xx\"} ", failed_.load() + server_->num_refused(),
      "\n", metric("predictions_total", "samples that were computed", counts.requests),
      metric("refused_samples_total", "samples that the batcher refused", counts.refused),
      metric("batches_total", "batches that were computed", counts.batches),
      metric("predict_seconds_total", "time from a request's body to its answer",
             1e-6 * static_cast<double>(microseconds_.load())));
}

}  // namespace cooper
