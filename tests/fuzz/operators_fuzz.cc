// Fuzzes random networks of operators: binding fails, or forward and backward passes run. With
// small, finite numbers the results agree with those without compiler passes.

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "executor/executor.h"
#include "glog/logging.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "symbol/json/json.h"
#include "tests/fuzz/compare_results.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/random_network.h"

namespace cooper {
namespace {

// Removes integer gradients: each step truncates them, and passes reduce the number of steps.
RandomNetwork::Results WithoutIntegerGradients(RandomNetwork::Results results) {
  std::erase_if(results.arrays, [](const auto& named) {
    return absl::StartsWith(named.first, "gradient of ") && !IsFloating(named.second.dtype());
  });
  return results;
}

void CompareWithoutPasses(const uint8_t* data, size_t size) {
  static const auto* const passes = [] {
    const std::vector<std::string> names = PassNames();
    return new std::set<std::string>(names.begin(), names.end());
  }();
  FuzzInput plain_input(data, size), input(data, size);
  RandomNetwork plain(plain_input, /*tame=*/true), network(input, /*tame=*/true);
  if (!plain.Make() || !network.Make()) return;
  const std::string json = SymbolToJson(network.symbol());
  const std::string difference =
      Difference(WithoutIntegerGradients(plain.Run(Context::Cpu(), *passes)),
                 WithoutIntegerGradients(network.Run()), OutputsFollowFromInputs(json));
  CHECK(difference.empty()) << "passes change it: " << difference << "\n" << json;
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 8) return 0;
  if (size % 2 != 0) {
    cooper::CompareWithoutPasses(data, size);
    return 0;
  }
  cooper::FuzzInput input(data, size);
  cooper::RandomNetwork network(input);
  if (!network.Make()) return 0;
  if (size % 4 == 0) network.CheckSaving();
  network.Run();
  return 0;
}
