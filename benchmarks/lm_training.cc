// Times training steps of the bucketed language model and prints one line of JSON: tokens per
// second, ms per step, bind time and planned bytes by bucket, heap allocations per step, peak
// memory, and on CPUs the share of the time that the matrix products alone need. With
// --profile=FILE it runs further passes and prints their profile on standard error. With --serve it
// answers commands instead (benchmarks/peers/protocol.md); then --gemm_only runs only the matrix
// products of the steps, and --corpus=TEXT epochs over a text.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "benchmarks/gemm_limit.h"
#include "benchmarks/heap_counter.h"
#include "benchmarks/json_line.h"
#include "benchmarks/lm_batches.h"
#include "benchmarks/lm_epochs.h"
#include "examples/transformer/transformer.h"
#include "io/batch/bucket_key.h"
#include "module/bucketing/bucketing_module.h"
#include "module/parameters/batch_transaction.h"
#include "module/predict/predictor.h"
#include "ndarray/array/device.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/context.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"
#include "ndarray/threads/profiler.h"
#include "nlohmann/json.hpp"
#include "symbol/graph/symbol.h"
#include "symbol/op/operators.h"
#include "symbol/op/reduce.h"
#include "symbol/op/shape.h"
#include "tools/lm_train/language_model.h"
#include "tools/lm_train/model_flags.h"
#include "tools/lm_train/profile_flags.h"

ABSL_FLAG(int64_t, vocab, 10000, "ids, the padding among them");
ABSL_FLAG(int64_t, batches, 0, "steps of a pass; 0: one per bucket");
ABSL_FLAG(int, warmup, 2, "passes before the timing");
ABSL_FLAG(int, repeat, 5, "passes that are timed");
ABSL_FLAG(bool, forward_only, false, "time the forward pass alone");
ABSL_FLAG(bool, predictor, false, "with --forward_only: by a Predictor, not by the module");
ABSL_FLAG(bool, transformer, false,
          "the causal blocks of examples/transformer, with heads of 64 features, in place of "
          "recurrent layers; needs --use_ignore");
ABSL_FLAG(bool, check_finite, false, "look at the gradients of each step as Fit does");
ABSL_FLAG(
    bool, wait_for_steps, true,
    "on GPUs: a step ends when the GPU has done it; false: when it is in the GPU's queue, and "
    "the last one of the passes as before");
ABSL_FLAG(bool, serve, false, "answer commands on standard input");
ABSL_FLAG(bool, gemm_only, false, "time the matrix products alone; needs --serve");
ABSL_FLAG(std::string, corpus, "",
          "train on this text, a sentence a line, and not on generated batches; needs --serve");
ABSL_FLAG(std::string, valid, "", "validate with this text after each epoch; needs --corpus");
ABSL_FLAG(int64_t, max_sentences, -1, "read so many of the corpus; negative: all");

namespace cooper {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Returns a field of /proc/self/status such as VmHWM, in units of 2^20 bytes.
double StatusMegabytes(const std::string& field) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    int64_t kilobytes = 0;
    if (absl::StartsWith(line, field + ":") &&
        std::sscanf(line.c_str() + field.size() + 1, "%ld", &kilobytes) == 1) {
      return static_cast<double>(kilobytes) / 1024;
    }
  }
  return 0;
}

// Returns the Transformer for batches without lengths whose rows are sentences. Its output is step
// by step: row t * batch_size + n belongs to word t of sentence n.
absl::StatusOr<BucketSymbol> GenerateTransformer(const BucketKey& key, int64_t longest,
                                                 const LanguageModelOptions& model) {
  COOPER_ASSIGN_OR_RETURN(BucketSymbol network,
                          TransformerLanguageModel(key, {.num_ids = model.vocab,
                                                         .width = model.num_hidden,
                                                         .layers = model.num_layers,
                                                         .heads = model.num_hidden / 64,
                                                         .max_length = longest}));
  const Symbol data = Symbol::Variable("data");
  COOPER_ASSIGN_OR_RETURN(
      network.symbol, network.symbol.Compose(
                          {{"data", op::transpose(data)},
                           {"length", op::sum(data != 0, {.axis = {1}})},
                           {"softmax_label", op::transpose(Symbol::Variable("softmax_label"))}}));
  network.data_names = {"data"};
  return network;
}

