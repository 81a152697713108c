#include "examples/tagger/tagger.h"

#include <vector>

#include "gtest/gtest.h"
#include "ndarray/status_matchers.h"

namespace cooper {
namespace {

// In the order in which they came, though batches are of one bucket and shuffled.
TEST(TaggerTest, TagsSentencesItHasNotSeen) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, TrainTagger(MakeTaggedSentences(1000, 1), 8));
  const TaggedSentences test = MakeTaggedSentences(301, 2);
  COOPER_ASSERT_OK_AND_ASSIGN(const auto tags, TagSentences(*model, test));
  EXPECT_EQ(tags, test.tags);
}

}  // namespace
}  // namespace cooper
