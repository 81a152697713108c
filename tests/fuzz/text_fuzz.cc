// Fuzzes texts: sentences, vocabularies, bucket keys, and states of iterators. The first byte of
// the input selects the reader (text_seeds.cc).

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "glog/logging.h"
#include "io/batch/bucket_key.h"
#include "io/batch/key_values.h"
#include "io/text/encode_sentences.h"
#include "io/text/text_corpus.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/scratch_folder.h"

namespace cooper {
namespace {

constexpr size_t kMaxText = 2000;

std::string Write(const char* name, const std::string& text) {
  std::string path = ScratchFolder() + "/" + name;
  WriteUnsynced(path, text);
  return path;
}

void ReadWords(FuzzInput& input) {
  const bool end = input.OneIn(2), unknown = input.OneIn(2);
  const ReadSentencesOptions options = {.end_token = end ? "<eos>" : "",
                                        .max_sentences = input.Between(-1, 8)};
  const BuildVocabularyOptions vocabulary_options = {
      .invalid_label = static_cast<int>(input.Between(-1, 2)),
      .start_label = static_cast<int>(input.Between(0, 3)),
      .unknown_token = unknown ? "<unk>" : "",
      .min_count = input.Between(1, 2),
      .max_words = input.Between(-1, 3)};
  const std::string known = input.Text(kMaxText);  // a vocabulary's file
  const auto sentences = ReadSentences(Write("sentences", input.Rest()), options);
  if (!sentences.ok()) return;
  Vocabulary vocabulary = BuildVocabulary(*sentences, vocabulary_options);
  const std::string path = ScratchFolder() + "/vocabulary";
  CHECK(SaveVocabulary(path, vocabulary).ok());
  const auto again = LoadVocabulary(path);
  CHECK(again.ok() && *again == vocabulary) << again.status();
  if (!known.empty()) {
    const auto loaded = LoadVocabulary(Write("vocabulary", known));
    if (!loaded.ok()) return;
    vocabulary = *loaded;
  }
  const EncodeSentencesOptions encode = {.invalid_label = vocabulary_options.invalid_label,
                                         .start_label = vocabulary_options.start_label,
                                         .unknown_token = vocabulary_options.unknown_token};
  EncodeSentences(*sentences, vocabulary, encode).status().IgnoreError();
  EncodeSentences(*sentences, encode);
}

void ReadVocabulary(FuzzInput& input) {
  LoadVocabulary(Write("vocabulary", input.Rest())).status().IgnoreError();
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

// Checks that values are read back as they were set.
void WriteKeyValues(FuzzInput& input) {
  const auto number = static_cast<int64_t>(input.Below(~uint64_t{0}));
  const auto real = std::bit_cast<double>(number);
  const std::vector<int64_t> numbers(input.Below(4), number);
  const std::vector<double> reals(input.Below(4), real);
  const std::string text = input.Rest();
  KeyValues values;
  values.SetInt("int", number);
  values.SetUint("uint", static_cast<uint64_t>(number));
  values.SetDouble("double", real);
  values.SetString("string", text);
  values.SetInts("ints", numbers);
  values.SetDoubles("doubles", reals);
  const auto again = KeyValues::Parse(values.ToString());
  CHECK(again.ok() && *again == values) << values.ToString();
  CHECK(*again->GetInt("int") == number);
  CHECK(*again->GetUint("uint") == static_cast<uint64_t>(number));
  CHECK(*again->GetDouble("double") == real || std::isnan(real));
  CHECK(*again->GetString("string") == text);
  CHECK(*again->GetInts("ints") == numbers);
  CHECK(again->GetDoubles("doubles")->size() == reals.size());
  CHECK(again->Expect("string", text).ok() && !again->Expect("uint", "x").ok());
}

constexpr void (*kReaders[])(FuzzInput&) = {ReadWords, ReadVocabulary, ReadKey, ReadKeyValues,
                                            WriteKeyValues};

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  input.Pick(cooper::kReaders)(input);
  return 0;
}
