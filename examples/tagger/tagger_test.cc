#include "examples/tagger/tagger.h"

#include <cstddef>
#include <vector>

#include "gtest/gtest.h"
#include "io/batch/bucket_key.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

// The tags come in the order of the sentences, although batches are from one bucket and shuffled.
TEST(TaggerTest, TagsSentencesItHasNotSeen) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, TrainTagger(MakeTaggedSentences(1000, 1), 8));
  const TaggedSentences test = MakeTaggedSentences(301, 2);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto tags, TagSentences(*model, test));
  EXPECT_EQ(tags, test.tags);
}

// The buckets fit the sentences at any length, without padding where there are few lengths.
TEST(TaggerTest, ChoosesItsBuckets) {
  TaggedSentences sentences;
  for (const size_t length : {2, 40, 9, 2, 9}) {
    sentences.words.emplace_back(length, 1);
    sentences.tags.emplace_back(length, 0);
  }
  COOPER_ASSERT_OK_AND_ASSIGN(const auto batches, TaggerBatches(sentences, /*seed=*/1));
  EXPECT_EQ(batches->bucket_keys(), (std::vector<BucketKey>{2, 9, 40}));
  EXPECT_EQ(batches->report().served, 5);
  EXPECT_EQ(batches->report().padded_tokens, batches->report().tokens);
}

}  // namespace
}  // namespace cooper
