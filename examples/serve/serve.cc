#include "examples/serve/serve.h"

#include <sys/socket.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
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

// Up to this many times max_body_bytes are read of a body that is too large. A connection that is
// closed while the client still writes may lose the answer.
constexpr size_t kMaxDiscarded = 8;

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
      options_(options),
      server_(std::make_unique<httplib::Server>()) {}

absl::StatusOr<std::unique_ptr<PredictServer>> PredictServer::Start(
    std::shared_ptr<RequestBatcher> batcher, std::vector<RequestInput> inputs,
    const PredictServerOptions& options) {
  if (options.num_threads < 1 || options.timeout_seconds < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("PredictServer: num_threads is ", options.num_threads, ", timeout_seconds ",
                     options.timeout_seconds, ": expected at least 1"));
  }
  std::unique_ptr<PredictServer> started(
      new PredictServer(std::move(batcher), std::move(inputs), options));
  started->AddHandlers();
  COOPER_RETURN_IF_ERROR(started->Listen());
  return started;
}

absl::Status PredictServer::Listen() {
  server_->new_task_queue = [this] { return new httplib::ThreadPool(options_.num_threads); };
  server_->set_payload_max_length(options_.max_body_bytes);
  server_->set_read_timeout(options_.timeout_seconds);
  server_->set_write_timeout(options_.timeout_seconds);
  // A connection is closed after this time without a request, or after this many requests, so that
  // its thread can serve other connections. The time also limits the wait for the first request,
  // which comes late if many clients connect at once.
  server_->set_keep_alive_timeout(options_.timeout_seconds);
  server_->set_keep_alive_max_count(1000);
  server_->set_tcp_nodelay(true);  // answers are small, and a connection has many of them
  // Replaces httplib's SO_REUSEPORT, with which two servers of one user would silently share a
  // port.
  socket_t listening = -1;
  server_->set_socket_options([&listening](socket_t socket) {
    const int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    listening = socket;
  });
  port_ = options_.port;
  if (port_ == 0) {
    port_ = server_->bind_to_any_port(options_.host);
  } else if (!server_->bind_to_port(options_.host, port_)) {
    port_ = -1;
  }
  if (port_ < 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", options_.host, ":", options_.port));
  }
  // httplib lets 5 connections wait for accept(). Of more that arrive at once, some would be
  // retried after a second and some would be reset.
  listen(listening, SOMAXCONN);
  thread_ = std::thread([this] {
    server_->listen_after_bind();
    ended_ = true;
  });
  // stop() does nothing before the server runs.
  while (!server_->is_running() && !ended_) std::this_thread::yield();
  return absl::OkStatus();
}

PredictServer::~PredictServer() {
  server_->stop();
  if (thread_.joinable()) thread_.join();
}

absl::Status PredictServer::Wait() {
  if (thread_.joinable()) thread_.join();
  return absl::UnavailableError(
      absl::StrCat("the socket of ", options_.host, ":", port_, " failed"));
}

void PredictServer::AddHandlers() {
  // A handler that reads the body itself bounds compressed bodies and bodies in chunks, too.
  server_->Post("/predict", [this](const httplib::Request& request, httplib::Response& response,
                                   const httplib::ContentReader& read) {
    if (request.is_multipart_form_data()) {
      response.status = 415;
      return;
    }
    std::string body;
    size_t received = 0;
    const bool is_whole = read([&](const char* data, size_t size) {
      received += size;
      if (received <= options_.max_body_bytes) body.append(data, size);
      return received / kMaxDiscarded <= options_.max_body_bytes;
    });
    if (!is_whole || received > options_.max_body_bytes) {
      if (received > options_.max_body_bytes) response.status = 413;
      if (response.status < 400) response.status = 400;
      return;
    }
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
  // The logger also sees requests that reach no handler, such as unknown paths.
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
      "\ncooper_http_responses_total{status=\"5xx\"} ", failed_.load(), "\n",
      metric("predictions_total", "samples that were computed", counts.requests),
      metric("refused_samples_total", "samples that the batcher refused", counts.refused),
      metric("batches_total", "batches that were computed", counts.batches),
      metric("predict_seconds_total", "time from a request's body to its answer",
             1e-6 * static_cast<double>(microseconds_.load())));
}

}  // namespace cooper
