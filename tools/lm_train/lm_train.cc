// Trains a word-level language model on sentences of any length: the program of the bucketing
// tutorial.
//
// lm_train: on a generated corpus whose minimum perplexity is known.
// lm_train --train=a.txt --valid=b.txt --num_epochs=3 --checkpoint_prefix=lm: on a text.
// lm_train --train='data/shard-*.txt.gz' ...: on a text that does not fit in memory.
// lm_train ... --max_buckets=20: with at most 20 buckets of least cost.
// lm_train ... --buckets=10,20,30: with these buckets.
// lm_train ... --resume: continues from the last checkpoint.
// lm_train ... --profile=trace.json: profiles some batches.
// lm_train_cuda --context="gpu(0)": on a GPU.
// mpirun -np 4 lm_train_mpi --kvstore=dist_sync --batch_size=8: in four processes that share
//   steps of 32 sentences. Rank 0 reports on its part; the others print nothing.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "io/batch/bucket_key.h"
#include "io/batch/data_iter.h"
#include "io/batch/data_statistics.h"
#include "io/buckets/bucket_iter.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/iterators/prefetching_iter.h"
#include "io/streams/bucket_stream.h"
#include "io/text/encode_sentences.h"
#include "io/text/text_corpus.h"
#include "module/bucketing/bucketing_module.h"
#include "module/checkpoint/checkpointer.h"
#include "module/checkpoint/training_state.h"
#include "module/kvstore/kvstore.h"
#include "module/metric/classification.h"
#include "module/metric/eval_metric.h"
#include "ndarray/base/context.h"
#include "ndarray/base/output_file.h"
#include "ndarray/base/status_macros.h"
#include "tools/lm_train/language_model.h"
#include "tools/lm_train/lm_corpus.h"
#include "tools/lm_train/lm_progress.h"
#include "tools/lm_train/lm_stream.h"
#include "tools/lm_train/model_flags.h"
#include "tools/lm_train/profile_flags.h"
#include "tools/program_main.h"

ABSL_DECLARE_FLAG(bool, use_ignore);
ABSL_FLAG(std::string, train, "",
          "training text, a sentence a line; empty: a generated corpus. A pattern, a list of files "
          "with commas between, or a .gz or .zst file is read in pieces while it trains");
ABSL_FLAG(std::string, valid, "", "validation text");
ABSL_FLAG(int64_t, max_words, 0,
          "the most frequent words of the training text that have numbers of their own; 0: all");
ABSL_FLAG(int64_t, tokens_per_batch, 0,
          "words of a training batch with padding, so that short sentences come in larger batches, "
          "and gradients are means over words; 0: batch_size sentences; not with --kvstore=dist_*");
ABSL_FLAG(std::string, step_cost, "length",
          "of --buckets=auto, what a sentence costs in a bucket: its length, or flops: the "
          "operations of a step, counted from the compiled network");
ABSL_FLAG(int64_t, sort_batches, 0,
          "so many batches of a bucket are sorted by length together; 0: none");
ABSL_FLAG(bool, use_lengths, false,
          "the network gets the lengths: recurrent layers leave padding out of their work");
ABSL_FLAG(int, num_epochs, 8, "epochs to train");
ABSL_FLAG(int64_t, disp_batches, 50, "batches between two lines of progress in a log");
ABSL_FLAG(std::string, checkpoint_prefix, "",
          "after each epoch, and every checkpoint_batches, files with this prefix are written; "
          "PREFIX.vocab has the words' numbers");
ABSL_FLAG(int64_t, checkpoint_batches, 0,
          "batches between two checkpoints within an epoch; 0: none");
ABSL_FLAG(int, checkpoint_keep, 2, "training states that are kept, beside the best one");
ABSL_FLAG(bool, resume, false,
          "go on from the last training state of checkpoint_prefix; begin anew if there is none");
