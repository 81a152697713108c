#include "tools/buckets/sample_lengths.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/text/text_corpus.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Written(const std::string& text) {
  std::string path = ::testing::TempDir() + "lengths.txt";
  EXPECT_THAT(WriteFileAtomically(path, text), IsOk());
  return path;
}

TEST(SampleLengthsTest, CountsTheWordsOfEachLine) {
  const auto lengths = CountWords(Written("a b c\n\nd\n \t \n  e   f\n"));
  ASSERT_THAT(lengths, IsOk());
  EXPECT_THAT(lengths->first, ElementsAre(3, 1, 2));
  EXPECT_FALSE(lengths->pairs());
  EXPECT_EQ(lengths->empty, 2);
  EXPECT_EQ(lengths->tokens(), 6);
}

TEST(SampleLengthsTest, WordsAreThoseOfReadSentences) {
  const std::string path =
      Written(std::string("a\tb\r\n\vc\fd e\n\r\n<b>&\xff\xfe \0 \xc3\xa9\nlast", 30));
  const auto sentences = ReadSentences(path);
  const auto lengths = CountWords(path);
  ASSERT_THAT(sentences, IsOk());
  ASSERT_THAT(lengths, IsOk());
  std::vector<int64_t> expected;
  for (const Sentence& sentence : *sentences) {
    expected.push_back(static_cast<int64_t>(sentence.size()));
  }
  EXPECT_EQ(lengths->first, expected);
  EXPECT_THAT(lengths->first, ElementsAre(2, 3, 3, 1));
}

TEST(SampleLengthsTest, ReadsALengthPerLine) {
  const auto lengths = ReadLengths(Written("3\n\n 10 \r\n0\n1000000000"));
  ASSERT_THAT(lengths, IsOk());
  EXPECT_THAT(lengths->first, ElementsAre(3, 10, 1000000000));
  EXPECT_THAT(lengths->second, IsEmpty());
  EXPECT_EQ(lengths->empty, 1);
}

TEST(SampleLengthsTest, AByteOrderMarkIsNoWordAndNoLength) {
  const auto words = CountWords(Written("\uFEFF\na b\n"));
  ASSERT_THAT(words, IsOk());
  EXPECT_THAT(words->first, ElementsAre(2));
  const auto lengths = ReadLengths(Written("\uFEFF3\n5\n"));
  ASSERT_THAT(lengths, IsOk());
  EXPECT_THAT(lengths->first, ElementsAre(3, 5));
}

TEST(SampleLengthsTest, ReadsPairs) {
  const auto lengths = ReadLengths(Written("3 4\n10,12\n0\t0\n0 5\n"));
  ASSERT_THAT(lengths, IsOk());
  EXPECT_TRUE(lengths->pairs());
  EXPECT_THAT(lengths->first, ElementsAre(3, 10, 0));
  EXPECT_THAT(lengths->second, ElementsAre(4, 12, 5));
  EXPECT_EQ(lengths->empty, 1);
  EXPECT_EQ(lengths->tokens(), 34);
}

struct ErrorCase {
  std::string contents;
  std::string message;
};

TEST(SampleLengthsTest, NamesTheLineThatIsWrong) {
  for (const auto& [contents, message] : std::vector<ErrorCase>{
           {"", "there is no length above 0"},
           {"\n\n0\n", "there is no length above 0"},
           {"3\nfour\n", "line 2: 'four', expected lengths of 0 to 1000000000"},
           {"3\n-1\n", "line 2: '-1', expected lengths of 0"},
           {"1000000001\n", "line 1: '1000000001', expected lengths of 0 to 1000000000"},
           {"99999999999999999999\n", "expected lengths of 0"},
           {"3.5\n", "line 1: '3.5', expected lengths"},
           {"1 2\n3\n", "line 2: '3', expected two lengths"},
           {"1\n3 4\n", "line 2: '3 4', expected one length, as before"},
           {"1 2 3\n", "line 1: '1 2 3', expected two lengths"},
           {"\x1b[31m\n", "line 1: '\\033[31m', expected lengths"},
       }) {
    EXPECT_THAT(ReadLengths(Written(contents)),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)));
  }
}

TEST(SampleLengthsTest, RefusesSumsThatMightOverflow) {
  std::string text;
  for (int i = 0; i <= 500000; ++i) text += "1000000000 1000000000\n";
  EXPECT_THAT(ReadLengths(Written(text)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("add up to more than")));
}

TEST(SampleLengthsTest, TellsOfFilesThatSayNothing) {
  EXPECT_THAT(CountWords(Written("")),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("no line has a word")));
  EXPECT_THAT(CountWords("no/such.txt"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no/such.txt")));
  EXPECT_THAT(ReadLengths("no/such.txt"),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("no/such.txt")));
}

}  // namespace
}  // namespace cooper