struct PassTimes {
  double seconds = 0;
  std::map<int64_t, double> seconds_by_bucket;
  std::map<int64_t, int64_t> steps_by_bucket;
  int64_t allocations = 0;
  int64_t steps = 0;
};

class LmBenchmark {
 public:
  static absl::StatusOr<std::unique_ptr<LmBenchmark>> Create() {
    COOPER_RETURN_IF_ERROR(CheckModelFlags());
    COOPER_RETURN_IF_ERROR(CheckProfileFlags());
    if (ProfileIsAsked() && absl::GetFlag(FLAGS_serve)) {
      return absl::InvalidArgumentError("--profile does not go with --serve");
    }
    COOPER_RETURN_IF_ERROR(CheckServedFlags());
    auto benchmark = std::make_unique<LmBenchmark>();
    COOPER_RETURN_IF_ERROR(benchmark->Init());
    return benchmark;
  }

  absl::Status RunPasses(int passes, PassTimes* times) {
    const auto start = Clock::now();
    for (int pass = 0; pass < passes; ++pass) {
      for (const DataBatch& batch : data_.batches) {
        const int64_t allocations = HeapAllocations();
        const auto step = Clock::now();
        COOPER_RETURN_IF_ERROR(Step(batch));
        if (absl::GetFlag(FLAGS_wait_for_steps)) COOPER_RETURN_IF_ERROR(WaitForGpus());
        const int64_t bucket = batch.bucket_key->int_value();
        const double seconds = SecondsSince(step);
        const int64_t allocated = HeapAllocations() - allocations;
        times->seconds_by_bucket[bucket] += seconds;
        ++times->steps_by_bucket[bucket];
        times->allocations += allocated;
        ++times->steps;
      }
    }
    COOPER_RETURN_IF_ERROR(WaitForGpus());
    times->seconds = SecondsSince(start);
    return absl::OkStatus();
  }

  // Runs the command "run": passes over the batches, or epochs over the text.
  absl::StatusOr<Json> RunCommand(int passes) {
    if (epochs_ != nullptr) {
      COOPER_ASSIGN_OR_RETURN(const EpochTimes times, epochs_->Run(*model_, passes));
      return EpochReport(times, passes);
    }
    PassTimes times;
    COOPER_RETURN_IF_ERROR(RunPasses(passes, &times));
    return RunReport(times, passes);
  }

  // Touches all memory. With a text it does not update, so that parameters keep their initial
  // values.
  absl::Status WarmUp(int passes, PassTimes* times) {
    if (epochs_ == nullptr) return RunPasses(passes, times);
    const auto start = Clock::now();
    for (const DataBatch& batch : data_.batches) {
      COOPER_RETURN_IF_ERROR(model_->ForwardBackward(batch));
    }
    times->seconds = SecondsSince(start);
    return absl::OkStatus();
  }

  // Records additional passes, with at least --profile_batches steps in all; timed passes are not
  // recorded.
  absl::StatusOr<std::string> RunProfile() {
    const int64_t steps = std::max<int64_t>(1, data_.batches.size());
    PassTimes times;
    StartProfile();
    COOPER_RETURN_IF_ERROR(
        RunPasses(static_cast<int>((ProfileBatches() + steps - 1) / steps), &times));
    return FinishProfile(rank(), num_contexts_);
  }

  Json Ready(double warmup_seconds) const {
    Json ready = {{"ready", true},
                  {"peer", absl::StrCat("cooper-", limit_ ? "gemm" : model_options_.cell)},
                  {"version", "0.1.0"},
                  {"gemm", GemmLibrary()},
                  {"gemm_precision", absl::GetFlag(FLAGS_gemm_precision)},
                  {"compiler", __VERSION__},
                  {"threads", NumThreads()},
                  {"contexts", num_contexts_},
                  {"on_gpus", !gpus_.empty()},
                  {"bind_s", bind_seconds_},
                  {"warmup_s", warmup_seconds},
                  {"rss_after_import_mb", rss_at_start_},
                  {"rss_peak_mb", StatusMegabytes("VmHWM")}};
    if (model_ == nullptr) return ready;
    ready["parameters"] = model_->group()->parameters().num_elements();
    ready["vocab"] = model_options_.vocab;
    return ready;
  }