ABSL_FLAG(std::string, json, "",
          "file for the figures, one JSON object per epoch, which tools/charts.py draws");

namespace cooper {
namespace {

// The size of the generated corpus: small enough for a quick run, large enough to come near its
// minimum perplexity.
constexpr int64_t kWords = 100;
constexpr int64_t kTrainSentences = 2400;
constexpr int64_t kValidSentences = 320;

// Returns the options of a training iterator. Rows of padding fill a bucket's last batch. Without
// --use_ignore the loss would learn these rows, so training then leaves out sentences that fill no
// batch.
CommonBucketOptions TrainingOptions(const BucketFlags& buckets) {
  using LastBatch = CommonBucketOptions::LastBatch;
  return {.max_buckets = buckets.max_buckets,
          .bucket_cost = buckets.bucket_cost,
          .last_batch = absl::GetFlag(FLAGS_use_ignore) ? LastBatch::kPad : LastBatch::kDiscard,
          .tokens_per_batch = absl::GetFlag(FLAGS_tokens_per_batch),
          .sort_batches = absl::GetFlag(FLAGS_sort_batches),
          .seed = absl::GetFlag(FLAGS_seed)};
}

// Returns an iterator over all sentences, in a new order each epoch for training.
absl::StatusOr<std::unique_ptr<BucketSentenceIter>> MakeIter(
    const std::vector<std::vector<int>>& sentences, const BucketFlags& buckets, bool is_training,
    std::function<double(int64_t length)> step_cost = nullptr, int64_t part_index = 0,
    int64_t num_parts = 1) {
  CommonBucketOptions common = {.max_buckets = buckets.max_buckets,
                                .bucket_cost = buckets.bucket_cost,
                                .last_batch = CommonBucketOptions::LastBatch::kPad,
                                .shuffle = false};
  if (is_training) common = TrainingOptions(buckets);
  common.part_index = part_index;
  common.num_parts = num_parts;
  return BucketSentenceIter::Create(
      sentences, absl::GetFlag(FLAGS_batch_size),
      {.buckets = buckets.lengths,
       .invalid_label = 0,
       .step_cost = std::move(step_cost),
       .max_length = buckets.max_length,
       .length_name = absl::GetFlag(FLAGS_use_lengths) ? "length" : "",
       .common = common});
}

class Training {
 public:
  // `arguments` is the program's command line, for --json.
  explicit Training(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  absl::Status Run() {
    COOPER_RETURN_IF_ERROR(CheckFlags());
    COOPER_RETURN_IF_ERROR(ApplyComputeFlags());
    COOPER_RETURN_IF_ERROR(JoinProcesses());
    COOPER_RETURN_IF_ERROR(LoadData());
    COOPER_RETURN_IF_ERROR(MakeModel());
    FitOptions fit;
    COOPER_ASSIGN_OR_RETURN(fit, MakeFitOptions());
    if (absl::GetFlag(FLAGS_resume)) COOPER_RETURN_IF_ERROR(Resume(fit));
    COOPER_ASSIGN_OR_RETURN(const std::vector<Context> contexts, ContextsFromFlags());
    // The batches of a stream are not known before its end.
    constexpr int64_t kMany = 1000;
    profiled_.emplace(is_streamed_ ? kMany : batches_per_epoch_, rank(),
                      static_cast<int>(contexts.size()));
    const absl::Status fitted = model_->Fit(*train_, fit);
    ShowProfile(profiled_->OnEnd());
    COOPER_RETURN_IF_ERROR(fitted);
    if (checkpointer_ != nullptr) COOPER_RETURN_IF_ERROR(checkpointer_->Wait());
    std::printf("\n%s", progress_->Table(*model_).c_str());
    if (is_streamed_) {
      const DataStatistics statistics = train_->statistics();
      std::printf("%s\n%s\n", statistics.CountsToString().c_str(),
                  statistics.TimesToString().c_str());
    }
    COOPER_RETURN_IF_ERROR(params_status_);
    COOPER_RETURN_IF_ERROR(figures_status_);
    return profile_status_;
  }

 private:
  static absl::Status CheckFlags() {
    COOPER_RETURN_IF_ERROR(CheckModelFlags());
    if (absl::GetFlag(FLAGS_num_epochs) < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("--num_epochs=", absl::GetFlag(FLAGS_num_epochs), ": expected at least 1"));
    }
    if (absl::GetFlag(FLAGS_resume) && absl::GetFlag(FLAGS_checkpoint_prefix).empty()) {
      return absl::InvalidArgumentError("--resume needs --checkpoint_prefix");
    }
    if (absl::GetFlag(FLAGS_checkpoint_keep) < 1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--checkpoint_keep=", absl::GetFlag(FLAGS_checkpoint_keep), ": expected at least 1"));
    }
    if (absl::GetFlag(FLAGS_checkpoint_batches) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("--checkpoint_batches=", absl::GetFlag(FLAGS_checkpoint_batches),
                       ": expected 0 or more"));
    }
    const std::pair<const char*, int64_t> counts[] = {
        {"max_words", absl::GetFlag(FLAGS_max_words)},
        {"tokens_per_batch", absl::GetFlag(FLAGS_tokens_per_batch)},
        {"sort_batches", absl::GetFlag(FLAGS_sort_batches)}};
    for (const auto& [name, value] : counts) {
      if (value >= 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--", name, "=", value, ": expected 0 or more"));
    }
    if (absl::GetFlag(FLAGS_tokens_per_batch) > 0 && IsDistributed()) {
      // The gradient is a mean over the sentences of all processes, which needs a fixed batch size.
      return absl::InvalidArgumentError(absl::StrCat(
          "--tokens_per_batch does not go with --kvstore=", absl::GetFlag(FLAGS_kvstore)));
    }
    const std::string step_cost = absl::GetFlag(FLAGS_step_cost);
    if (step_cost != "length" && step_cost != "flops") {
      return absl::InvalidArgumentError(
          absl::StrCat("--step_cost=", step_cost, ": expected length or flops"));
    }
    if (step_cost == "flops" && absl::GetFlag(FLAGS_buckets) != "auto") {
      return absl::InvalidArgumentError("--step_cost=flops needs --buckets=auto");
    }
    if (IsStreamed(absl::GetFlag(FLAGS_train))) COOPER_RETURN_IF_ERROR(CheckStreamFlags());
    COOPER_RETURN_IF_ERROR(CheckProfileFlags());
    COOPER_RETURN_IF_ERROR(CheckOutputFile("--json=", absl::GetFlag(FLAGS_json)));
    COOPER_RETURN_IF_ERROR(
        CheckOutputFolder("--checkpoint_prefix=", absl::GetFlag(FLAGS_checkpoint_prefix)));
    if (absl::GetFlag(FLAGS_checkpoint_batches) > 0 &&
        absl::GetFlag(FLAGS_checkpoint_prefix).empty()) {
      return absl::InvalidArgumentError("--checkpoint_batches needs --checkpoint_prefix");
    }
    if (absl::GetFlag(FLAGS_train).empty() && !absl::GetFlag(FLAGS_valid).empty()) {
      return absl::InvalidArgumentError("--valid needs --train");
    }
    return absl::OkStatus();
  }

