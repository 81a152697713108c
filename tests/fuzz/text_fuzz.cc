// Texts: CSV files, sentences, vocabularies, bucket keys, and what iterators save. The input's
// first byte says which.

#include <cstddef>
#include <cstdint>
#include <string>

#include "glog/logging.h"
#include "io/bucket_key.h"
#include "io/csv_iter.h"
#include "io/encode_sentences.h"
#include "io/key_values.h"
#include "io/text_corpus.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/scratch_folder.h"

namespace cooper {
namespace {

std::string WriteInput(const std::string& text) {
  const std::string path = ScratchFolder() + "/text";
  WriteUnsynced(path, text);
  return path;
}

void ReadCsv(FuzzInput& input) {
  const Shape kShapes[] = {Shape{1}, Shape{2}, Shape{3}, Shape{2, 2}, Shape{0}, Shape{}};
  constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kUint8};
  CsvIterOptions options = {.data_shape = input.Pick(kShapes),
                            .batch_size = input.Between(1, 9),
                            .round_batch = input.OneIn(2),
                            .dtype = input.Pick(kTypes)};
  const bool labels = input.OneIn(2);
  if (labels) options.label_shape = input.Pick(kShapes);
  const std::string text = input.Rest();
  options.data_csv = WriteInput(text);
  if (labels) options.label_csv = options.data_csv;
  const auto iter = CsvIter::Create(options);
  if (!iter.ok()) return;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int i = 0; i < 50; ++i) {
      const auto batch = (*iter)->Next();
      if (!batch.ok() || !batch->has_value()) break;
    }
    (*iter)->Reset().IgnoreError();
  }
  const auto state = (*iter)->SaveState();
  CHECK(state.ok() && (*iter)->LoadState(*state).ok());
  (*iter)->LoadState(text).IgnoreError();
  (*iter)->Next().status().IgnoreError();
}

void ReadWords(FuzzInput& input) {
  const bool end = input.OneIn(2), unknown = input.OneIn(2);
  const ReadSentencesOptions options = {.end_token = end ? "<eos>" : "",
                                        .max_sentences = input.Between(0, 9)};
  const BuildVocabularyOptions vocabulary_options = {
      .invalid_label = static_cast<int>(input.Between(-1, 0)),
      .start_label = static_cast<int>(input.Between(0, 3)),
      .unknown_token = unknown ? "<unk>" : "",
      .min_count = input.Between(1, 2)};
  const auto sentences = ReadSentences(WriteInput(input.Rest()), options);
  if (!sentences.ok()) return;
  const Vocabulary vocabulary = BuildVocabulary(*sentences, vocabulary_options);
  const std::string path = ScratchFolder() + "/vocabulary";
  CHECK(SaveVocabulary(path, vocabulary).ok());
  const auto again = LoadVocabulary(path);
  CHECK(again.ok() && *again == vocabulary) << again.status();
  EncodeSentences(*sentences, vocabulary, {.unknown_token = unknown ? "<unk>" : ""})
      .status()
      .IgnoreError();
  EncodeSentences(*sentences);
}

void ReadVocabulary(FuzzInput& input) {
  LoadVocabulary(WriteInput(input.Rest())).status().IgnoreError();
}

void ReadKey(FuzzInput& input) {
  const auto key = BucketKey::Parse(input.Rest());
  if (!key.ok()) return;
  const auto again = BucketKey::Parse(key->ToString());
  CHECK(again.ok() && *again == *key) << key->ToString();
}

void ReadKeyValues(FuzzInput& input) {
  const auto values = KeyValues::Parse(input.Rest());
  if (!values.ok()) return;
  for (const char* key : {"a", "b", "kind", "count"}) {
    values->GetInt(key).status().IgnoreError();
    values->GetUint(key).status().IgnoreError();
    values->GetDouble(key).status().IgnoreError();
    values->GetString(key).status().IgnoreError();
    values->GetInts(key).status().IgnoreError();
    values->GetDoubles(key).status().IgnoreError();
  }
  const auto again = KeyValues::Parse(values->ToString());
  CHECK(again.ok() && *again == *values);
}

constexpr void (*kReaders[])(FuzzInput&) = {ReadCsv, ReadWords, ReadVocabulary, ReadKey,
                                            ReadKeyValues};

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  input.Pick(cooper::kReaders)(input);
  return 0;
}