  Json RunReport(const PassTimes& times, int passes) const {
    Json ms = Json::object();
    for (const auto& [bucket, seconds] : times.seconds_by_bucket) {
      ms[absl::StrCat(bucket)] =
          1e3 * seconds / static_cast<double>(times.steps_by_bucket.at(bucket));
    }
    Json report = {
        {"passes", passes},
        {"elapsed_s", times.seconds},
        {"padded_tokens_per_s", passes * static_cast<double>(data_.padded_tokens) / times.seconds},
        {"tokens_per_s", passes * static_cast<double>(data_.real_tokens) / times.seconds},
        {"ms_per_step_by_bucket", ms},
        {"rss_peak_mb", StatusMegabytes("VmHWM")}};
    if (model_ != nullptr) report["nll_per_token"] = NllOfLastStep();
    return report;
  }

  static Json EpochReport(const EpochTimes& times, int epochs) {
    return {{"passes", epochs},
            {"elapsed_s", times.seconds},
            {"input_s", times.input_seconds},
            {"padded_tokens_per_s", static_cast<double>(times.padded_tokens) / times.seconds},
            {"tokens_per_s", static_cast<double>(times.tokens) / times.seconds},
            {"tokens", times.tokens},
            {"perplexity_by_epoch", times.perplexity},
            {"valid_perplexity_by_epoch", times.valid_perplexity},
            {"nll_per_token", std::log(times.perplexity.back())},
            {"rss_peak_mb", StatusMegabytes("VmHWM")}};
  }

  // Returns the full report of one run, including the share of the products.
  absl::StatusOr<Json> FullReport(const PassTimes& times, int passes) const {
    Json report = RunReport(times, passes);
    Json bind = Json::object();
    Json planned = Json::object();
    int64_t largest_bound = 0;
    for (const BucketReport& bucket : model_->Report()) {
      bind[bucket.key.ToString()] = 1e3 * bucket.bind_seconds;
      planned[bucket.key.ToString()] = bucket.memory.planned_bytes;
      largest_bound = std::max(largest_bound, bucket.memory.lower_bound);
    }
    report["bind_ms_by_bucket"] = bind;
    report["planned_bytes_by_bucket"] = planned;
    report["arena_bytes"] = model_->group()->arena_bytes();
    report["lower_bound_bytes"] = largest_bound;
    report["allocations_per_step"] =
        static_cast<double>(times.allocations) / static_cast<double>(times.steps);
    if (gpus_.empty() && !absl::GetFlag(FLAGS_transformer)) {
      double limit = 0;
      GemmLimit products = MakeLimit();
      for (const DataBatch& batch : data_.batches) {
        limit += products.Seconds(batch.bucket_key->int_value(), 3);
      }
      report["gemm_limit_tokens_per_s"] = static_cast<double>(data_.padded_tokens) / limit;
      report["fraction_of_gemm_limit"] = passes * limit / times.seconds;
    }
    report["threads"] = NumThreads();
    report["contexts"] = num_contexts_;
    report["on_gpus"] = !gpus_.empty();
    const auto store = model_->kvstore();
    report["processes"] = store == nullptr ? 1 : store->num_workers();
    report["rank"] = rank();
    report["gemm"] = GemmLibrary();
    report["gemm_precision"] = absl::GetFlag(FLAGS_gemm_precision);
    return report;
  }