  static absl::Status CheckStreamFlags() {
    if (absl::GetFlag(FLAGS_step_cost) == "flops") {
      return absl::InvalidArgumentError(
          "--step_cost=flops needs the longest sentence, which is not known of a --train of "
          "several "
          "or compressed files");
    }
    if (absl::GetFlag(FLAGS_buckets) == "mxnet") {
      return absl::InvalidArgumentError(
          "--buckets=mxnet needs all lengths, which are not known of a --train of several or "
          "compressed files; use auto or lengths");
    }
    return absl::OkStatus();
  }

  static bool IsDistributed() { return absl::StartsWith(absl::GetFlag(FLAGS_kvstore), "dist"); }

  // Must run before the data is read, since each process takes its part.
  absl::Status JoinProcesses() {
    const std::string type = absl::GetFlag(FLAGS_kvstore);
    if (!IsDistributed()) return absl::OkStatus();
    absl::StatusOr<std::shared_ptr<KVStore>> store = CreateKVStore(type);
    if (!store.ok()) {
      return absl::Status(store.status().code(),
                          absl::StrCat("--kvstore=", type, ": ", store.status().message(),
                                       "; lm_train_mpi has those of processes"));
    }
    store_ = *std::move(store);
    if (store_->rank() == 0) return absl::OkStatus();
    // Only rank 0 prints a table. Errors go to standard error.
    if (std::freopen("/dev/null", "w", stdout) == nullptr) {
      return absl::InternalError("standard output cannot be turned to /dev/null");
    }
    return absl::OkStatus();
  }

