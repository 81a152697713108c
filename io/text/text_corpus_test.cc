#include "io/text/text_corpus.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::string Write(const std::string& name, const std::string& text) {
  std::string path = ::testing::TempDir() + "/" + name;
  EXPECT_THAT(WriteFileAtomically(path, text), IsOk());
  return path;
}

TEST(ReadSentencesTest, SplitsLinesIntoWords) {
  const std::string path = Write("text_corpus_test.txt", "to be  or\tnot\r\n\n   \nto be");
  EXPECT_THAT(ReadSentences(path), IsOkAndHolds(ElementsAre(ElementsAre("to", "be", "or", "not"),
                                                            ElementsAre("to", "be"))));
  EXPECT_THAT(ReadSentences(path, {.end_token = "<eos>", .max_sentences = 1}),
              IsOkAndHolds(ElementsAre(ElementsAre("to", "be", "or", "not", "<eos>"))));
}

TEST(ReadSentencesTest, AByteOrderMarkIsNoPartOfAWord) {
  EXPECT_THAT(ReadSentences(Write("text_corpus_test.bom", "\uFEFFto be\nto \uFEFF\n")),
              IsOkAndHolds(ElementsAre(ElementsAre("to", "be"), ElementsAre("to", "\uFEFF"))));
}

TEST(ReadSentencesTest, NamesTheFileThatIsNotThere) {
  EXPECT_THAT(ReadSentences("/no/such/file"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/no/such/file")));
}

TEST(BuildVocabularyTest, NumbersByFrequency) {
  const Sentence text = {"b", "a", "c", "c", "a", "c", "d"};
  EXPECT_THAT(
      BuildVocabulary({text}),
      UnorderedElementsAre(Pair("\n", -1), Pair("c", 0), Pair("a", 1), Pair("b", 2), Pair("d", 3)));
  EXPECT_THAT(
      BuildVocabulary(
          {text},
          {.invalid_label = 1, .invalid_key = "<pad>", .unknown_token = "<unk>", .min_count = 2}),
      UnorderedElementsAre(Pair("<pad>", 1), Pair("<unk>", 0), Pair("c", 2), Pair("a", 3)));
  EXPECT_THAT(BuildVocabulary({text}, {.start_label = 1, .max_words = 1}),
              UnorderedElementsAre(Pair("\n", -1), Pair("c", 1)));
}

TEST(VocabularyFileTest, ComesBack) {
  const Vocabulary vocabulary = {{"\n", 0}, {"a b", 1}, {"\\", 2}, {"", 3}, {"é", 4}};
  const std::string path = ::testing::TempDir() + "/text_corpus_test.vocab";
  COOPER_ASSERT_OK(SaveVocabulary(path, vocabulary));
  EXPECT_THAT(ReadFile(path), IsOkAndHolds("0 \\n\n1 a b\n2 \\\\\n3 \n4 é\n"));
  EXPECT_THAT(LoadVocabulary(path), IsOkAndHolds(vocabulary));
}

TEST(VocabularyFileTest, TakesLineEndsOfWindows) {
  EXPECT_THAT(LoadVocabulary(Write("text_corpus_test.crlf", "\uFEFF0 a\r\n1 b\r\n")),
              IsOkAndHolds(Vocabulary{{"a", 0}, {"b", 1}}));
}

TEST(VocabularyFileTest, NamesTheBadLine) {
  for (const char* text : {"0 a\nx b\n", "0 a\n1\n", "0 a\n1 a\n", "0 a\n1 \\\n"}) {
    EXPECT_THAT(LoadVocabulary(Write("text_corpus_test.bad", text)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 2")))
        << text;
  }
}

}  // namespace
}  // namespace cooper
