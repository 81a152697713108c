// Measures the data of a bucketed language model alone, without training: reading text, numbering
// words, bucketing and padding (benchmarks/peers/README.md, "Streams"). Prints a line of JSON for
// each epoch.
//
//   stream_pipeline --train='shard-*.txt' --words=text --buckets=10,20,40 --epochs=2
//
// --in_memory uses a BucketSentenceIter, which holds all sentences, instead of a BucketStream.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/json_line.h"
#include "io/batch/data_iter.h"
#include "io/buckets/bucket_sentence_iter.h"
#include "io/iterators/prefetching_iter.h"
#include "io/streams/bucket_stream.h"
#include "io/streams/shard_vocabulary.h"
#include "io/streams/stream_inputs.h"
#include "io/streams/text_source.h"
#include "io/text/encode_sentences.h"
#include "io/text/text_corpus.h"
#include "ndarray/base/status_macros.h"
#include "nlohmann/json.hpp"

ABSL_FLAG(std::string, train, "", "text: a pattern, or a list with commas between");
ABSL_FLAG(std::string, words, "", "text whose words get numbers; others share one");
ABSL_FLAG(std::vector<std::string>, buckets, {},
          "lengths to pad to; longer sentences are left out");
ABSL_FLAG(int64_t, tokens_per_batch, 4096, "words of a batch, padding included");
ABSL_FLAG(int64_t, pool_samples, 16384, "sentences that are held at most");
ABSL_FLAG(int64_t, samples, 0, "sentences of an epoch, if the memory after 1 % is asked for");
ABSL_FLAG(int, epochs, 2, "epochs");
ABSL_FLAG(bool, in_memory, false, "hold all sentences");
ABSL_FLAG(bool, prefetch, false, "prepare batches on a second thread");

namespace cooper {
namespace {

constexpr char kUnknown[] = "<unk>";

double ResidentMegabytes() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    int64_t kilobytes = 0;
    if (std::sscanf(line.c_str(), "VmRSS: %ld", &kilobytes) == 1) {
      return static_cast<double>(kilobytes) / 1024;
    }
  }
  return 0;
}

absl::StatusOr<std::unique_ptr<DataIter>> MakeIter() {
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                          GlobPaths(absl::GetFlag(FLAGS_train)));
  COOPER_ASSIGN_OR_RETURN(
      const Vocabulary vocabulary,
      BuildShardVocabulary({absl::GetFlag(FLAGS_words)},
                           {.invalid_label = 0, .start_label = 1, .unknown_token = kUnknown}));
  std::vector<int64_t> buckets;
  for (const std::string& text : absl::GetFlag(FLAGS_buckets)) {
    if (!absl::SimpleAtoi(text, &buckets.emplace_back())) {
      return absl::InvalidArgumentError(absl::StrCat("--buckets: '", text, "' is no number"));
    }
  }
  CommonBucketOptions common = {.tokens_per_batch = absl::GetFlag(FLAGS_tokens_per_batch)};
  std::unique_ptr<DataIter> iter;
  if (absl::GetFlag(FLAGS_in_memory)) {
    std::vector<std::vector<int>> sentences;
    for (const std::string& path : paths) {
      COOPER_ASSIGN_OR_RETURN(const std::vector<Sentence> read, ReadSentences(path));
      COOPER_ASSIGN_OR_RETURN(
          EncodedSentences encoded,
          EncodeSentences(read, vocabulary, {.invalid_label = 0, .unknown_token = kUnknown}));
      std::move(encoded.sentences.begin(), encoded.sentences.end(), std::back_inserter(sentences));
    }
    COOPER_ASSIGN_OR_RETURN(
        iter,
        BucketSentenceIter::Create(
            sentences, 1,
            {.buckets = {buckets.begin(), buckets.end()}, .invalid_label = 0, .common = common}));
  } else {
    COOPER_ASSIGN_OR_RETURN(const auto source,
                            TextSource(paths, vocabulary, {.unknown_token = kUnknown}));
    COOPER_ASSIGN_OR_RETURN(iter,
                            BucketStream::Create(source, NextWordInputs({.invalid_label = 0}),
                                                 {.buckets = {buckets.begin(), buckets.end()},
                                                  .pool_samples = absl::GetFlag(FLAGS_pool_samples),
                                                  .common = common}));
  }
  if (!absl::GetFlag(FLAGS_prefetch)) return iter;
  std::vector<std::unique_ptr<DataIter>> iters;
  iters.push_back(std::move(iter));
  return PrefetchingIter::Create(std::move(iters));
}

absl::Status Run() {
  COOPER_ASSIGN_OR_RETURN(const std::unique_ptr<DataIter> iter, MakeIter());
  using Clock = std::chrono::steady_clock;
  const int64_t early = absl::GetFlag(FLAGS_samples) / 100;
  double early_megabytes = 0;
  for (int epoch = 0; epoch < absl::GetFlag(FLAGS_epochs); ++epoch) {
    const DataStatistics before = iter->statistics();
    const Clock::time_point start = Clock::now();
    int64_t batches = 0, samples = 0, tokens = 0, padded_tokens = 0;
    while (true) {
      COOPER_ASSIGN_OR_RETURN(const std::optional<DataBatch> batch, iter->Next());
      if (!batch.has_value()) break;
      const auto rows = std::ssize(batch->lengths);
      ++batches;
      samples += rows - batch->pad;
      tokens += std::accumulate(batch->lengths.begin(), batch->lengths.end(), int64_t{0});
      padded_tokens += rows * batch->bucket_key->int_value();
      if (early_megabytes == 0 && samples >= early) early_megabytes = ResidentMegabytes();
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const DataStatistics of_epoch = iter->statistics().Since(before);
    PrintLine({{"epoch", epoch + 1},
               {"batches", batches},
               {"samples", samples},
               {"seconds", seconds},
               {"samples_per_s", static_cast<double>(samples) / seconds},
               {"padding", 1 - static_cast<double>(tokens) / static_cast<double>(padded_tokens)},
               {"wait_seconds", of_epoch.wait_seconds},
               {"read_seconds", of_epoch.read_seconds},
               {"decode_seconds", of_epoch.decode_seconds},
               {"early_mb", early_megabytes},
               {"end_mb", ResidentMegabytes()}});
    COOPER_RETURN_IF_ERROR(iter->Reset());
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = cooper::Run();
  if (!status.ok()) std::cerr << "stream_pipeline: " << status.message() << std::endl;
  return status.ok() ? EXIT_SUCCESS : EXIT_FAILURE;
}
