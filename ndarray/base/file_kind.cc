#include "ndarray/base/file_kind.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace cooper {
namespace {

constexpr size_t kLookedAt = 600;
constexpr size_t kQuoted = 40;  // bytes of a text that a message shows

constexpr char kArrays[] =
    "save the arrays as a dictionary with mx.nd.save, or with SaveNamedArrays "
    "(ndarray/files/params_file.h)";
constexpr char kCutOff[] = "the copy or download was cut off: get the file again";
constexpr char kDownloadAgain[] = "download the file itself (its raw contents)";
constexpr char kUnpack[] = "unpack it, and give the path of the file that was in it";

// "version https://git-lfs.github.com/spec/v1\noid sha256:...\nsize 43661\n"
constexpr char kLfsBegin[] = "version https://git-lfs.github.com/spec/";

std::string LfsPointer(absl::string_view bytes) {
  std::string text = "a Git LFS pointer";
  const size_t at = bytes.find("\nsize ");
  uint64_t size = 0;
  if (at != absl::string_view::npos) {
    const absl::string_view line = bytes.substr(at + 6);
    if (absl::SimpleAtoi(line.substr(0, line.find('\n')), &size)) {
      absl::StrAppend(&text, " that stands for a file of ", size, " bytes");
    }
  }
  return absl::StrCat(text, "; fetch the file itself with `git lfs pull`");
}

struct Signature {
  absl::string_view bytes;
  size_t offset;
  const char* what;
  const char* advice;
};

using absl::string_view;

constexpr Signature kBinary[] = {
    {string_view("PK\x03\x04", 4), 0, "a zip archive (as PyTorch's .pt and NumPy's .npz are)",
     "unpack it if the file is in it; LoadNpz (ndarray/files/npz_file.h) reads .npz, and "
     "//tools:arrays converts it to .params"},
    {string_view("\x1F\x8B", 2), 0, "compressed with gzip", "unpack it with gunzip or tar -xzf"},
    {string_view("1AY&SY", 6), 4, "compressed with bzip2", "unpack it with bunzip2 or tar -xjf"},
    {string_view("\xFD"
                 "7zXZ\x00",
                 6),
     0, "compressed with xz", "unpack it with unxz or tar -xJf"},
    {string_view("\x28\xB5\x2F\xFD", 4), 0, "compressed with Zstandard", "unpack it with unzstd"},
    {string_view("7z\xBC\xAF\x27\x1C", 6), 0, "a 7z archive", kUnpack},
    {string_view("\0ustar", 6), 256, "a tar archive", kUnpack},
    {string_view("\x89HDF\r\n\x1A\n", 8), 0, "HDF5 (as Keras' .h5 is)", kArrays},
};

constexpr char kSwapped[] = "are two paths swapped?";

// Describes a file of a format that cooper reads and that was passed in place of another one.
constexpr struct {
  FileKind kind;
  absl::string_view bytes;
  const char* what;
  const char* advice;
} kOwn[] = {
    {FileKind::kParams, string_view("\x12\x01\0\0\0\0\0\0", 8), "a list of arrays (.params)",
     kSwapped},
    {FileKind::kRecords, string_view("\x0A\x23\xD7\xCE", 4), "a RecordIO file (.rec)", kSwapped},
    {FileKind::kNpy, string_view("\x93NUMPY", 6), "a NumPy array (.npy)",
     "LoadNpy (ndarray/files/npy_file.h) reads it, and //tools:arrays converts it to .params"},
};

bool IsPickle(absl::string_view bytes) {
  if (bytes.size() < 3) return false;
  const auto second = static_cast<unsigned char>(bytes[1]);
  // Protocols 2 to 5 begin with their number, protocol 1 with a numbered dictionary or list,
  // protocol 0 with a mark: "(dp0\n".
  if (bytes[0] == '\x80') return second >= 2 && second <= 5;
  if ((bytes[0] == '}' || bytes[0] == ']') && second == 'q') return bytes[2] < ' ';
  return (absl::StartsWith(bytes, "(dp") || absl::StartsWith(bytes, "(lp")) && bytes.size() > 3 &&
         absl::ascii_isdigit(static_cast<unsigned char>(bytes[3]));
}

// Returns whether the bytes are a protocol buffer whose first field is ir_version and whose second
// is another field of ModelProto.
bool IsOnnx(absl::string_view bytes) {
  constexpr absl::string_view kFields = "\x12\x1A\x22\x28\x32\x3A\x42";  // producer_name, ...
  return bytes.size() >= 3 && bytes[0] == '\x08' && bytes[1] > 0 && bytes[1] <= 32 &&
         absl::StrContains(kFields, bytes[2]);
}

// Recognises safetensors: a uint64 length of a JSON text, and the text.
bool IsSafetensors(absl::string_view bytes) {
  return bytes.size() > 9 && bytes[8] == '{' && bytes.substr(5, 3) == string_view("\0\0\0", 3);
}

bool IsText(absl::string_view bytes) {
  return absl::c_all_of(bytes,
                        [](unsigned char c) { return c >= ' ' || (c >= '\t' && c <= '\r'); }) &&
         absl::c_any_of(bytes, [](unsigned char c) { return absl::ascii_isalnum(c); });
}

std::string Sentence(absl::string_view what, absl::string_view advice) {
  return absl::StrCat(what, "; ", advice);
}

// Describes binary formats; `bytes` is not empty.
std::string DescribeBinary(absl::string_view bytes) {
  if (absl::StartsWith(bytes, kLfsBegin)) return LfsPointer(bytes);
  for (const Signature& signature : kBinary) {
    if (bytes.size() < signature.offset + signature.bytes.size()) continue;
    if (bytes.substr(signature.offset, signature.bytes.size()) == signature.bytes) {
      return Sentence(signature.what, signature.advice);
    }
  }
  if (IsPickle(bytes)) {
    return Sentence("a Python pickle (as MXNet's optimizer .states and PyTorch's .pth are)",
                    "LoadOptimizerStates reads MXNet's optimizer states; other pickles are not "
                    "read: save arrays "
                    "as a dictionary with mx.nd.save");
  }
  if (IsOnnx(bytes)) {
    return Sentence("an ONNX model",
                    "import it in MXNet (mx.contrib.onnx) and save it there as a checkpoint");
  }
  if (IsSafetensors(bytes)) return Sentence("a safetensors file", kArrays);
  if (bytes.size() >= 8 && absl::c_all_of(bytes, [](char c) { return c == 0; })) {
    return Sentence("all zeros at its beginning", kCutOff);
  }
  return "";
}

std::string DescribeTextual(absl::string_view bytes, FileKind expected) {
  absl::string_view text = absl::StripLeadingAsciiWhitespace(bytes);
  for (const absl::string_view tag : {"<!doctype html", "<html", "<head", "<body"}) {
    if (absl::StartsWithIgnoreCase(text, tag)) {
      return Sentence("a web page (HTML), as servers send one in place of a file", kDownloadAgain);
    }
  }
  if (absl::StartsWith(text, "<?xml") || absl::StartsWith(text, "<Error>")) {
    return Sentence("XML, as servers send it for an error", kDownloadAgain);
  }
  if (absl::StartsWith(text, "{")) {
    if (expected == FileKind::kSymbol) return "";
    return Sentence("JSON, as symbol files (-symbol.json) are",
                    "are two paths, of the symbol and of this file, swapped?");
  }
  if (!IsText(bytes)) return "";
  if (absl::StartsWith(text, "[") && expected == FileKind::kSymbol) return "";
  return absl::StrCat("text that begins with '",
                      absl::CHexEscape(text.substr(0, std::min(kQuoted, text.find('\n')))), "'");
}

}  // namespace

std::string DescribeForeignFile(absl::string_view bytes, FileKind expected) {
  if (bytes.empty()) {
    return expected == FileKind::kText ? "" : absl::StrCat(": the file is empty; ", kCutOff);
  }
  bytes = bytes.substr(0, kLookedAt);
  absl::ConsumePrefix(&bytes, "\xEF\xBB\xBF");  // the byte order mark of editors
  std::string text = DescribeBinary(bytes);
  for (const auto& own : kOwn) {
    if (own.kind == expected) {
      if (absl::StartsWith(bytes, own.bytes)) return "";
    } else if (absl::StartsWith(bytes, own.bytes)) {
      text = Sentence(own.what, own.advice);
    }
  }
  if (text.empty() && expected != FileKind::kText) text = DescribeTextual(bytes, expected);
  return text.empty() ? "" : absl::StrCat(": the file is ", text);
}

}  // namespace cooper