  int rank() const { return store_ == nullptr ? 0 : store_->rank(); }
  bool IsFirst() const { return rank() == 0; }

  // Returns the prefix of this process: each has its own states, and the first one the model's
  // files.
  std::string CheckpointPrefix() const {
    const std::string prefix = absl::GetFlag(FLAGS_checkpoint_prefix);
    return prefix.empty() || IsFirst() ? prefix : absl::StrCat(prefix, "-rank", rank());
  }

  absl::Status LoadData() {
    const std::string train = absl::GetFlag(FLAGS_train);
    COOPER_ASSIGN_OR_RETURN(corpus_, ReadCorpus(train));
    COOPER_ASSIGN_OR_RETURN(const BucketFlags buckets, BucketsFromFlags());
    if (IsStreamed(train)) {
      COOPER_RETURN_IF_ERROR(MakeStream(train, buckets));
    } else {
      COOPER_RETURN_IF_ERROR(MakeTrainIter(train, buckets));
    }
    if (corpus_.valid.empty()) return absl::OkStatus();
    // Buckets chosen from the training text also serve the validation text. Each process validates
    // with the whole text, so that all agree on the best state.
    BucketFlags chosen;
    for (const BucketKey& key : train_->bucket_keys()) chosen.lengths.push_back(key.int_value());
    COOPER_ASSIGN_OR_RETURN(valid_, MakeIter(corpus_.valid, chosen, /*is_training=*/false));
    std::printf("validation: %s", valid_->report().ToString().c_str());
    return CheckHasBatches(*valid_, "valid", absl::GetFlag(FLAGS_valid));
  }

  static absl::StatusOr<LmCorpus> ReadCorpus(const std::string& train) {
    const std::string valid = absl::GetFlag(FLAGS_valid);
    const int64_t max_words = absl::GetFlag(FLAGS_max_words);
    if (train.empty()) {
      return MakeSyntheticCorpus(kWords, kTrainSentences, kValidSentences,
                                 absl::GetFlag(FLAGS_seed));
    }
    if (IsStreamed(train)) return ReadStreamedCorpus(train, valid, max_words);
    return ReadLmCorpus(train, valid, /*max_sentences=*/-1, max_words);
  }

  absl::Status MakeTrainIter(const std::string& train, const BucketFlags& buckets) {
    COOPER_ASSIGN_OR_RETURN(std::function<double(int64_t)> step_cost, StepCostOf(buckets));
    COOPER_ASSIGN_OR_RETURN(
        std::unique_ptr<BucketSentenceIter> iter,
        MakeIter(corpus_.train, buckets, /*is_training=*/true, std::move(step_cost), rank(),
                 store_ == nullptr ? 1 : store_->num_workers()));
    COOPER_RETURN_IF_ERROR(CheckHasBatches(*iter, "train", train));
    std::printf("%d words; training: %s", static_cast<int>(corpus_.vocab),
                iter->report().ToString().c_str());
    batches_per_epoch_ = iter->num_batches();
    train_ = std::move(iter);
    return absl::OkStatus();
  }

