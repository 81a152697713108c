// The C++ of io.md, run: check_snippets.sh holds them together.

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/bucket_sentence_iter.h"
#include "io/encode_sentences.h"
#include "io/text_corpus.h"
#include "ndarray/atomic_file.h"
#include "ndarray/status_macros.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

absl::Status ShowBatches(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<Sentence> words, ReadSentences(path));
  const EncodeSentencesOptions encoding{
      .invalid_label = 0, .start_label = 1, .unknown_token = "<unk>"};
  const EncodedSentences text = EncodeSentences(words, encoding);
  COOPER_ASSIGN_OR_RETURN(auto data, BucketSentenceIter::Create(
                                         text.sentences, /*batch_size=*/2,
                                         {.invalid_label = 0,
                                          .max_buckets = 2,
                                          .last_batch = BucketSentenceIterOptions::LastBatch::kPad,
                                          .seed = 7}));
  std::cout << data->report().ToString();
  COOPER_ASSIGN_OR_RETURN(std::optional<DataBatch> batch, data->Next());
  while (batch.has_value()) {
    std::cout << "bucket " << *batch->bucket_key << ", " << batch->pad << " rows of padding\n";
    COOPER_ASSIGN_OR_RETURN(batch, data->Next());
  }
  return data->Reset();  // the next epoch, in another order
}

// Batches of about 560 words, longest sentences first, of which the network gets the lengths.
absl::StatusOr<std::unique_ptr<BucketSentenceIter>> SortedBatches(
    const std::vector<std::vector<int>>& sentences) {
  return BucketSentenceIter::Create(sentences, /*batch_size=*/32,
                                    {.invalid_label = 0,
                                     .max_buckets = 10,
                                     .tokens_per_batch = 560,
                                     .length_name = "length",
                                     .sort_batches = 8});
}

TEST(IoPageTest, SortsBatches) {
  COOPER_ASSERT_OK_AND_ASSIGN(const auto data, SortedBatches({{1}, {1, 2, 3}, {1, 2}}));
  EXPECT_EQ(data->provide_data()[1].name, "length");
}

TEST(IoPageTest, ShowsBatches) {
  const std::string path = testing::TempDir() + "text";
  COOPER_ASSERT_OK(WriteFileAtomically(path,
                                       "speak , speak .\nhear me speak .\nwe know .\nmay not "
                                       "young men die too , as the old ?\n"));
  testing::internal::CaptureStdout();
  COOPER_ASSERT_OK(ShowBatches(path));
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, HasSubstr("bucket 4: 3 sentences, 2 batches of 2\n"
                              "bucket 11: 1 sentences, 1 batches of 2\n"));
}

}  // namespace
}  // namespace cooper
