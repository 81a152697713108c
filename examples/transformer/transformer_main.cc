// Trains a Transformer on sequences of any length: a causal language model (--task=lm), on
// generated sentences or on a text, or a classifier of generated sequences (--task=classify).

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "examples/transformer/generated_data.h"
#include "examples/transformer/transformer.h"
#include "io/text/encode_sentences.h"
#include "io/text/text_corpus.h"
#include "ndarray/base/init_logging.h"
#include "ndarray/base/status_macros.h"

ABSL_FLAG(std::string, task, "lm", "lm: predict the next word; classify: tell orders apart");
ABSL_FLAG(std::string, text, "", "of --task=lm: a text with a sentence on each line, to train on");
ABSL_FLAG(std::string, valid, "", "of --text: another text, for the perplexity of each epoch");
ABSL_FLAG(std::string, positions, "learned", "learned: a table; sinusoidal: sines and cosines");
ABSL_FLAG(int64_t, width, cooper::TransformerOptions().width, "features of each position");
ABSL_FLAG(int64_t, layers, cooper::TransformerOptions().layers, "blocks");
ABSL_FLAG(int64_t, heads, cooper::TransformerOptions().heads, "of the attention; divides width");
ABSL_FLAG(int64_t, max_length, cooper::TransformerOptions().max_length,
          "positions of the longest bucket; longer sentences are split");
ABSL_FLAG(double, dropout, cooper::TransformerOptions().dropout, "of what each block adds");
ABSL_FLAG(int, epochs, cooper::TransformerTraining().num_epoch, "passes over the data");
ABSL_FLAG(int64_t, batch_size, cooper::TransformerTraining().batch_size, "sequences in a batch");
ABSL_FLAG(double, learning_rate, cooper::TransformerTraining().learning_rate,
          "of Adam, at the end of the warm-up");
ABSL_FLAG(double, warmup, cooper::TransformerTraining().warmup,
          "the share of all updates in which the learning rate rises");
ABSL_FLAG(uint64_t, seed, cooper::TransformerTraining().seed,
          "of initial values, order of batches and generated data");

namespace cooper {
namespace {

absl::Status UnknownValue(const char* flag, const std::string& value, const char* expected) {
  return absl::InvalidArgumentError(absl::StrCat("--", flag, "=", value, ": expected ", expected));
}

// Reads texts with a sentence on each line. Words of `valid_path`, which may be empty, that the
// training text does not have share one id.
absl::StatusOr<Corpus> ReadCorpus(const std::string& train_path, const std::string& valid_path) {
  const EncodeSentencesOptions options = {
      .invalid_label = 0, .start_label = 1, .unknown_token = "<unk>"};
  Corpus corpus;
  COOPER_ASSIGN_OR_RETURN(const std::vector<Sentence> train, ReadSentences(train_path));
  if (train.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(train_path, ": the text has no sentence"));
  }
  EncodedSentences encoded = EncodeSentences(train, options);
  corpus.train = std::move(encoded.sentences);
  if (!valid_path.empty()) {
    COOPER_ASSIGN_OR_RETURN(const std::vector<Sentence> valid, ReadSentences(valid_path));
    COOPER_ASSIGN_OR_RETURN(encoded,
                            EncodeSentences(valid, Vocabulary(encoded.vocabulary), options));
    corpus.valid = std::move(encoded.sentences);
  }
  for (const auto& [word, id] : encoded.vocabulary) {
    corpus.num_ids = std::max<int64_t>(corpus.num_ids, id + 1);
  }
  return corpus;
}

absl::Status RunLanguageModel(const TransformerOptions& network,
                              const TransformerTraining& training) {
  const std::string text = absl::GetFlag(FLAGS_text), valid = absl::GetFlag(FLAGS_valid);
  Corpus corpus;
  if (text.empty()) {
    if (!valid.empty()) return absl::InvalidArgumentError("--valid needs --text");
    corpus = MakeTopicCorpus(/*train_sentences=*/4000, /*valid_sentences=*/400, training.seed);
    std::cout
        << "generated sentences: no model has a perplexity below 3.36, and none that sees only "
           "the last word one below 13.45\n";
  } else {
    COOPER_ASSIGN_OR_RETURN(corpus, ReadCorpus(text, valid));
  }
  return TrainLanguageModel(corpus, network, training).status();
}

absl::Status RunClassifier(const TransformerOptions& network, const TransformerTraining& training) {
  if (!absl::GetFlag(FLAGS_text).empty() || !absl::GetFlag(FLAGS_valid).empty()) {
    return absl::InvalidArgumentError("--text and --valid need --task=lm");
  }
  std::cout << "generated sequences of six classes: guessing has an accuracy of 0.17\n";
  return TrainClassifier(MakeOrderedSequences(4000, training.seed),
                         MakeOrderedSequences(1000, training.seed + 1), network, training)
      .status();
}

absl::Status Run() {
  TransformerOptions network = {.width = absl::GetFlag(FLAGS_width),
                                .layers = absl::GetFlag(FLAGS_layers),
                                .heads = absl::GetFlag(FLAGS_heads),
                                .max_length = absl::GetFlag(FLAGS_max_length),
                                .dropout = absl::GetFlag(FLAGS_dropout)};
  const TransformerTraining training = {
      .num_epoch = absl::GetFlag(FLAGS_epochs),
      .batch_size = absl::GetFlag(FLAGS_batch_size),
      .learning_rate = absl::GetFlag(FLAGS_learning_rate),
      .warmup = absl::GetFlag(FLAGS_warmup),
      .seed = absl::GetFlag(FLAGS_seed),
      .progress = [](const std::string& line) { std::cout << line << std::endl; }};
  const std::string task = absl::GetFlag(FLAGS_task), positions = absl::GetFlag(FLAGS_positions);
  if (positions == "sinusoidal") {
    network.positions = Positions::kSinusoidal;
  } else if (positions != "learned") {
    return UnknownValue("positions", positions, "learned or sinusoidal");
  }
  if (task == "lm") return RunLanguageModel(network, training);
  if (task == "classify") return RunClassifier(network, training);
  return UnknownValue("task", task, "lm or classify");
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  cooper::InitLogging();
  absl::SetProgramUsageMessage("Trains a Transformer on sequences of any length.");
  const std::vector<char*> rest = absl::ParseCommandLine(argc, argv);
  const absl::Status status =
      rest.size() > 1
          ? absl::InvalidArgumentError(absl::StrCat("unexpected argument '", rest[1], "'"))
          : cooper::Run();
  if (status.ok()) return 0;
  std::cerr << "transformer: " << status.message() << std::endl;
  return 1;
}
