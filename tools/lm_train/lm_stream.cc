#include "tools/lm_train/lm_stream.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "io/streams/shard_vocabulary.h"
#include "io/streams/stream_inputs.h"
#include "io/streams/text_source.h"
#include "io/text/encode_sentences.h"
#include "io/text/text_corpus.h"
#include "ndarray/base/status_macros.h"

ABSL_FLAG(
    std::string, vocabulary, "",
    "file with the words' numbers, as PREFIX.vocab of an earlier run; empty: the words of the "
    "training text; only for a --train of several or compressed files");
ABSL_FLAG(int64_t, pool_samples, 16384,
          "sentences that are held at most, for a --train of several or compressed files");

namespace cooper {
namespace {

constexpr char kUnknown[] = "<unk>";

absl::StatusOr<std::vector<std::string>> TrainPaths(const std::string& train) {
  return AddContext(GlobPaths(train), "--train=", train);
}

}  // namespace

bool IsStreamed(const std::string& train) {
  return train.find_first_of("*?[,") != std::string::npos || absl::EndsWith(train, ".gz") ||
         absl::EndsWith(train, ".zst");
}

absl::StatusOr<LmCorpus> ReadStreamedCorpus(const std::string& train, const std::string& valid_path,
                                            int64_t max_words) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> paths, TrainPaths(train));
  LmCorpus corpus;
  const std::string vocabulary_path = absl::GetFlag(FLAGS_vocabulary);
  if (vocabulary_path.empty()) {
    COOPER_ASSIGN_OR_RETURN(
        corpus.vocabulary,
        AddContext(BuildShardVocabulary(paths, {.invalid_label = 0,
                                                .start_label = 1,
                                                .unknown_token = kUnknown,
                                                .max_words = max_words > 0 ? max_words : -1}),
                   "--train=", train));
  } else {
    COOPER_ASSIGN_OR_RETURN(corpus.vocabulary, LoadVocabulary(vocabulary_path));
  }
  for (const auto& [word, id] : corpus.vocabulary) {
    corpus.vocab = std::max<int64_t>(corpus.vocab, id + 1);
  }
  if (valid_path.empty()) return corpus;
  COOPER_ASSIGN_OR_RETURN(const std::vector<Sentence> valid, ReadSentences(valid_path));
  if (valid.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(valid_path, ": the text has no sentence"));
  }
  COOPER_ASSIGN_OR_RETURN(
      EncodedSentences encoded,
      EncodeSentences(valid, corpus.vocabulary, {.invalid_label = 0, .unknown_token = kUnknown}));
  corpus.valid = std::move(encoded.sentences);
  return corpus;
}

absl::StatusOr<std::unique_ptr<BucketStream>> MakeLmStream(const std::string& train,
                                                           const LmCorpus& corpus,
                                                           const std::string& length_name,
                                                           BucketStreamOptions options,
                                                           KVStore* store) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> paths, TrainPaths(train));
  COOPER_ASSIGN_OR_RETURN(const auto source,
                          TextSource(paths, corpus.vocabulary, {.unknown_token = kUnknown}));
  options.pool_samples = absl::GetFlag(FLAGS_pool_samples);
  if (store != nullptr) {
    options.common.part_index = store->rank();
    options.common.num_parts = store->num_workers();
    options.all_gather = [store](const std::string& text) { return store->AllGather(text); };
  }
  return AddContext(
      BucketStream::Create(source, NextWordInputs({.invalid_label = 0, .length_name = length_name}),
                           std::move(options)),
      "--train=", train);
}

}  // namespace cooper
