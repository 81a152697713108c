// Times a network of a symbol file, on random data: prediction, or with --train the forward and
// backward pass of a training step. Speaks the protocol of benchmarks/peers/networks.py: prints
// {"ready": true}, then answers "run N" with {"elapsed_s": ...} of N passes.
//
//   networks --symbol=resnet18-symbol.json --shapes='data:4,3,224,224' --train <<< 'run 10'

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "executor/executor.h"
#include "ndarray/gemm_rate.h"
#include "ndarray/parallel.h"
#include "ndarray/profile_report.h"
#include "ndarray/profiler.h"
#include "ndarray/random.h"
#include "ndarray/status_macros.h"
#include "nlohmann/json.hpp"
#include "symbol/json.h"
#include "tools/shapes_flag.h"

ABSL_FLAG(std::string, symbol, "", "a symbol file of MXNet's or cooper's");
ABSL_FLAG(std::string, shapes, "", "shapes of inputs: data:4,3,224,224");
ABSL_FLAG(bool, train, false, "forward in training and backward, rather than prediction");
ABSL_FLAG(int, threads, 2, "threads of loops and products");
ABSL_FLAG(int, warmup, 2, "passes before the program is ready");
ABSL_FLAG(std::vector<std::string>, disabled_passes, {}, "passes of the compiler to leave out");
ABSL_FLAG(bool, profile, false, "print a table of the operators that take longest to stderr");
ABSL_FLAG(bool, dump, false, "print the program to stderr");

namespace cooper {
namespace {

// Values of a size at which nothing overflows in a deep network: (0, 1) for what is read, small
// ones on both sides of 0 for weights, 1 for variances and scales.
absl::Status FillRandomly(const Executor& executor) {
  RandomGenerator random(1);
  for (const auto* arrays : {&executor.arg_dict(), &executor.aux_dict()}) {
    for (const auto& [name, array] : *arrays) {
      if (array.dtype() != DType::kFloat32) continue;
      COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, array.Data<float>());
      if (array.shape().rank() < 2) {
        const bool one = absl::StrContains(name, "gamma") || absl::StrContains(name, "var");
        for (float& value : values) value = one ? 1 : 0;
        continue;
      }
      const int64_t fan_in = array.size() / std::max<int64_t>(array.shape()[0], 1);
      const double scale = absl::StrContains(name, "weight") ? 2 / std::sqrt(fan_in) : 1;
      for (float& value : values) {
        value = static_cast<float>((random.NextUniform() - 0.5) * scale);
      }
    }
  }
  return absl::OkStatus();
}

absl::Status RunPasses(Executor& executor, int64_t passes) {
  const bool train = absl::GetFlag(FLAGS_train);
  for (int64_t i = 0; i < passes; ++i) {
    COOPER_RETURN_IF_ERROR(executor.Forward(train));
    if (train) COOPER_RETURN_IF_ERROR(executor.Backward());
  }
  return absl::OkStatus();
}

absl::StatusOr<nlohmann::json> TimePasses(Executor& executor, int64_t passes) {
  const auto begin = std::chrono::steady_clock::now();
  COOPER_RETURN_IF_ERROR(RunPasses(executor, passes));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return nlohmann::json{{"passes", passes}, {"elapsed_s", elapsed.count()}};
}

absl::Status Run() {
  SetNumThreads(absl::GetFlag(FLAGS_threads));
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, LoadSymbol(absl::GetFlag(FLAGS_symbol)));
  BindOptions options;
  COOPER_ASSIGN_OR_RETURN(options.shapes, ParseShapesFlag(absl::GetFlag(FLAGS_shapes)));
  options.grad_req = absl::GetFlag(FLAGS_train) ? WriteReq::kWrite : WriteReq::kNull;
  for (const auto& [name, shape] : options.shapes) options.grad_reqs[name] = WriteReq::kNull;
  for (const std::string& pass : absl::GetFlag(FLAGS_disabled_passes)) {
    options.disabled_passes.insert(pass);
  }
  COOPER_ASSIGN_OR_RETURN(const std::unique_ptr<Executor> executor,
                          Executor::SimpleBind(symbol, options));
  if (absl::GetFlag(FLAGS_dump)) std::cerr << executor->DebugString();
  COOPER_RETURN_IF_ERROR(FillRandomly(*executor));
  COOPER_RETURN_IF_ERROR(RunPasses(*executor, absl::GetFlag(FLAGS_warmup)));
  if (absl::GetFlag(FLAGS_profile)) {
    StartProfile();
    COOPER_RETURN_IF_ERROR(RunPasses(*executor, 10));
    std::cerr << ProfileTable(StopProfile(), GemmRate());
  }
  std::cout << nlohmann::json{{"ready", true},
                              {"peer", "cooper"},
                              {"planned_bytes", executor->memory().planned_bytes}}
            << std::endl;
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    int64_t passes = 0;
    if (words.size() != 2 || words[0] != "run" || !absl::SimpleAtoi(words[1], &passes)) {
      std::cout << nlohmann::json{{"error", absl::StrCat("expected run N, not ", line)}}
                << std::endl;
      continue;
    }
    COOPER_ASSIGN_OR_RETURN(const nlohmann::json answer, TimePasses(*executor, passes));
    std::cout << answer << std::endl;
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("times a network; see the head of networks.cc");
  absl::ParseCommandLine(argc, argv);
  if (const absl::Status status = cooper::Run(); !status.ok()) {
    std::cerr << status << "\n";
    return 1;
  }
  return 0;
}
