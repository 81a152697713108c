// Trains the tagger (examples/tagger) and serves it until it is stopped:
//
//   serve_main 8080
//   curl -d '{"data": [3, 1, 4]}' localhost:8080/predict

#include <iostream>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "examples/serve/serve.h"
#include "examples/serve/serve_tagger.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status Run(int port) {
  COOPER_ASSIGN_OR_RETURN(const auto server, ServeTagger({.port = port}));
  std::cout << "curl -d '{\"data\": [3, 1, 4]}' localhost:" << server->port() << "/predict"
            << std::endl;
  return server->Wait();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  int port = 8080;
  // Checked before the training.
  if (argc > 1 && (!absl::SimpleAtoi(argv[1], &port) || port < 1 || port > 65535)) {
    std::cerr << "serve_main: port '" << argv[1] << "', expected 1 to 65535\n";
    return 1;
  }
  const absl::Status status = cooper::Run(port);
  if (!status.ok()) std::cerr << status << "\n";
  return status.ok() ? 0 : 1;
}
