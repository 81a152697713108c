#include "io/streams/shard_vocabulary.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/streams/gzip_fixtures.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;

TEST(ShardVocabularyTest, CountsTheWordsOfAllFiles) {
  const std::string plain = absl::StrCat(testing::TempDir(), "/words.txt");
  const std::string compressed = absl::StrCat(testing::TempDir(), "/words.gz");
  COOPER_ASSERT_OK(WriteFileAtomically(plain, "b a\n\n b c <unk>"));
  COOPER_ASSERT_OK(WriteFileAtomically(compressed, Gzip("c\tb d\r\n")));
  EXPECT_THAT(BuildShardVocabulary(
                  {plain, compressed},
                  {.invalid_label = 0, .start_label = 1, .unknown_token = "<unk>", .max_words = 3}),
              IsOkAndHolds(Vocabulary{{"\n", 0}, {"<unk>", 1}, {"b", 2}, {"c", 3}, {"a", 4}}));
}

TEST(ShardVocabularyTest, NamesErrors) {
  const std::string empty = absl::StrCat(testing::TempDir(), "/empty.txt");
  COOPER_ASSERT_OK(WriteFileAtomically(empty, "\n \n"));
  EXPECT_THAT(BuildShardVocabulary({empty}),
              StatusIs(absl::StatusCode::kInvalidArgument, "none of 1 files has a word"));
  EXPECT_THAT(BuildShardVocabulary({"/nowhere/a.txt"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/a.txt")));
}

}  // namespace
}  // namespace cooper