  absl::Status MakeStream(const std::string& train, const BucketFlags& buckets) {
    BucketStreamOptions options = {.batch_size = absl::GetFlag(FLAGS_batch_size),
                                   .buckets = {buckets.lengths.begin(), buckets.lengths.end()}};
    if (buckets.max_length > 0) options.max_extents = {buckets.max_length};
    options.common = TrainingOptions(buckets);
    COOPER_ASSIGN_OR_RETURN(
        std::unique_ptr<BucketStream> stream,
        MakeLmStream(train, corpus_, absl::GetFlag(FLAGS_use_lengths) ? "length" : "",
                     std::move(options), store_.get()));
    std::printf("%d words; training: a stream with the buckets", static_cast<int>(corpus_.vocab));
    for (const BucketKey& key : stream->bucket_keys()) std::printf(" %s", key.ToString().c_str());
    std::printf("\n");
    is_streamed_ = true;
    if (store_ != nullptr) {  // the stream's messages come in turn with those of the training
      train_ = std::move(stream);
      return absl::OkStatus();
    }
    std::vector<std::unique_ptr<DataIter>> iters;
    iters.push_back(std::move(stream));
    COOPER_ASSIGN_OR_RETURN(train_, PrefetchingIter::Create(std::move(iters)));
    return absl::OkStatus();
  }

  static absl::Status CheckHasBatches(const BucketSentenceIter& iter, const char* flag,
                                      const std::string& path) {
    if (iter.num_batches() > 0) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, "=", path, ": no bucket has the ",
                     absl::GetFlag(FLAGS_batch_size) * iter.report().num_parts,
                     " sentences of a step; give more text or a smaller --batch_size"));
  }

  absl::StatusOr<SymGen> MakeSymGen() const {
    LanguageModelOptions options = ModelOptionsFromFlags();
    options.vocab = corpus_.vocab;
    options.use_lengths = absl::GetFlag(FLAGS_use_lengths);
    return MakeLanguageModel(options);
  }

  // Returns the step cost; null stands for the length itself.
  absl::StatusOr<std::function<double(int64_t)>> StepCostOf(const BucketFlags& buckets) const {
    if (absl::GetFlag(FLAGS_step_cost) == "length") return nullptr;
    size_t longest = 0;
    for (const auto& sentence : corpus_.train) {
      const bool fits =
          buckets.max_length == 0 || static_cast<int64_t>(sentence.size()) <= buckets.max_length;
      if (fits) longest = std::max(longest, sentence.size());
    }
    LmStepCostOptions options = {.use_lengths = absl::GetFlag(FLAGS_use_lengths),
                                 .label_probabilities = absl::GetFlag(FLAGS_label_probabilities),
                                 .batch_size = absl::GetFlag(FLAGS_batch_size),
                                 .longest = std::max<int64_t>(static_cast<int64_t>(longest), 2)};
    COOPER_ASSIGN_OR_RETURN(options.sym_gen, MakeSymGen());
    COOPER_ASSIGN_OR_RETURN(options.disabled_passes, DisabledPassesFromFlags());
    return LmStepCost(std::move(options));
  }

