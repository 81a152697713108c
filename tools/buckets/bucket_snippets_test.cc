#include "tools/buckets/bucket_snippets.h"

#include "gtest/gtest.h"

namespace cooper {
namespace {

const BucketComparison& Single() {
  static const auto* comparison = new BucketComparison{.rows = {{.bucket = {4}}, {.bucket = {11}}}};
  return *comparison;
}

const BucketComparison& Pairs() {
  static const auto* comparison =
      new BucketComparison{.rows = {{.bucket = {4, 5}}, {.bucket = {8, 10}}}};
  return *comparison;
}

TEST(BucketSnippetsTest, NamesBuckets) {
  EXPECT_EQ(BucketText({11}), "11");
  EXPECT_EQ(BucketText({8, 10}), "(8, 10)");
}

TEST(BucketSnippetsTest, FlagsAreThoseOfTheLanguageModel) {
  EXPECT_EQ(BucketFlags(Single(), {}), "--buckets=4,11");
  EXPECT_EQ(BucketFlags(Single(), {.batch_size = 32}), "--buckets=4,11 --batch_size=32");
  EXPECT_EQ(BucketFlags(Pairs(), {}), "");
}

TEST(BucketSnippetsTest, CodeMakesTheIterator) {
  EXPECT_EQ(BucketCode(Single(), {.batch_size = 32}),
            "BucketSentenceIter::Create(sentences, 32, {.buckets = {4, 11}, .invalid_label = 0})");
  EXPECT_EQ(BucketCode(Pairs(), {}),
            "BucketIter::Create(data, labels, {.batch_size = batch_size, "
            ".buckets = {{4, 5}, {8, 10}}})");
}

TEST(BucketSnippetsTest, CodeCutsOrSplitsWhereThatWasCounted) {
  BucketComparison comparison = Single();
  comparison.truncated = 3;
  EXPECT_EQ(BucketCode(comparison, {.batch_size = 8}),
            "BucketSentenceIter::Create(sentences, 8, {.buckets = {4, 11}, "
            ".invalid_label = 0, .too_long = BucketSentenceIterOptions::TooLong::kTruncate})");
  comparison.truncated = 0;
  comparison.split = 3;
  EXPECT_EQ(BucketCode(comparison, {.batch_size = 8}),
            "BucketSentenceIter::Create(sentences, 8, {.buckets = {4, 11}, "
            ".invalid_label = 0, .too_long = BucketSentenceIterOptions::TooLong::kSplit})");
}

}  // namespace
}  // namespace cooper
