#include "io/streams/line_reader.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "io/iterators/byte_stream.h"
#include "io/streams/gzip_fixtures.h"
#include "io/streams/zstd_fixtures.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/random/random.h"
#include "ndarray/random/random_cases.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Write(const std::string& name, const std::string& bytes) {
  const std::string path = absl::StrCat(testing::TempDir(), "/", name);
  COOPER_EXPECT_OK(WriteFileAtomically(path, bytes));
  return path;
}

// Reads all lines of a file.
absl::StatusOr<std::vector<std::string>> Lines(const std::string& path,
                                               int64_t max_line_bytes = 1 << 20) {
  absl::StatusOr<LineReader> reader = LineReader::Open(path, max_line_bytes);
  if (!reader.ok()) return reader.status();
  std::vector<std::string> lines;
  while (true) {
    absl::string_view line;
    const absl::StatusOr<bool> more = reader->Next(&line);
    if (!more.ok()) return more.status();
    if (!*more) return lines;
    lines.emplace_back(line);
  }
}

TEST(LineReaderTest, SplitsPlainAndCompressedFiles) {
  const struct {
    const char* what;
    std::string text;
    std::vector<std::string> lines;
  } cases[] = {
      {"an empty file", "", {}},
      {"a last line break", "a b\nc\n", {"a b", "c"}},
      {"no last line break", "a\nb", {"a", "b"}},
      {"empty lines", "\n\na\n\n", {"", "", "a", ""}},
      {"a byte order mark",
       "\xEF\xBB\xBF"
       "a\n\xEF\xBB\xBF"
       "b",
       {"a",
        "\xEF\xBB\xBF"
        "b"}},
      {"a long line", std::string(1 << 19, 'x') + "\ny", {std::string(1 << 19, 'x'), "y"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.what);
    EXPECT_THAT(Lines(Write("lines.txt", c.text)), IsOkAndHolds(c.lines));
    EXPECT_THAT(Lines(Write("lines.txt.gz", Gzip(c.text))), IsOkAndHolds(c.lines));
    if (kHasZstd) {
      EXPECT_THAT(Lines(Write("lines.txt.zst", Zstd(c.text))), IsOkAndHolds(c.lines));
    }
  }
}

TEST(LineReaderTest, ReadsAllMembersOfACompressedFile) {
  const std::string bytes = Gzip("a\nb") + Gzip("") + Gzip("c\nd\n") + std::string(700, '\0');
  EXPECT_THAT(Lines(Write("members.gz", bytes)), IsOkAndHolds(ElementsAre("a", "bc", "d")));
}

TEST(LineReaderTest, ReadsAllFramesOfZstd) {
  if (!kHasZstd) GTEST_SKIP() << "SKIPPED: built without libzstd";
  // A frame to skip, as parallel compressors write it.
  const std::string skipped("\x5e\x2a\x4d\x18\x02\x00\x00\x00xy", 10);
  const std::string bytes = skipped + Zstd("a\nb") + Zstd("") + skipped + Zstd("c\nd\n");
  EXPECT_THAT(Lines(Write("frames.zst", bytes)), IsOkAndHolds(ElementsAre("a", "bc", "d")));
}

TEST(LineReaderTest, RefusesZstdThatIsDamaged) {
  const std::string frame("\x28\xb5\x2f\xfd", 4);
  if (!kHasZstd) {
    EXPECT_THAT(Lines(Write("any.zst", frame)),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("install libzstd-dev")));
    GTEST_SKIP() << "SKIPPED: built without libzstd";
  }
  const std::string text = "one two\nthree\n" + std::string(1 << 18, 'x');
  const std::string whole = Zstd(text);
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(Lines(Write("cut.zst", whole.substr(0, size))),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut.zst")))
        << size << " bytes";
  }
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    const auto lines = Lines(Write("bit.zst", bytes));
    if (lines.ok()) {
      EXPECT_THAT(*lines, ElementsAre("one two", "three", std::string(1 << 18, 'x')));
    }
  }
  // A frame that claims a window of 16 MiB.
  EXPECT_THAT(Lines(Write("window.zst", frame + std::string("\x00\x70\x01\x00\x00", 5))),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("window.zst': the compressed data is damaged (Frame requires")));
  // A frame that claims 33,227 bytes and has none, read at once and in short pieces.
  const std::string path =
      Write("size.zst", frame + std::string("\x70\xcb\x80\x01\x00\x00\x00\x00\x00", 9));
  for (const int64_t step : {1, 10, 1 << 16}) {
    COOPER_ASSERT_OK_AND_ASSIGN(const auto stream, ByteStream::Open(path));
    std::string block(step, ' ');
    EXPECT_THAT(stream->Read(block.data(), step),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is damaged")))
        << step;
  }
}