  absl::Status MakeModel() {
    COOPER_ASSIGN_OR_RETURN(SymGen sym_gen, MakeSymGen());
    COOPER_ASSIGN_OR_RETURN(std::set<std::string> disabled_passes, DisabledPassesFromFlags());
    COOPER_ASSIGN_OR_RETURN(std::vector<Context> contexts, ContextsFromFlags());
    COOPER_ASSIGN_OR_RETURN(
        model_,
        BucketingModule::Create(
            {.sym_gen = std::move(sym_gen),
             .default_bucket_key = train_->default_bucket_key(),
             .compute = {.contexts = std::move(contexts),
                         .disabled_passes = std::move(disabled_passes),
                         .label_probabilities = absl::GetFlag(FLAGS_label_probabilities)}}));
    metric_ = Perplexity({.ignore_label = 0});
    valid_metric_ = Perplexity({.ignore_label = 0});
    progress_ = std::make_unique<LmProgress>(
        LmProgress::Options{.num_epoch = absl::GetFlag(FLAGS_num_epochs),
                            .batches_per_epoch = batches_per_epoch_,
                            .batch_size = absl::GetFlag(FLAGS_batch_size),
                            .disp_batches = absl::GetFlag(FLAGS_disp_batches),
                            .perplexity_floor = corpus_.perplexity_floor,
                            .json_path = IsFirst() ? absl::GetFlag(FLAGS_json) : "",
                            .arguments = arguments_});
    const std::string prefix = CheckpointPrefix();
    if (prefix.empty()) return absl::OkStatus();
    COOPER_ASSIGN_OR_RETURN(
        checkpointer_, Checkpointer::Create(
                           {.prefix = prefix, .keep_last = absl::GetFlag(FLAGS_checkpoint_keep)}));
    return absl::OkStatus();
  }

  absl::StatusOr<FitOptions> MakeFitOptions() {
    FitOptions fit;
    COOPER_ASSIGN_OR_RETURN(fit.optimizer, OptimizerFromFlags());
    fit.optimizer.kvstore_instance = store_;
    if (absl::GetFlag(FLAGS_tokens_per_batch) > 0) {
      fit.optimizer.normalization = GradientNormalization::kTokens;
    }
    fit.params = {.initializer = LanguageModelInitializer()};
    fit.eval_metric = metric_.get();
    fit.seed = absl::GetFlag(FLAGS_seed);
    fit.num_epoch = absl::GetFlag(FLAGS_num_epochs);
    fit.batch_end_callbacks = {[this](const BatchEndParam& p) {
      const bool keep_going = progress_->OnBatch(p);
      epoch_batches_ = p.nbatch + 1;
      ShowProfile(profiled_->OnBatch());
      return keep_going;
    }};
    fit.progress = nullptr;  // progress_ shows more
    fit.stop_on_signal = true;
    if (checkpointer_ != nullptr) {
      if (!absl::GetFlag(FLAGS_resume)) COOPER_RETURN_IF_ERROR(SaveWords());
      fit.capture_point = checkpointer_->Every(absl::GetFlag(FLAGS_checkpoint_batches), ThisRun());
      fit.stop_point = checkpointer_->AtStop(ThisRun());
    }
    fit.epoch_end_callbacks = {
        [this](int epoch, BaseModule&) -> absl::StatusOr<bool> { return OnEpochEnd(epoch); }};
    return fit;
  }

  // A profile that cannot be written does not end the training.
  void ShowProfile(const absl::StatusOr<std::string>& report) {
    profile_status_.Update(report.status());
    if (report.ok() && !report->empty()) progress_->PrintAbove(*report);
  }

  // A full disk does not end the training either; the program reports the error at its end.
  static void Warn(const absl::Status& status) {
    if (!status.ok()) std::cerr << "lm_train: " << status.message() << std::endl;
  }

  absl::StatusOr<bool> OnEpochEnd(int epoch) {
    progress_->OnTrainEnd(epoch, metric_->GetNameValue()[0].second);
    const std::string prefix = CheckpointPrefix();
    TrainingState state;
    if (!prefix.empty()) {
      if (IsFirst()) Warn(params_status_ = model_->SaveCheckpoint(prefix, epoch + 1));
      COOPER_ASSIGN_OR_RETURN(state, CaptureTraining(ThisRun(), epoch, epoch_batches_));
    }
    std::optional<double> valid_perplexity;
    if (valid_ != nullptr) {
      COOPER_ASSIGN_OR_RETURN(const auto values, model_->Score(*valid_, *valid_metric_));
      valid_perplexity = values[0].second;
    }
    // Written before the state, since a run that resumes from that state writes no figures of this
    // epoch.
    Warn(figures_status_ =
             progress_->OnEpochEnd(epoch, valid_perplexity, *model_, train_->statistics()));
    if (!prefix.empty()) Warn(checkpointer_->Save(std::move(state), valid_perplexity));
    return true;
  }

