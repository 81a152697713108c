// Trains the tagger (examples/tagger) and serves it until it is stopped:
//
//   serve_main 8080
//   curl -d '{"data": [3, 1, 4]}' localhost:8080/predict

#include <cstdlib>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "examples/serve/serve.h"
#include "examples/serve/serve_tagger.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

absl::Status Run(int port) {
  COOPER_ASSIGN_OR_RETURN(const auto server, ServeTagger({.port = port}));
  std::cout << "curl -d '{\"data\": [3, 1, 4]}' localhost:" << server->port() << "/predict"
            << std::endl;
  server->Wait();
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  const absl::Status status = cooper::Run(argc > 1 ? std::atoi(argv[1]) : 8080);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
