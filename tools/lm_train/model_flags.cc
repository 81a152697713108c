#include "tools/lm_train/model_flags.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/flags/flag.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "executor/executor.h"
#include "module/optimizer/create_optimizer.h"
#include "ndarray/base/parse_context.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/products/gemm.h"
#include "ndarray/threads/parallel.h"

ABSL_FLAG(std::string, buckets, "auto",
          "sentence lengths to pad to, such as 10,20,30; auto: the max_buckets lengths that leave "
          "the least padding; mxnet: every length of at least batch_size sentences");
ABSL_FLAG(int, max_buckets, 10, "of --buckets=auto: so many at most");
ABSL_FLAG(double, bucket_cost, 0, "of --buckets=auto: padded tokens that each bucket has to save");
ABSL_FLAG(int64_t, max_length, 60,
          "of --buckets=auto: sentences with more words are left out; 0: none");
ABSL_FLAG(int, num_layers, 2, "recurrent layers");
ABSL_FLAG(int, num_hidden, 200, "features of each recurrent layer");
ABSL_FLAG(int, num_embed, 200, "features of the embedding");
ABSL_FLAG(int, batch_size, 32, "sentences in a batch, of each process");
ABSL_FLAG(std::string, cell, "lstm",
          "lstm, gru or rnn, unrolled; foreach: LSTM in a loop; fused, fused_gru or fused_rnn: the "
          "RNN operator");
ABSL_FLAG(bool, bidirectional, false,
          "layers that run from both ends; they see the word that they predict");
ABSL_FLAG(bool, use_ignore, false, "padding adds nothing to loss and gradient");
ABSL_FLAG(std::string, optimizer, "adam", "by name: sgd, adam, adagrad, rmsprop, ...");
ABSL_FLAG(double, lr, 0.005, "learning rate");
ABSL_FLAG(double, mom, 0.0, "momentum, for optimizers that have one");
ABSL_FLAG(double, wd, 1e-5, "weight decay");
ABSL_FLAG(uint64_t, seed, 1, "of initial values, order of batches and generated data");
ABSL_FLAG(int, threads, 0, "threads to compute with; 0: one per core");
ABSL_FLAG(std::string, gemm_precision, "float32",
          "float32, or bfloat16: large matrix products of rounded factors, where the processor has "
          "instructions for them");
ABSL_FLAG(int, contexts, 1, "CPU contexts that share each batch, and the threads");
ABSL_FLAG(std::string, context, "",
          "what to train on, instead of CPU contexts: gpu(0), or gpu(0),gpu(1), which share each "
          "batch");
ABSL_FLAG(std::string, kvstore, "local", "what sums gradients over contexts and processes");

ABSL_FLAG(std::string, disable_passes, "",
          "passes to leave out, by name and separated by commas (docs/passes.md); all: every one");
ABSL_FLAG(bool, label_probabilities, false,
          "the classifier gives the label's probability alone: less memory, the same training");

namespace cooper {

LanguageModelOptions ModelOptionsFromFlags() {
  return {.num_embed = absl::GetFlag(FLAGS_num_embed),
          .num_hidden = absl::GetFlag(FLAGS_num_hidden),
          .num_layers = absl::GetFlag(FLAGS_num_layers),
          .cell = absl::GetFlag(FLAGS_cell),
          .bidirectional = absl::GetFlag(FLAGS_bidirectional),
          .use_ignore = absl::GetFlag(FLAGS_use_ignore)};
}

absl::StatusOr<InitOptimizerOptions> OptimizerFromFlags() {
  InitOptimizerOptions options;
  options.kvstore = absl::GetFlag(FLAGS_kvstore);
  options.optimizer = absl::GetFlag(FLAGS_optimizer);
  options.optimizer_params = {{"learning_rate", absl::GetFlag(FLAGS_lr)},
                              {"wd", absl::GetFlag(FLAGS_wd)}};
  const double momentum = absl::GetFlag(FLAGS_mom);
  // Optimizers without momentum reject the argument.
  if (momentum != 0) options.optimizer_params["momentum"] = momentum;
  return options;
}

absl::StatusOr<std::set<std::string>> DisabledPassesFromFlags() {
  const std::vector<std::string> known = PassNames();
  const std::string text = absl::GetFlag(FLAGS_disable_passes);
  if (text == "all") return std::set<std::string>(known.begin(), known.end());
  std::set<std::string> disabled;
  for (const auto part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::string name(part);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--disable_passes=", text, ": expected all or ", absl::StrJoin(known, ", ")));
    }
    disabled.insert(name);
  }
  return disabled;
}

