#include "ndarray/base/file_kind.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

template <size_t kSize>
std::string Bytes(const char (&literal)[kSize]) {
  return std::string(literal, kSize - 1);
}

// Binary formats are recognised for every expected kind.
TEST(FileKindTest, RecognisesFormats) {
  const struct {
    std::string bytes;
    const char* what;
  } cases[] = {
      {absl::StrCat("version https://git-lfs.github.com/spec/v1\noid sha256:", std::string(64, 'a'),
                    "\nsize 43661\n"),
       "a Git LFS pointer that stands for a file of 43661 bytes; fetch the file itself with "
       "`git lfs pull`"},
      {"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer; fetch the file"},
      {Bytes("PK\3\4\x14\0"), "a zip archive (as PyTorch's .pt and NumPy's .npz are)"},
      {Bytes("\x1F\x8B\x08\0"), "compressed with gzip; unpack it with gunzip"},
      {Bytes("BZh91AY&SY\x12"), "compressed with bzip2"},
      {Bytes("\xFD"
             "7zXZ\0\0\4"),
       "compressed with xz"},
      {Bytes("\x28\xB5\x2F\xFD\x24"), "compressed with Zstandard"},
      {Bytes("7z\xBC\xAF\x27\x1C\0"), "a 7z archive"},
      {std::string(256, 'n') + Bytes("\0ustar\0"), "a tar archive"},
      // pickle.dumps({0: None}, protocol) with protocols 0 to 4.
      {Bytes("(dp0\nI0\nNs."), "a Python pickle"},
      {Bytes("}q\0K\0Ns."), "a Python pickle"},
      {Bytes("\x80\2}q\0K\0Ns."), "a Python pickle (as MXNet's optimizer .states"},
      {Bytes("\x80\3}q\0K\0Ns."), "LoadOptimizerStates reads MXNet's optimizer states"},
      {Bytes("\x80\4\x95\7\0\0\0\0\0\0\0}\x94K\0Ns."), "a Python pickle"},
      {Bytes("\x89HDF\r\n\x1A\n\0\0"), "HDF5 (as Keras' .h5 is); save the arrays"},
      {Bytes("\x93NUMPY\1\0v\0"), "a NumPy array (.npy)"},
      {Bytes("\x08\6\x12\7pytorch\x1A"), "an ONNX model; import it in MXNet"},
      {Bytes("\x08\7:\x10\n\6"), "an ONNX model"},
      {Bytes("\x40\0\0\0\0\0\0\0{\"w\":"), "a safetensors file"},
      {std::string(4096, '\0'), "all zeros at its beginning; the copy or download was cut off"},
  };
  for (const auto& c : cases) {
    for (const FileKind expected :
         {FileKind::kParams, FileKind::kSymbol, FileKind::kRecords, FileKind::kText}) {
      EXPECT_THAT(DescribeForeignFile(c.bytes, expected), StartsWith(": the file is "));
      EXPECT_THAT(DescribeForeignFile(c.bytes, expected), HasSubstr(c.what));
    }
  }
}

TEST(FileKindTest, RecognisesTextWhereNoTextIsExpected) {
  const struct {
    std::string bytes;
    const char* what;
  } cases[] = {
      {"", "empty; the copy or download was cut off: get the file again"},
      {"\n <!DOCTYPE html><html>", "a web page (HTML), as servers send one in place of a file"},
      {"<HTML><head>", "a web page"},
      {"\xEF\xBB\xBF<html>", "a web page"},
      {"<?xml version=\"1.0\"?><Error><Code>AccessDenied", "XML, as servers send it for an error"},
      {"404: Not Found", "text that begins with '404: Not Found'"},
      {std::string(500, 'x') + "\n",
       "text that begins with 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'"},
      {"Zugriff verweigert: \xC3\xBC\nzweite Zeile",
       "begins with 'Zugriff verweigert: \\xc3\\xbc'"},
  };
  for (const auto& c : cases) {
    for (const FileKind expected : {FileKind::kParams, FileKind::kSymbol, FileKind::kRecords}) {
      EXPECT_THAT(DescribeForeignFile(c.bytes, expected), HasSubstr(c.what));
    }
    EXPECT_THAT(DescribeForeignFile(c.bytes, FileKind::kText), IsEmpty()) << c.what;
  }
}

TEST(FileKindTest, RecognisesAFileInAnotherOnesPlace) {
  const struct {
    FileKind kind;
    std::string bytes;
    const char* what;
  } cases[] = {
      {FileKind::kParams, Bytes("\x12\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
       "a list of arrays (.params); are two paths swapped?"},
      {FileKind::kSymbol, "{\n  \"nodes\": [", "JSON, as symbol files (-symbol.json) are"},
      {FileKind::kRecords, Bytes("\x0A\x23\xD7\xCE\1\0\0\0"), "a RecordIO file (.rec)"},
      {FileKind::kNpy, Bytes("\x93NUMPY\1\0v\0"),
       "a NumPy array (.npy); LoadNpy (ndarray/files/npy_file.h) reads it, and //tools:arrays "
       "converts it to .params"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(DescribeForeignFile(c.bytes, c.kind), IsEmpty());
    for (const FileKind expected : {FileKind::kParams, FileKind::kSymbol, FileKind::kRecords,
                                    FileKind::kNpy, FileKind::kNpz}) {
      if (expected == c.kind) continue;
      EXPECT_THAT(DescribeForeignFile(c.bytes, expected), HasSubstr(c.what));
    }
  }
}

// Text that is in none of the recognised formats gets no description: the reader's own message says
// more.
TEST(FileKindTest, LeavesOthersToTheReader) {
  for (const std::string& bytes :
       {Bytes("\1"), Bytes("\x12\1"), Bytes("\x13\1\0\0\0\0\0\0"), Bytes(" \n "), Bytes("\x80"),
        Bytes("\x08\6"), Bytes("\xFF\xFE{\0")}) {
    EXPECT_THAT(DescribeForeignFile(bytes, FileKind::kParams), IsEmpty());
  }
  EXPECT_THAT(DescribeForeignFile("[1, 2]", FileKind::kSymbol), IsEmpty());
}

}  // namespace
}  // namespace cooper
