#include "examples/seq2seq/seq2seq.h"

#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

TEST(Seq2SeqTest, TranslatesSentencesItHasNotSeen) {
  COOPER_ASSERT_OK_AND_ASSIGN(auto model, TrainSeq2Seq(MakeSentencePairs(4000, 1), 10));
  COOPER_ASSERT_OK_AND_ASSIGN(const double accuracy,
                              TokenAccuracy(*model, MakeSentencePairs(500, 2)));
  EXPECT_GE(accuracy, 0.95);
}

}  // namespace
}  // namespace cooper
