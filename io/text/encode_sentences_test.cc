#include "io/text/encode_sentences.h"

#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const std::vector<Sentence>& Text() {
  static const auto* const text = new std::vector<Sentence>{{"a", "b"}, {"b"}, {"c", "a"}};
  return *text;
}

TEST(EncodeSentencesTest, NumbersWordsInOrderOfAppearance) {
  const EncodedSentences encoded = EncodeSentences(Text());
  EXPECT_THAT(encoded.sentences, ElementsAre(ElementsAre(0, 1), ElementsAre(1), ElementsAre(2, 0)));
  EXPECT_THAT(encoded.vocabulary,
              UnorderedElementsAre(Pair("\n", -1), Pair("a", 0), Pair("b", 1), Pair("c", 2)));
}

TEST(EncodeSentencesTest, SkipsTheInvalidLabel) {
  const EncodedSentences encoded =
      EncodeSentences(Text(), {.invalid_label = 1, .invalid_key = "<pad>", .start_label = 0});
  EXPECT_THAT(encoded.sentences, ElementsAre(ElementsAre(0, 2), ElementsAre(2), ElementsAre(3, 0)));
  EXPECT_THAT(encoded.vocabulary,
              UnorderedElementsAre(Pair("<pad>", 1), Pair("a", 0), Pair("b", 2), Pair("c", 3)));
}

TEST(EncodeSentencesTest, ANewVocabularyHoldsTheUnknownToken) {
  const EncodedSentences encoded =
      EncodeSentences(Text(), {.invalid_label = 0, .start_label = 0, .unknown_token = "<unk>"});
  EXPECT_THAT(encoded.vocabulary, UnorderedElementsAre(Pair("\n", 0), Pair("<unk>", 1),
                                                       Pair("a", 2), Pair("b", 3), Pair("c", 4)));
}

TEST(EncodeSentencesTest, UnknownWordsAreErrorsWithoutAToken) {
  const Vocabulary vocabulary = {{"\n", 0}, {"a", 1}, {"b", 2}};
  EXPECT_THAT(EncodeSentences({{"b", "a"}}, vocabulary)->sentences, ElementsAre(ElementsAre(2, 1)));
  EXPECT_THAT(EncodeSentences(Text(), vocabulary),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("word 0 of sentence 2, 'c', is not in the vocabulary of 3")));
}

TEST(EncodeSentencesTest, EveryUnknownWordGetsTheTokensNumber) {
  const Vocabulary with = {{"\n", 0}, {"a", 1}, {"<unk>", 99}};
  COOPER_ASSERT_OK_AND_ASSIGN(const EncodedSentences encoded,
                              EncodeSentences(Text(), with, {.unknown_token = "<unk>"}));
  EXPECT_THAT(encoded.sentences,
              ElementsAre(ElementsAre(1, 99), ElementsAre(99), ElementsAre(99, 1)));
  EXPECT_EQ(encoded.vocabulary, with);

  const Vocabulary without = {{"\n", 0}, {"a", 1}};
  COOPER_ASSERT_OK_AND_ASSIGN(
      const EncodedSentences added,
      EncodeSentences(Text(), without, {.invalid_label = 2, .unknown_token = "<unk>"}));
  EXPECT_THAT(added.sentences, ElementsAre(ElementsAre(1, 3), ElementsAre(3), ElementsAre(3, 1)));
  EXPECT_EQ(added.vocabulary.at("<unk>"), 3);
}

TEST(EncodeSentencesTest, NumbersEndWithTheLargestInt) {
  constexpr int kLargest = std::numeric_limits<int>::max();
  const std::vector<Sentence> unknown(1, Sentence(1, "b"));
  const Vocabulary full = {{"a", kLargest}};
  EXPECT_THAT(EncodeSentences(unknown, full, {.unknown_token = "<unk>"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("no number is left for the unknown_token '<unk>'")));
  EXPECT_THAT(EncodeSentences(unknown, full, {.unknown_token = "a"})->sentences,
              ElementsAre(ElementsAre(kLargest)));
  const Vocabulary one_left = {{"a", kLargest - 1}};
  EXPECT_THAT(EncodeSentences(unknown, one_left, {.unknown_token = "<unk>"})->sentences,
              ElementsAre(ElementsAre(kLargest)));
  EXPECT_THAT(
      EncodeSentences(unknown, one_left, {.invalid_label = kLargest, .unknown_token = "<unk>"}),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no number is left")));
}

}  // namespace
}  // namespace cooper
