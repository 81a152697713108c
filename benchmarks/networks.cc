// Times networks of symbol files on random data: prediction, or with --train the forward and
// backward pass of a training step. Implements the protocol of benchmarks/peers/networks.py: prints
// {"ready": true}, then answers "run N" with {"elapsed_s": ...} of N passes, "bind FILE SHAPES
// train" (or "predict") with another {"ready": true} for another network, and "limit" with
// {"limit_s": ...}, the least time of a pass on this CPU (pass_limit.h).
//
//   networks --symbol=resnet18-symbol.json --shapes='data:4,3,224,224' --train <<< 'run 10'
//
// On a GPU: --config=cuda, networks_cuda and --context='gpu(0)'. The time of N passes includes
// waiting for the GPU.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
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
#include "absl/types/span.h"
#include "benchmarks/json_line.h"
#include "benchmarks/pass_limit.h"
#include "executor/executor.h"
#include "ndarray/array/device.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/parse_context.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/products/gemm_rate.h"
#include "ndarray/random/random.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/profile_report.h"
#include "ndarray/threads/profiler.h"
#include "nlohmann/json.hpp"
#include "symbol/json/json.h"
#include "tools/shapes_flag.h"

ABSL_FLAG(std::string, symbol, "", "a symbol file of MXNet's or cooper's; empty: wait for bind");
ABSL_FLAG(std::string, shapes, "", "shapes of inputs: data:4,3,224,224");
ABSL_FLAG(std::string, context, "cpu(0)", "where it runs: cpu(0), or gpu(0) with networks_cuda");
ABSL_FLAG(bool, train, false, "forward in training and backward, rather than prediction");
ABSL_FLAG(int, threads, 2, "threads of loops and products");
ABSL_FLAG(int, warmup, 2, "passes before the program is ready");
ABSL_FLAG(std::vector<std::string>, disabled_passes, {}, "passes of the compiler to leave out");
ABSL_FLAG(bool, profile, false, "print a table of the operators that take longest to stderr");
ABSL_FLAG(bool, dump, false, "print the program to stderr");

