// Serves the tagger, sends requests from four concurrent clients, and prints their latencies. With
// an argument, writes them as JSON, which tools/charts.py draws.

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "examples/serve/serve_tagger.h"
#include "examples/tagger/tagger.h"
#include "httplib.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/output_file.h"
#include "ndarray/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace cooper {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kClients = 4, kRequests = 500;  // requests of each client

// Returns the milliseconds of each request, rising; empty if one failed.
std::vector<double> Ask(int port) {
  const TaggedSentences sentences = MakeTaggedSentences(kRequests, 3);
  std::vector<std::vector<double>> by_client(kClients);
  std::vector<std::thread> threads;
  threads.reserve(kClients);
  for (int i = 0; i < kClients; ++i) {
    threads.emplace_back([&, i] {
      httplib::Client client("127.0.0.1", port);
      client.set_keep_alive(true);
      client.set_tcp_nodelay(true);
      for (const std::vector<int>& words : sentences.words) {
        const Clock::time_point start = Clock::now();
        const httplib::Result result =
            client.Post("/predict", absl::StrCat("{\"data\": [", absl::StrJoin(words, ", "), "]}"),
                        "application/json");
        if (!result || result->status != 200) return;
        by_client[i].push_back(
            std::chrono::duration<double, std::milli>(Clock::now() - start).count());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<double> all;
  for (const auto& times : by_client) all.insert(all.end(), times.begin(), times.end());
  if (all.size() != kClients * kRequests) return {};
  std::sort(all.begin(), all.end());
  return all;
}

absl::Status Run(const std::string& path) {
  COOPER_RETURN_IF_ERROR(CheckOutputFile("", path));
  COOPER_ASSIGN_OR_RETURN(const auto server, ServeTagger({}));
  const Clock::time_point start = Clock::now();
  const std::vector<double> times = Ask(server->port());
  if (times.empty()) return absl::InternalError("a request was not answered");
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const double p50 = times[times.size() / 2], p99 = times[times.size() * 99 / 100];
  std::cout << absl::StrFormat(
      "%d requests, %.0f a second; half within %.2f ms, 99 %% within %.2f\n", times.size(),
      static_cast<double>(times.size()) / seconds, p50, p99);
  if (path.empty()) return absl::OkStatus();
  const nlohmann::ordered_json json = {
      {"kind", "latencies"}, {"p50", p50}, {"p99", p99}, {"milliseconds", times}};
  return WriteFileAtomically(path, json.dump() + "\n");
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  const absl::Status status = cooper::Run(argc > 1 ? argv[1] : "");
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
