// Counts the cost of a training step of the bucketed language model on a GPU with the emulator
// (tests/cuda_emulator): the host's calls and waits; for each kernel its arithmetic, the
// global memory that it requests ("asked"), the part that passes the second-level cache ("memory";
// a cache of an H100's size, cold at first and flushed at the end), and the time by an H100's
// roofline; and the roofline of the least work of the step.
//
//   ./bazelw run --config=cuda_emulated //benchmarks:gpu_cost -- --length=60
//
// The default sizes are those of W1 (benchmarks/peers/README.md). The number of launches does not
// depend on them.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <map>
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
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "benchmarks/gpu_roofline.h"
#include "benchmarks/lm_batches.h"
#include "module/bucketing/bucketing_module.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_macros.h"
#include "tests/cuda_emulator/runtime/counters.h"
#include "tools/lm_train/language_model.h"
#include "tools/lm_train/model_flags.h"

ABSL_FLAG(int64_t, vocab, 10000, "ids, the padding among them");
ABSL_FLAG(int64_t, length, 60, "words of the sentences: the bucket");
ABSL_FLAG(int64_t, cache_mb, 50, "MB (2^20 bytes) of the second-level cache");

namespace cooper {
namespace {

using cuda_emulator::Costs;

absl::StatusOr<std::unique_ptr<BucketingModule>> MakeModel(int64_t length) {
  LanguageModelOptions options = ModelOptionsFromFlags();
  options.vocab = absl::GetFlag(FLAGS_vocab);
  COOPER_ASSIGN_OR_RETURN(SymGen sym_gen, MakeLanguageModel(options));
  COOPER_ASSIGN_OR_RETURN(
      auto model,
      BucketingModule::Create(
          {.sym_gen = std::move(sym_gen),
           .default_bucket_key = length,
           .compute = {.contexts = {Context::Gpu(0)},
                       .label_probabilities = absl::GetFlag(FLAGS_label_probabilities)}}));
  const Shape shape({absl::GetFlag(FLAGS_batch_size), length});
  COOPER_RETURN_IF_ERROR(
      model->Bind({.data_shapes = {{.name = "data", .shape = shape, .layout = "NT"}},
                   .label_shapes = {{.name = "softmax_label", .shape = shape, .layout = "NT"}}}));
  COOPER_RETURN_IF_ERROR(model->InitParams({.initializer = LanguageModelInitializer()}));
  COOPER_RETURN_IF_ERROR(model->InitOptimizer({.optimizer_params = {{"learning_rate", "0.1"}}}));
  return model;
}

// Returns "LstmCell" for "void cooper::(anonymous namespace)::LstmCell<float>(int, ...)", and
// shortens products to their shape without the name of the library's function.
std::string ShortName(absl::string_view name) {
  if (absl::StartsWith(name, "cublas")) {
    return absl::StrCat("product", name.substr(std::min(name.find(' '), name.size())));
  }
  const size_t anonymous = name.rfind("(anonymous namespace)::");
  if (anonymous != absl::string_view::npos) name.remove_prefix(anonymous + 23);
  return absl::StrCat(name.substr(0, name.find_first_of("<(")));
}

struct Row {
  std::string name;
  int64_t runs = 0;
  double asked_bytes = 0;
  GpuWork work;
  double seconds = 0;
};

// Returns one row per kernel name, the longest time first.
std::vector<Row> RowsOf(const Costs& costs) {
  std::map<std::string, Row> by_name;
  for (const auto& [name, cost] : costs.kernels) {
    Row& row = by_name[ShortName(name)];
    const auto& c = cost.counters;
    const GpuWork work = {.bytes = static_cast<double>(cost.memory_bytes),
                          .flops = static_cast<double>(c.flops)};
    row.runs += cost.runs;
    row.asked_bytes += 32 * static_cast<double>(c.global_read_sectors + c.global_written_sectors);
    row.work += work;
    row.seconds += RooflineSeconds(work);
  }
  std::vector<Row> rows;
  for (auto& [name, row] : by_name) {
    row.name = name;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.seconds > b.seconds; });
  return rows;
}

void PrintRow(const Row& row) {
  std::printf("%8lld %12.3f %12.3f %12.3f %10.1f  %s\n", static_cast<long long>(row.runs),
              row.asked_bytes / 1e6, row.work.bytes / 1e6, row.work.flops / 1e6, row.seconds * 1e6,
              row.name.c_str());
}

void PrintCounts(const char* what, const std::map<std::string, int64_t>& counts) {
  std::printf("%s:", what);
  for (const auto& [name, count] : counts) {
    std::printf(" %s %lld", name.c_str(), static_cast<long long>(count));
  }
  std::printf("%s\n", counts.empty() ? " none" : "");
}

// Prints the report. `left_bytes` is the data that the cache held and memory lacked at the end.
void Print(const Costs& costs, int64_t left_bytes, const GpuWork& least, int64_t length) {
  PrintCounts("put in by the host", costs.queued);
  PrintCounts("host synchronisations", costs.waits);
  std::printf("allocations: %lld\n", static_cast<long long>(costs.num_allocations()));
  Row all{.name = "all"};
  int64_t recurrent = 0;  // of kernels that run at least once for each time step
  std::printf("%8s %12s %12s %12s %10s  %s\n", "runs", "MB asked", "MB memory", "MFLOP", "us",
              "kernel");
  for (const Row& row : RowsOf(costs)) {
    PrintRow(row);
    all.runs += row.runs;
    all.asked_bytes += row.asked_bytes;
    all.work += row.work;
    all.seconds += row.seconds;
    if (row.runs >= length - 1) recurrent += row.runs;
  }
  // Adds transfers outside of kernels.
  const auto add_moved = [&all](Row row) {
    row.seconds = RooflineSeconds(row.work);
    PrintRow(row);
    all.asked_bytes += row.asked_bytes;
    all.work += row.work;
    all.seconds += row.seconds;
  };
  for (const auto& [direction, count] : costs.copies) {
    const auto bytes = static_cast<double>(count.memory_bytes);
    add_moved({.name = absl::StrCat("copies: ", direction),
               .runs = count.count,
               .asked_bytes = static_cast<double>(count.bytes),
               .work = {.bytes = bytes}});
  }
  add_moved({.name = "left in the cache", .work = {.bytes = static_cast<double>(left_bytes)}});
  PrintRow(all);
  PrintRow({.name = "the least: every array of an operator once",
            .work = least,
            .seconds = RooflineSeconds(least)});
  std::printf(
      "kernels outside of the recurrence: %lld; in it: %lld, %.2f for each layer and step\n",
      static_cast<long long>(all.runs - recurrent), static_cast<long long>(recurrent),
      static_cast<double>(recurrent) /
          static_cast<double>(length * ModelOptionsFromFlags().num_layers));
  std::printf("bytes: %.2f times the least, %.2f times asked for\n", all.work.bytes / least.bytes,
              all.asked_bytes / least.bytes);
}

absl::Status Run() {
  COOPER_RETURN_IF_ERROR(CheckModelFlags());
  COOPER_RETURN_IF_ERROR(ApplyComputeFlags());
  if (absl::GetFlag(FLAGS_cache_mb) < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("--cache_mb=", absl::GetFlag(FLAGS_cache_mb), ", expected at least 1"));
  }
  const int64_t length = absl::GetFlag(FLAGS_length);
  COOPER_ASSIGN_OR_RETURN(const auto model, MakeModel(length));
  COOPER_ASSIGN_OR_RETURN(const LmBatches batches,
                          MakeLmBatches({length}, 1, absl::GetFlag(FLAGS_batch_size),
                                        absl::GetFlag(FLAGS_vocab), absl::GetFlag(FLAGS_seed)));
  // Runs the steps that precede the recording, and records the step.
  for (int i = 0; i < 3; ++i) COOPER_RETURN_IF_ERROR(model->TrainStep(batches.batches[0]));
  cuda_emulator::CountTransactions(true);
  cuda_emulator::SimulateCache(absl::GetFlag(FLAGS_cache_mb) << 20);
  cuda_emulator::ResetCosts();
  COOPER_RETURN_IF_ERROR(model->TrainStep(batches.batches[0]));
  const int64_t left_bytes = cuda_emulator::FlushCache();
  const Costs costs = cuda_emulator::GetCosts();
  const auto& compiled = model->bucket(length)->executor_group()->compiled();
  GpuWork least = MinWork(compiled->program());
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, model->GetParams());
  // The update reads a weight and its gradient, and writes the weight.
  for (const auto& [name, array] : params.args) {
    least.bytes += 3 * static_cast<double>(array.size() * SizeOf(array.dtype()));
  }
  for (const auto& [name, cost] : costs.kernels) {
    if (absl::StartsWith(name, "cublas")) least.flops += static_cast<double>(cost.counters.flops);
  }
  Print(costs, left_bytes, least, length);
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("counts what a training step costs on a GPU");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = cooper::Run();
  if (status.ok()) return 0;
  std::cerr << "gpu_cost: " << status.message() << "\n";
  return 1;
}