namespace cooper {
namespace {

// The upper bound of the indices in inputs whose names begin with "ids".
constexpr uint64_t kIds = 1000;

// Fills a row of an input "rois...": an image's index, 0, and the corners of a region.
void FillRegion(RandomGenerator& random, absl::Span<float> row) {
  row[0] = 0;
  for (int i = 1; i <= 2; ++i) {
    row[i] = static_cast<float>(random.NextUniform() * 400);
    row[i + 2] = row[i] + static_cast<float>(20 + random.NextUniform() * 200);
  }
}

// Fills a row of an input "boxes...": a class, 0, a score, and the corners.
void FillBox(RandomGenerator& random, absl::Span<float> row) {
  row[0] = 0;
  row[1] = static_cast<float>(random.NextUniform());
  for (int i = 2; i <= 3; ++i) {
    row[i] = static_cast<float>(random.NextUniform());
    row[i + 2] = row[i] + 0.05F;
  }
}

// Fills a row of an input "image_sizes...": height, width and scale.
void FillImageSize(RandomGenerator&, absl::Span<float> row) {
  row[0] = 600;
  row[1] = 800;
  row[2] = 1;
}

// Makes the matrices of an input "definite..." far from singular, both as triangles and as
// symmetric matrices.
void AddToDiagonals(int64_t order, absl::Span<float> values) {
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t in_matrix = static_cast<int64_t>(i) % (order * order);
    if (in_matrix % (order + 1) == 0) values[i] += static_cast<float>(order);
  }
}

// Fills an array with values that do not overflow in a deep network: (0, 1) for inputs, small
// values of both signs for weights, 1 for variances, scales and the greatest numbers of ranges.
void FillRandomly(const std::string& name, const Shape& shape, RandomGenerator& random,
                  absl::Span<float> values) {
  if (absl::StartsWith(name, "ids")) {
    for (float& value : values) value = static_cast<float>(random.NextBelow(kIds));
    return;
  }
  if (absl::StartsWith(name, "positive")) {
    for (float& value : values) value = static_cast<float>(random.NextUniform() + 0.5);
    return;
  }
  if (absl::StartsWith(name, "probabilities")) {
    const auto columns = static_cast<double>(shape[shape.rank() - 1]);
    for (float& value : values) value = static_cast<float>((random.NextUniform() + 0.5) / columns);
    return;
  }
  const auto fill_row = absl::StartsWith(name, "rois")          ? FillRegion
                        : absl::StartsWith(name, "boxes")       ? FillBox
                        : absl::StartsWith(name, "image_sizes") ? FillImageSize
                                                                : nullptr;
  if (fill_row != nullptr) {
    const auto columns = static_cast<size_t>(shape[shape.rank() - 1]);
    for (size_t i = 0; i + columns <= values.size(); i += columns) {
      fill_row(random, values.subspan(i, columns));
    }
    return;
  }
  if (shape.rank() < 2) {
    const bool one = absl::StrContains(name, "gamma") || absl::StrContains(name, "var") ||
                     absl::StrContains(name, "max");
    absl::c_fill(values, one ? 1 : 0);
    return;
  }
  const auto fan_in = static_cast<int64_t>(values.size()) / std::max<int64_t>(shape[0], 1);
  const double scale = absl::StrContains(name, "weight") ? 2 / std::sqrt(fan_in) : 1;
  for (float& value : values) {
    value = static_cast<float>((random.NextUniform() - 0.5) * scale);
  }
  if (absl::StartsWith(name, "definite")) AddToDiagonals(shape[shape.rank() - 1], values);
}

// Fills an array of integers with 1 to 100.
template <typename T>
absl::Status FillIntegers(RandomGenerator& random, const NDArray& array) {
  COOPER_ASSIGN_OR_RETURN(const absl::Span<T> values, array.Data<T>());
  for (T& value : values) value = static_cast<T>(1 + random.NextBelow(100));
  return absl::OkStatus();
}

absl::Status FillRandomly(const Executor& executor) {
  RandomGenerator random(1);
  for (const auto* arrays : {&executor.arg_dict(), &executor.aux_dict()}) {
    for (const auto& [name, array] : *arrays) {
      const auto fill = array.dtype() == DType::kInt32   ? FillIntegers<int32_t>
                        : array.dtype() == DType::kInt8  ? FillIntegers<int8_t>
                        : array.dtype() == DType::kUint8 ? FillIntegers<uint8_t>
                                                         : nullptr;
      if (fill != nullptr) COOPER_RETURN_IF_ERROR(fill(random, array));
      if (array.dtype() != DType::kFloat32) continue;
      // In place on a CPU, since a copy of the largest array would raise the peak memory.
      NDArray drawn = array;
      if (!array.context().is_cpu()) {
        COOPER_ASSIGN_OR_RETURN(drawn, NDArray::Empty(array.shape(), DType::kFloat32));
      }
      COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, drawn.Data<float>());
      FillRandomly(name, array.shape(), random, values);
      if (array.context().is_cpu()) continue;
      COOPER_RETURN_IF_ERROR(array.CopyFrom(drawn));
    }
  }
  return absl::OkStatus();
}

// A bound network and its head gradients: ones, which losses ignore.
struct Bound {
  std::unique_ptr<Executor> executor;
  std::vector<NDArray> heads;
  bool train = false;
  DeviceQueue* queue = nullptr;

  // Runs the passes and waits until they are done.
  absl::Status Run(int64_t passes) const {
    for (int64_t i = 0; i < passes; ++i) {
      COOPER_RETURN_IF_ERROR(executor->Forward(train));
      if (train) COOPER_RETURN_IF_ERROR(executor->Backward(heads));
    }
    return queue->Synchronize();
  }
};

// Binds the network again, with everything but its inputs as constants, as a Predictor does.
absl::StatusOr<std::unique_ptr<Executor>> WithConstants(const Executor& executor,
                                                        BindOptions options) {
  for (const auto& [name, array] : executor.arg_dict()) {
    options.args[name] = array;
    if (!options.shapes.contains(name)) options.constants.insert(name);
  }
  for (const auto& [name, array] : executor.aux_dict()) {
    options.auxs[name] = array;
    options.constants.insert(name);
  }
  return Executor::SimpleBind(executor.symbol(), options);
}