 private:
  static absl::Status CheckServedFlags() {
    const bool corpus = !absl::GetFlag(FLAGS_corpus).empty();
    const bool gemm_only = absl::GetFlag(FLAGS_gemm_only);
    if ((corpus || gemm_only) && !absl::GetFlag(FLAGS_serve)) {
      return absl::InvalidArgumentError(
          absl::StrCat(corpus ? "--corpus" : "--gemm_only", " needs --serve"));
    }
    if (!corpus && !absl::GetFlag(FLAGS_valid).empty()) {
      return absl::InvalidArgumentError("--valid needs --corpus");
    }
    if (absl::GetFlag(FLAGS_predictor) && !absl::GetFlag(FLAGS_forward_only)) {
      return absl::InvalidArgumentError("--predictor needs --forward_only");
    }
    if (absl::GetFlag(FLAGS_transformer)) {
      const int width = absl::GetFlag(FLAGS_num_hidden);
      if (width % 64 != 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("--num_hidden=", width, ": --transformer expects a multiple of 64"));
      }
      if (corpus || gemm_only || !absl::GetFlag(FLAGS_use_ignore)) {
        return absl::InvalidArgumentError(
            "--transformer needs --use_ignore and goes neither with --corpus nor with --gemm_only");
      }
    }
    if (corpus && (gemm_only || absl::GetFlag(FLAGS_forward_only))) {
      return absl::InvalidArgumentError(
          absl::StrCat("--corpus does not go with --", gemm_only ? "gemm_only" : "forward_only"));
    }
    return absl::OkStatus();
  }

  int rank() const {
    const auto store = model_->kvstore();
    return store == nullptr ? 0 : store->rank();
  }

  GemmLimit MakeLimit() const {
    int64_t longest = 0;
    for (const DataBatch& batch : data_.batches) {
      longest = std::max(longest, batch.bucket_key->int_value());
    }
    return GemmLimit(model_options_, absl::GetFlag(FLAGS_batch_size), longest,
                     absl::GetFlag(FLAGS_forward_only));
  }

  absl::Status Init() {
    rss_at_start_ = StatusMegabytes("VmRSS");
    COOPER_ASSIGN_OR_RETURN(const BucketFlags bucket_flags, BucketsFromFlags());
    std::vector<int64_t> buckets = bucket_flags.lengths;
    if (buckets.empty() && absl::GetFlag(FLAGS_corpus).empty()) {
      return absl::InvalidArgumentError(absl::StrCat("--buckets=", absl::GetFlag(FLAGS_buckets),
                                                     " needs --corpus: give lengths"));
    }
    model_options_ = ModelOptionsFromFlags();
    model_options_.vocab = absl::GetFlag(FLAGS_vocab);
    if (!absl::GetFlag(FLAGS_corpus).empty()) {
      COOPER_ASSIGN_OR_RETURN(epochs_,
                              LmEpochs::Create({.train_path = absl::GetFlag(FLAGS_corpus),
                                                .valid_path = absl::GetFlag(FLAGS_valid),
                                                .max_sentences = absl::GetFlag(FLAGS_max_sentences),
                                                .buckets = buckets,
                                                .max_buckets = bucket_flags.max_buckets,
                                                .bucket_cost = bucket_flags.bucket_cost,
                                                .max_length = bucket_flags.max_length,
                                                .batch_size = absl::GetFlag(FLAGS_batch_size),
                                                .seed = absl::GetFlag(FLAGS_seed)}));
      model_options_.vocab = epochs_->vocab();
      model_options_.use_ignore = true;
      buckets = epochs_->buckets();
    }
    const int64_t batches = absl::GetFlag(FLAGS_batches);
    COOPER_ASSIGN_OR_RETURN(SymGen sym_gen, MakeLanguageModel(model_options_));
    if (absl::GetFlag(FLAGS_transformer)) {
      model_options_.cell = "transformer";
      sym_gen = [model = model_options_, longest = buckets.back()](const BucketKey& key) {
        return GenerateTransformer(key, longest, model);
      };
    }
    COOPER_ASSIGN_OR_RETURN(
        data_, MakeLmBatches(buckets, batches > 0 ? batches : static_cast<int64_t>(buckets.size()),
                             absl::GetFlag(FLAGS_batch_size), model_options_.vocab,
                             absl::GetFlag(FLAGS_seed)));
    if (absl::GetFlag(FLAGS_gemm_only)) {
      limit_.emplace(MakeLimit());
      return absl::OkStatus();
    }
    COOPER_ASSIGN_OR_RETURN(std::set<std::string> disabled_passes, DisabledPassesFromFlags());
    COOPER_ASSIGN_OR_RETURN(std::vector<Context> contexts, ContextsFromFlags());
    num_contexts_ = static_cast<int>(contexts.size());
    for (const Context& context : contexts) {
      if (context.device_type != DeviceType::kGpu) continue;
      COOPER_ASSIGN_OR_RETURN(DeviceQueue * queue, GetQueue(context));
      gpus_.push_back(queue);
    }
    const auto start = Clock::now();
    COOPER_ASSIGN_OR_RETURN(
        model_,
        BucketingModule::Create(
            {.sym_gen = sym_gen,
             .default_bucket_key = buckets.back(),
             .compute = {.contexts = std::move(contexts),
                         .disabled_passes = std::move(disabled_passes),
                         .label_probabilities = absl::GetFlag(FLAGS_label_probabilities)}}));
    COOPER_RETURN_IF_ERROR(Bind(buckets));
    if (absl::GetFlag(FLAGS_predictor)) COOPER_RETURN_IF_ERROR(MakePredictor(sym_gen));
    bind_seconds_ = SecondsSince(start);
    return absl::OkStatus();
  }

  absl::Status Bind(const std::vector<int64_t>& buckets) {
    const int64_t batch_size = absl::GetFlag(FLAGS_batch_size);
    std::vector<BucketShapes> shapes;
    for (int64_t bucket : buckets) {
      const Shape shape({batch_size, bucket});
      shapes.push_back(
          {.key = bucket,
           .data_shapes = {{.name = "data", .shape = shape, .layout = "NT"}},
           .label_shapes = {{.name = "softmax_label", .shape = shape, .layout = "NT"}}});
    }
    COOPER_RETURN_IF_ERROR(model_->Bind({.data_shapes = shapes.back().data_shapes,
                                         .label_shapes = shapes.back().label_shapes,
                                         .for_training = !absl::GetFlag(FLAGS_forward_only)}));
    COOPER_RETURN_IF_ERROR(model_->InitParams(
        {.initializer = LanguageModelInitializer(), .seed = absl::GetFlag(FLAGS_seed)}));
    InitOptimizerOptions optimizer;
    COOPER_ASSIGN_OR_RETURN(optimizer, OptimizerFromFlags());
    if (absl::GetFlag(FLAGS_serve)) {
      // All peers use plain SGD; compare.py sets the learning rate.
      optimizer.optimizer = "sgd";
    }
    COOPER_RETURN_IF_ERROR(model_->InitOptimizer(optimizer));
    return model_->PrepareAll(shapes).status();
  }

  absl::Status MakePredictor(const SymGen& sym_gen) {
    COOPER_ASSIGN_OR_RETURN(const ModuleParams params, model_->GetParams());
    const auto network = [sym_gen](const BucketKey& key) -> absl::StatusOr<Symbol> {
      COOPER_ASSIGN_OR_RETURN(const BucketSymbol result, sym_gen(key));
      return result.symbol;
    };
    COOPER_ASSIGN_OR_RETURN(predictor_, Predictor::Create(network, params.args, params.auxs));
    return absl::OkStatus();
  }

  absl::Status Step(const DataBatch& batch) {
    last_ = &batch;
    if (limit_) {
      limit_->Run(batch.bucket_key->int_value());
      return absl::OkStatus();
    }
    if (predictor_ != nullptr) {
      COOPER_ASSIGN_OR_RETURN(predictions_,
                              predictor_->Predict(*batch.bucket_key, {{"data", batch.data[0]}}));
      return absl::OkStatus();
    }
    if (absl::GetFlag(FLAGS_forward_only)) return model_->Forward(batch, /*is_train=*/false);
    if (!absl::GetFlag(FLAGS_check_finite)) return model_->TrainStep(batch);
    COOPER_RETURN_IF_ERROR(transaction_.Begin(model_->learners()));
    return model_->TrainStep(batch, {.check_finite = true});
  }

  absl::Status WaitForGpus() const {
    for (DeviceQueue* gpu : gpus_) COOPER_RETURN_IF_ERROR(gpu->Synchronize());
    return absl::OkStatus();
  }

  double NllOfLastStep() const {
    absl::StatusOr<absl::Span<const NDArray>> outputs = absl::MakeConstSpan(predictions_);
    if (predictor_ == nullptr) outputs = model_->GetOutputs();
    if (last_ == nullptr || !outputs.ok()) return NAN;
    const absl::StatusOr<NDArray> on_cpu = OnCpu((*outputs)[0]);
    if (!on_cpu.ok()) return NAN;
    auto prob = on_cpu->Data<float>();
    auto label = last_->label[0].Data<float>();
    if (!prob.ok() || !label.ok()) return NAN;
    double sum = 0;
    int64_t counted = 0;
    // The output has the probabilities of all words at each position, or only that of the label.
    const size_t words = prob->size() / label->size();
    const size_t length = last_->bucket_key->int_value(), rows = label->size() / length;
    for (size_t i = 0; i < label->size(); ++i) {
      const size_t row = absl::GetFlag(FLAGS_transformer) ? i % length * rows + i / length : i;
      if (model_options_.use_ignore && (*label)[i] == 0) continue;
      const double p = (*prob)[words == 1 ? row : row * words + static_cast<size_t>((*label)[i])];
      sum -= std::log(std::max(p, 1e-30));
      ++counted;
    }
    return counted == 0 ? NAN : sum / static_cast<double>(counted);
  }

  LanguageModelOptions model_options_;
  LmBatches data_;
  std::unique_ptr<LmEpochs> epochs_;            // with --corpus
  std::optional<GemmLimit> limit_;              // with --gemm_only
  std::unique_ptr<BucketingModule> model_;      // without
  std::unique_ptr<const Predictor> predictor_;  // with --predictor
  std::vector<NDArray> predictions_;
  const DataBatch* last_ = nullptr;
  BatchTransaction transaction_;  // with --check_finite
  int num_contexts_ = 1;
  std::vector<DeviceQueue*> gpus_;  // of the contexts that are GPUs
  double bind_seconds_ = 0;
  double rss_at_start_ = 0;
};