  // Saves the vocabulary beside the states, since embeddings are indexed by word id.
  absl::Status SaveWords() const {
    if (corpus_.vocabulary.empty()) return absl::OkStatus();
    return SaveVocabulary(VocabularyPath(), corpus_.vocabulary);
  }

  TrainingRun ThisRun() const {
    return {.module = model_.get(), .iter = train_.get(), .metric = metric_.get()};
  }

  std::string VocabularyPath() const { return absl::StrCat(CheckpointPrefix(), ".vocab"); }

  // Checks that existing states were saved with the same word ids.
  absl::Status CheckVocabulary() const {
    if (corpus_.vocabulary.empty() || checkpointer_->Paths().empty()) return absl::OkStatus();
    const absl::StatusOr<Vocabulary> saved = LoadVocabulary(VocabularyPath());
    if (absl::IsNotFound(saved.status())) return absl::OkStatus();
    if (!saved.ok()) return saved.status();
    if (*saved == corpus_.vocabulary) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("--train=", absl::GetFlag(FLAGS_train), ": its words are not those of ",
                     VocabularyPath(), "; resume with the texts of the first run"));
  }

  absl::Status Resume(FitOptions& fit) {
    if (!checkpointer_->Paths().empty()) COOPER_RETURN_IF_ERROR(CheckVocabulary());
    COOPER_ASSIGN_OR_RETURN(const bool resumed, checkpointer_->Resume(ThisRun(), &fit));
    if (!resumed) {
      // The same command line starts and resumes a run.
      std::printf("begins anew: there is no state %s-EPOCH-BATCH.state\n",
                  CheckpointPrefix().c_str());
      return SaveWords();
    }
    epoch_batches_ = fit.begin_batch;
    COOPER_RETURN_IF_ERROR(progress_->Resume(fit.begin_epoch, fit.begin_batch));
    std::printf("resumed in epoch %d after %d batches\n", fit.begin_epoch + 1,
                static_cast<int>(fit.begin_batch));
    return absl::OkStatus();
  }

  const std::vector<std::string> arguments_;
  std::shared_ptr<KVStore> store_;  // over processes; null without
  LmCorpus corpus_;
  std::unique_ptr<DataIter> train_;
  bool is_streamed_ = false;
  int64_t batches_per_epoch_ = 0;  // 0: not known
  int64_t epoch_batches_ = 0;      // batches of the current epoch so far
  std::unique_ptr<BucketSentenceIter> valid_;
  std::unique_ptr<BucketingModule> model_;
  std::unique_ptr<EvalMetric> metric_;
  std::unique_ptr<EvalMetric> valid_metric_;
  std::unique_ptr<LmProgress> progress_;
  std::unique_ptr<Checkpointer> checkpointer_;
  std::optional<ProfiledBatches> profiled_;
  absl::Status profile_status_;
  absl::Status params_status_;   // of the last epoch's file
  absl::Status figures_status_;  // of the files of JSON and the page then
};

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  absl::SetFlag(&FLAGS_use_ignore, true);  // the default of this program
  // --help also lists the flags of model_flags.h.
  return cooper::ProgramMain({.name = "lm_train",
                              .summary = "trains a language model on sentences of any length",
                              .flags_of = "tools/lm_train/"},
                             argc, argv, [&] {
                               return cooper::Training({argv + 1, argv + argc}).Run();
                             });
}