TEST(LineReaderTest, RefusesDamagedFiles) {
  std::string flipped = Gzip("some words of a text\n");
  flipped[flipped.size() - 6] ^= 1;  // in the checksum
  const struct {
    std::string path;
    absl::StatusCode code;
    std::string message;
  } cases[] = {
      {"/nowhere/a.txt", absl::StatusCode::kNotFound,
       "cannot open '/nowhere/a.txt': No such file or directory"},
      {testing::TempDir(), absl::StatusCode::kInvalidArgument, "Is a directory"},
      {Write("plain.gz", "a b\n"), absl::StatusCode::kInvalidArgument,
       "plain.gz' is not compressed with gzip, but its name ends in .gz"},
      {Write("plain.zst", "a b\n"), absl::StatusCode::kInvalidArgument,
       "plain.zst' is not compressed with zstd, but its name ends in .zst"},
      {Write("behind.gz", Gzip("a\n") + "b\n"), absl::StatusCode::kInvalidArgument,
       "behind.gz': the compressed data is damaged (incorrect header check) at byte"},
      {Write("flipped.gz", flipped), absl::StatusCode::kInvalidArgument,
       "flipped.gz': the compressed data is damaged (incorrect data check) at byte"},
      {Write("long.txt", std::string("ab\n") + std::string(2000, 'x')),
       absl::StatusCode::kInvalidArgument,
       "long.txt': the line at byte 3 has more than 1000 bytes (max_line_bytes)"},
      {Write("pointer.txt", "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 3\n"),
       absl::StatusCode::kInvalidArgument, "pointer.txt' as text: the file is a Git LFS pointer"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(Lines(c.path, 1000), StatusIs(c.code, HasSubstr(c.message))) << c.path;
  }
}

TEST(LineReaderTest, RefusesACompressedFileThatIsCutAnywhere) {
  const std::string whole = Gzip("one two\nthree\n");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(Lines(Write("cut.gz", whole.substr(0, size))),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut.gz")))
        << size << " bytes";
  }
}

TEST(LineReaderTest, AFlippedBitIsAnErrorOrNotInTheText) {
  const std::string text = "one two\nthree\n";
  const std::string whole = Gzip(text);
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    // Without the name's ending a damaged magic number makes it a plain text.
    const auto lines = Lines(Write("bit.gz", bytes));
    if (!lines.ok()) continue;
    EXPECT_THAT(*lines, ElementsAre("one two", "three")) << "bit " << bit;
  }
}

TEST(LineReaderTest, ReturnsToOffsets) {
  ForRandomCases(20, [](RandomGenerator& random) {
    std::string text;
    std::vector<int64_t> offsets;
    std::vector<std::string> lines;
    for (uint64_t i = 0, n = 1 + random.NextBelow(300); i < n; ++i) {
      offsets.push_back(std::ssize(text));
      lines.push_back(absl::StrCat(i, std::string(random.NextBelow(5000), 'x')));
      absl::StrAppend(&text, lines.back(), "\n");
    }
    const std::string paths[] = {Write("seek.txt", text), Write("seek.gz", Gzip(text)),
                                 Write("seek.zst", Zstd(text))};
    const std::string path = paths[random.NextBelow(kHasZstd ? 3 : 2)];
    COOPER_ASSERT_OK_AND_ASSIGN(LineReader reader, LineReader::Open(path, 1 << 20));
    for (int k = 0; k < 20; ++k) {
      size_t i = random.NextBelow(lines.size());
      COOPER_ASSERT_OK(reader.SeekTo(offsets[i]));
      absl::string_view line;
      for (; i < lines.size() && random.NextBelow(4) > 0; ++i) {
        ASSERT_EQ(reader.offset(), offsets[i]);
        ASSERT_THAT(reader.Next(&line), IsOkAndHolds(true));
        ASSERT_EQ(line, lines[i]);
      }
    }
    EXPECT_THAT(reader.SeekTo(-1),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cannot move to byte -1")));
    EXPECT_THAT(reader.SeekTo(std::ssize(text) + 1),
                StatusIs(absl::StatusCode::kOutOfRange, HasSubstr("has it changed?")));
  });
}

}  // namespace
}  // namespace cooper