absl::Status Serve(LmBenchmark& benchmark, double warmup_seconds) {
  PrintLine(benchmark.Ready(warmup_seconds));
  std::string line;
  while (std::getline(std::cin, line) && line != "quit") {
    int passes = 0;
    absl::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, "run ") || !absl::SimpleAtoi(rest, &passes) || passes < 1) {
      PrintLine({{"error", absl::StrCat("expected 'run N' or 'quit', got '", line, "'")}});
      continue;
    }
    COOPER_ASSIGN_OR_RETURN(const Json report, benchmark.RunCommand(passes));
    PrintLine(report);
  }
  return absl::OkStatus();
}

absl::Status Main() {
  COOPER_RETURN_IF_ERROR(ApplyComputeFlags());
  COOPER_ASSIGN_OR_RETURN(const auto benchmark, LmBenchmark::Create());
  PassTimes warmup;
  COOPER_RETURN_IF_ERROR(benchmark->WarmUp(std::max(1, absl::GetFlag(FLAGS_warmup)), &warmup));
  if (absl::GetFlag(FLAGS_serve)) return Serve(*benchmark, warmup.seconds);
  PassTimes times;
  const int passes = std::max(1, absl::GetFlag(FLAGS_repeat));
  COOPER_RETURN_IF_ERROR(benchmark->RunPasses(passes, &times));
  COOPER_ASSIGN_OR_RETURN(const Json report, benchmark->FullReport(times, passes));
  PrintLine(report);
  if (!ProfileIsAsked()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const std::string profile, benchmark->RunProfile());
  std::cerr << profile;
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("times training steps of the bucketed language model");
  absl::SetFlag(&FLAGS_buckets, "10,20,30,40,50,60");  // the default of this program
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = cooper::Main();
  if (status.ok()) return 0;
  std::cerr << "lm_training: " << status.message() << std::endl;
  return 1;
}
