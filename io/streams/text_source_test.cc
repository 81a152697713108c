#include "io/streams/text_source.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/streams/gzip_fixtures.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  COOPER_EXPECT_OK(WriteFileAtomically(path, bytes));
  return path;
}

const Vocabulary& Words() {
  static const auto* const words =
      new Vocabulary{{"\n", 0}, {"<unk>", 1}, {"a", 2}, {"b", 3}, {"<eos>", 4}};
  return *words;
}

absl::StatusOr<std::vector<std::vector<int>>> ReadAll(const std::string& path,
                                                      const TextSourceOptions& options) {
  const auto source = TextSource({path}, Words(), options);
  if (!source.ok()) return source.status();
  auto reader = (*source)->Open(0);
  if (!reader.ok()) return reader.status();
  std::vector<std::vector<int>> sentences;
  Sample sample;
  while (true) {
    const auto more = (*reader)->Next(&sample);
    if (!more.ok()) return more.status();
    if (!*more) return sentences;
    const auto* ids = reinterpret_cast<const int*>(sample.bytes(0).data());
    sentences.emplace_back(ids, ids + sample.bytes(0).size() / sizeof(int));
  }
}

TEST(TextSourceTest, EncodesLines) {
  const struct {
    const char* text;
    TextSourceOptions options;
    std::vector<std::vector<int>> sentences;
  } cases[] = {
      {"a b\nb\n", {}, {{2, 3}, {3}}},
      {"\xEF\xBB\xBF"
       "a\r\n\n \t\v\f\n  b  a",
       {},
       {{2}, {3, 2}}},
      {"a c b", {.unknown_token = "<unk>"}, {{2, 1, 3}}},
      {"a\n\nb", {.end_token = "<eos>"}, {{2, 4}, {3, 4}}},
      {"", {}, {}},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(ReadAll(Write("text.txt", c.text), c.options), IsOkAndHolds(c.sentences)) << c.text;
    EXPECT_THAT(ReadAll(Write("text.gz", Gzip(c.text)), c.options), IsOkAndHolds(c.sentences));
  }
}

TEST(TextSourceTest, NamesErrors) {
  const std::string path = Write("unknown.txt", "a\nb c\n");
  EXPECT_THAT(ReadAll(path, {}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("unknown.txt': the word 'c' of the line at byte 2 is not in the "
                                 "vocabulary of 5 words, and there is no unknown_token")));
  EXPECT_THAT(ReadAll(path, {.unknown_token = "?"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "TextSource: unknown_token '?' is not in the vocabulary of 5 words"));
  EXPECT_THAT(ReadAll(path, {.end_token = "."}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "TextSource: end_token '.' is not in the vocabulary of 5 words"));
  EXPECT_THAT(TextSource({}, Words()),
              StatusIs(absl::StatusCode::kInvalidArgument, "TextSource: there are no paths"));
}

TEST(TextSourceTest, GlobFindsPathsInOrder) {
  const std::string b = Write("glob-b.txt", "b"), a = Write("glob-a.txt", "a");
  const std::string other = Write("other.txt", "c");
  EXPECT_THAT(GlobPaths(absl::StrCat(other, ",", testing::TempDir(), "/glob-*.txt")),
              IsOkAndHolds(ElementsAre(other, testing::EndsWith("glob-a.txt"),
                                       testing::EndsWith("glob-b.txt"))));
  EXPECT_THAT(GlobPaths("/nowhere/*.txt"),
              StatusIs(absl::StatusCode::kNotFound, "no file matches '/nowhere/*.txt'"));
  EXPECT_THAT(GlobPaths(","), StatusIs(absl::StatusCode::kNotFound, "no path is given"));
}

}  // namespace
}  // namespace cooper