absl::StatusOr<Bound> BindNetwork(const std::string& path, const std::string& shapes, bool train) {
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, LoadSymbol(path));
  BindOptions options;
  COOPER_ASSIGN_OR_RETURN(options.context, ParseContext(absl::GetFlag(FLAGS_context)));
  COOPER_ASSIGN_OR_RETURN(options.shapes, ParseShapesFlag(shapes));
  options.grad_req = train ? WriteReq::kWrite : WriteReq::kNull;
  // The data input of a network needs no gradient; a single operator's does, since that is the only
  // one to time.
  for (const auto& [name, shape] : options.shapes) {
    const bool data = name == "data" && symbol.ListInputs().size() > 1;
    if (data || absl::StartsWith(name, "ids") || absl::StartsWith(name, "rois")) {
      options.grad_reqs[name] = WriteReq::kNull;
    }
  }
  for (const std::string& pass : absl::GetFlag(FLAGS_disabled_passes)) {
    options.disabled_passes.insert(pass);
  }
  Bound bound{.train = train};
  COOPER_ASSIGN_OR_RETURN(bound.queue, GetQueue(options.context));
  COOPER_ASSIGN_OR_RETURN(bound.executor, Executor::SimpleBind(symbol, options));
  COOPER_RETURN_IF_ERROR(FillRandomly(*bound.executor));
  if (!train) {
    COOPER_ASSIGN_OR_RETURN(bound.executor, WithConstants(*bound.executor, options));
  }
  if (absl::GetFlag(FLAGS_dump)) std::cerr << bound.executor->DebugString();
  for (const Shape& shape : bound.executor->output_shapes()) {
    COOPER_ASSIGN_OR_RETURN(bound.heads.emplace_back(),
                            NDArray::Full(shape, 1, DType::kFloat32, options.context));
  }
  COOPER_RETURN_IF_ERROR(bound.Run(absl::GetFlag(FLAGS_warmup)));
  return bound;
}

absl::StatusOr<nlohmann::json> TimePasses(const Bound& bound, int64_t passes) {
  const auto begin = std::chrono::steady_clock::now();
  COOPER_RETURN_IF_ERROR(bound.Run(passes));
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  return nlohmann::json{{"passes", passes}, {"elapsed_s", elapsed.count()}};
}

absl::StatusOr<nlohmann::json> Answer(const std::vector<std::string>& words, Bound& bound) {
  int64_t passes = 0;
  if (words.size() == 2 && words[0] == "run" && absl::SimpleAtoi(words[1], &passes)) {
    if (bound.executor == nullptr) return absl::FailedPreconditionError("nothing is bound");
    return TimePasses(bound, passes);
  }
  if (words.size() == 4 && words[0] == "bind") {
    bound = {};
    COOPER_ASSIGN_OR_RETURN(bound, BindNetwork(words[1], words[2], words[3] == "train"));
    return nlohmann::json{{"ready", true}};
  }
  if (words.size() == 1 && words[0] == "limit") {
    if (bound.executor == nullptr) return absl::FailedPreconditionError("nothing is bound");
    const PassLimit limit = MeasurePassLimit(*bound.executor);
    return nlohmann::json{{"limit_s", std::max(limit.copy_s, limit.products_s)}};
  }
  return absl::InvalidArgumentError("expected 'run N', 'bind FILE SHAPES train' or 'limit'");
}

absl::Status Run() {
  SetNumThreads(absl::GetFlag(FLAGS_threads));
  Bound bound;
  nlohmann::json ready = {{"ready", true}, {"peer", "cooper"}};
  if (const std::string path = absl::GetFlag(FLAGS_symbol); !path.empty()) {
    COOPER_ASSIGN_OR_RETURN(
        bound, BindNetwork(path, absl::GetFlag(FLAGS_shapes), absl::GetFlag(FLAGS_train)));
    ready["planned_bytes"] = bound.executor->memory().planned_bytes;
  }
  if (absl::GetFlag(FLAGS_profile) && bound.executor != nullptr) {
    StartProfile();
    COOPER_RETURN_IF_ERROR(bound.Run(10));
    std::cerr << ProfileTable(StopProfile(), GemmRate());
  }
  PrintLine(ready);
  for (std::string line; std::getline(std::cin, line) && line != "quit";) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    const absl::StatusOr<nlohmann::json> answer = Answer(words, bound);
    PrintLine(answer.ok() ? *answer : nlohmann::json{{"error", answer.status().ToString()}});
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