absl::Status ApplyComputeFlags() {
  SetNumThreads(absl::GetFlag(FLAGS_threads));
  const std::string name = absl::GetFlag(FLAGS_gemm_precision);
  const std::string flag = absl::StrCat("--gemm_precision=", name);
  if (name != "float32" && name != "bfloat16") {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": expected float32 or bfloat16"));
  }
  return AddContext(
      SetGemmPrecision(name == "bfloat16" ? GemmPrecision::kBfloat16 : GemmPrecision::kFloat32),
      flag);
}

absl::StatusOr<std::vector<Context>> ContextsFromFlags() {
  const std::string text = absl::GetFlag(FLAGS_context);
  if (!text.empty()) return AddContext(ParseContexts(text), "--context");
  std::vector<Context> contexts;
  contexts.reserve(absl::GetFlag(FLAGS_contexts));
  for (int i = 0; i < absl::GetFlag(FLAGS_contexts); ++i) contexts.push_back(Context::Cpu(i));
  return contexts;
}

absl::StatusOr<BucketFlags> BucketsFromFlags() {
  const std::string text = absl::GetFlag(FLAGS_buckets);
  if (text == "mxnet") return BucketFlags();
  if (text == "auto") {
    return BucketFlags{.max_buckets = absl::GetFlag(FLAGS_max_buckets),
                       .bucket_cost = absl::GetFlag(FLAGS_bucket_cost),
                       .max_length = absl::GetFlag(FLAGS_max_length)};
  }
  std::vector<int64_t> buckets;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    int64_t length = 0;
    if (!absl::SimpleAtoi(part, &length) || length < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--buckets=", text, ": expected auto, mxnet or lengths such as 10,20,30"));
    }
    buckets.push_back(length);
  }
  std::sort(buckets.begin(), buckets.end());
  buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
  return BucketFlags{.lengths = std::move(buckets)};
}

namespace {

// Checks that the optimizer exists and accepts its arguments.
absl::Status CheckOptimizerFlags() {
  COOPER_ASSIGN_OR_RETURN(const InitOptimizerOptions options, OptimizerFromFlags());
  const double momentum = absl::GetFlag(FLAGS_mom);
  return AddContext(CreateOptimizer(options.optimizer, options.optimizer_params).status(),
                    "--optimizer=", options.optimizer,
                    momentum == 0 ? "" : absl::StrCat(" --mom=", momentum));
}

}  // namespace

absl::Status CheckModelFlags() {
  // Limits that catch typing errors: cells and contexts are created one by one and could take all
  // memory.
  constexpr int kAny = std::numeric_limits<int>::max(), kMaxLayers = 1000, kMaxContexts = 1000;
  const struct {
    const char* name;
    int value, most;
  } sizes[] = {{"num_layers", absl::GetFlag(FLAGS_num_layers), kMaxLayers},
               {"num_hidden", absl::GetFlag(FLAGS_num_hidden), kAny},
               {"num_embed", absl::GetFlag(FLAGS_num_embed), kAny},
               {"batch_size", absl::GetFlag(FLAGS_batch_size), kAny},
               {"max_buckets", absl::GetFlag(FLAGS_max_buckets), kAny},
               {"contexts", absl::GetFlag(FLAGS_contexts), kMaxContexts}};
  for (const auto& [name, value, most] : sizes) {
    if (value >= 1 && value <= most) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", name, "=", value, ": expected ",
                     most == kAny ? "a positive number" : absl::StrCat("1 to ", most)));
  }
  const std::pair<const char*, double> numbers[] = {
      {"lr", absl::GetFlag(FLAGS_lr)},
      {"mom", absl::GetFlag(FLAGS_mom)},
      {"wd", absl::GetFlag(FLAGS_wd)},
      {"bucket_cost", absl::GetFlag(FLAGS_bucket_cost)}};
  for (const auto& [name, value] : numbers) {
    if (!(value >= 0) || !std::isfinite(value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, "=", value, ": expected a finite number, 0 or more"));
    }
  }
  const std::pair<const char*, int64_t> counts[] = {
      {"threads", absl::GetFlag(FLAGS_threads)}, {"max_length", absl::GetFlag(FLAGS_max_length)}};
  for (const auto& [name, value] : counts) {
    if (value < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, "=", value, ": expected 0 or more"));
    }
  }
  COOPER_RETURN_IF_ERROR(BucketsFromFlags().status());
  COOPER_RETURN_IF_ERROR(ContextsFromFlags().status());
  COOPER_RETURN_IF_ERROR(CheckOptimizerFlags());
  LanguageModelOptions model = ModelOptionsFromFlags();
  model.vocab = 2;
  COOPER_RETURN_IF_ERROR(MakeLanguageModel(model).status());
  return DisabledPassesFromFlags().status();
}

}  // namespace cooper
