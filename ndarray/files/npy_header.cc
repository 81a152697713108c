#include "ndarray/files/npy_header.h"

#include <bit>
#include <cstring>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/file_kind.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr absl::string_view kMagic = "\x93NUMPY";
constexpr size_t kVersionAt = 6, kLengthAt = 8;
constexpr size_t kMaxText = 1 << 16;
constexpr size_t kMaxAxes = 64;
constexpr size_t kPadding = 64;

static_assert(std::endian::native == std::endian::little, "numbers are copied as they stand");

// NumPy's codes of the dtypes, without the order of bytes.
constexpr struct {
  const char* code;
  DType dtype;
} kCodes[] = {
    {"f4", DType::kFloat32}, {"f8", DType::kFloat64}, {"f2", DType::kFloat16},
    {"u1", DType::kUint8},   {"i4", DType::kInt32},   {"i1", DType::kInt8},
    {"i8", DType::kInt64},   {"b1", DType::kBool},    {"V2", DType::kBfloat16},
};

// Elements that no NDArray has, by the beginning of their code. The first match counts.
constexpr struct {
  const char* code;
  const char* name;
  const char* advice;
} kRefused[] = {
    {"i2", "int16", "convert them with array.astype('int32')"},
    {"u2", "uint16", "convert them with array.astype('int32')"},
    {"u4", "uint32", "convert them with array.astype('int64')"},
    {"u8", "uint64", "convert them with array.astype('int64') if all are below 2**63"},
    {"c", "complex numbers", "save array.real and array.imag as two arrays"},
    {"f", "floats of another width", "convert them with array.astype('float64')"},
    {"U", "text", "save numbers, such as ids of the texts"},
    {"S", "text", "save numbers, such as array.view('uint8')"},
    {"a", "text", "save numbers, such as array.view('uint8')"},
    {"O", "Python objects, which are pickled and never read",
     "save arrays of numbers, each under a name of its own with numpy.savez"},
    {"M", "dates", "save array.astype('int64')"},
    {"m", "time spans", "save array.astype('int64')"},
    {"V", "raw bytes", "save array.view('uint8')"},
};

absl::Status Invalid(size_t offset, absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("offset ", offset, ": ", message));
}

// Parses the text of a header.
class TextParser {
 public:
  TextParser(absl::string_view text, size_t offset) : text_(text), offset_(offset) {}

  absl::StatusOr<NpyHeader> Parse() {
    bool has_descr = false, has_order = false, has_shape = false;
    COOPER_RETURN_IF_ERROR(Expect('{'));
    while (!Consume('}')) {
      COOPER_ASSIGN_OR_RETURN(const absl::string_view key, String());
      bool* const has = key == "descr"           ? &has_descr
                        : key == "fortran_order" ? &has_order
                        : key == "shape"         ? &has_shape
                                                 : nullptr;
      if (has == nullptr || *has) {
        return Fail(absl::StrCat("unexpected key '", absl::CHexEscape(key), "'"));
      }
      *has = true;
      COOPER_RETURN_IF_ERROR(Expect(':'));
      COOPER_RETURN_IF_ERROR(has == &has_descr ? Descr() : has == &has_order ? Order() : Extents());
      if (Consume(',')) continue;
      COOPER_RETURN_IF_ERROR(Expect('}'));
      break;
    }
    if (!has_descr || !has_order || !has_shape) {
      return Fail("expected the keys 'descr', 'fortran_order' and 'shape'");
    }
    SkipSpaces();
    if (at_ != text_.size()) return Fail("expected nothing behind the dictionary");
    return header_;
  }

 private:
  absl::Status Fail(absl::string_view message) const { return Invalid(offset_ + at_, message); }

  void SkipSpaces() {
    while (at_ < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }

  bool Consume(char c) {
    SkipSpaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  absl::Status Expect(char c) {
    if (Consume(c)) return absl::OkStatus();
    return Fail(absl::StrCat("expected '", absl::string_view(&c, 1), "' in the header"));
  }

  bool ConsumeWord(absl::string_view word) {
    SkipSpaces();
    if (!absl::StartsWith(text_.substr(at_), word)) return false;
    at_ += word.size();
    return true;
  }

  absl::StatusOr<absl::string_view> String() {
    SkipSpaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return Fail("expected a string in quotes");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == absl::string_view::npos) return Fail("the string has no end");
    const absl::string_view string = text_.substr(at_ + 1, end - at_ - 1);
    if (absl::StrContains(string, '\\')) return Fail("expected a string without a backslash");
    at_ = end + 1;
    return string;
  }

  absl::Status Descr() {
    SkipSpaces();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(')) {
      return Refuse("records", "save each field as an array of its own");
    }
    const size_t begin = at_;
    COOPER_ASSIGN_OR_RETURN(const absl::string_view descr, String());
    absl::string_view code = descr;
    const char order = code.empty() ? '\0' : code[0];
    if (order == '<' || order == '>' || order == '=' || order == '|') code.remove_prefix(1);
    header_.big_endian = order == '>';
    for (const auto& known : kCodes) {
      if (code != known.code) continue;
      header_.dtype = known.dtype;
      return absl::OkStatus();
    }
    at_ = begin;
    for (const auto& refused : kRefused) {
      if (absl::StartsWith(code, refused.code)) {
        return Refuse(absl::StrCat(refused.name, " ('", absl::CHexEscape(descr), "')"),
                      refused.advice);
      }
    }
    return Fail(absl::StrCat("unknown dtype '", absl::CHexEscape(descr), "'"));
  }

  absl::Status Refuse(absl::string_view elements, absl::string_view advice) const {
    return absl::UnimplementedError(absl::StrCat("offset ", offset_ + at_, ": the elements are ",
                                                 elements, ", which an NDArray cannot hold; ",
                                                 advice));
  }

  absl::Status Order() {
    header_.fortran_order = ConsumeWord("True");
    if (header_.fortran_order || ConsumeWord("False")) return absl::OkStatus();
    return Fail("expected True or False");
  }

  absl::Status Extents() {
    std::vector<int64_t> extents;
    COOPER_RETURN_IF_ERROR(Expect('('));
    const size_t begin = at_;
    while (!Consume(')')) {
      SkipSpaces();
      size_t end = at_;
      while (end < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[end]))) {
        ++end;
      }
      int64_t extent = 0;
      if (!absl::SimpleAtoi(text_.substr(at_, end - at_), &extent)) {
        return Fail("expected an extent, a number from 0 to 9223372036854775807");
      }
      at_ = end;
      ConsumeWord("L");  // as Python 2 writes large numbers
      extents.push_back(extent);
      if (extents.size() > kMaxAxes) {
        return Fail(absl::StrCat("the shape has more than ", kMaxAxes, " axes"));
      }
      if (Consume(',')) continue;
      // "(3)" is a number in Python, not a tuple.
      if (extents.size() == 1) return Fail("expected ',' behind the only extent");
      COOPER_RETURN_IF_ERROR(Expect(')'));
      break;
    }
    absl::StatusOr<Shape> shape = Shape::Create(extents);
    if (!shape.ok()) return Invalid(offset_ + begin, shape.status().message());
    header_.shape = *std::move(shape);
    return absl::OkStatus();
  }

  const absl::string_view text_;
  const size_t offset_;
  size_t at_ = 0;
  NpyHeader header_;
};

}  // namespace

absl::StatusOr<size_t> NpyPreambleSize(absl::string_view bytes) {
  if (bytes.size() < kLengthAt || !absl::StartsWith(bytes, kMagic)) {
    return Invalid(
        0, absl::StrCat("not a NumPy array (.npy)", DescribeForeignFile(bytes, FileKind::kNpy)));
  }
  const int major = static_cast<unsigned char>(bytes[kVersionAt]);
  const int minor = static_cast<unsigned char>(bytes[kVersionAt + 1]);
  if (major < 1 || major > 3 || minor != 0) {
    return Invalid(kVersionAt,
                   absl::StrCat("the format is ", major, ".", minor, ", expected 1.0, 2.0 or 3.0"));
  }
  return major == 1 ? 10 : 12;
}

absl::StatusOr<size_t> NpyTextSize(absl::string_view preamble) {
  uint32_t size = 0;
  std::memcpy(&size, preamble.data() + kLengthAt, preamble.size() - kLengthAt);
  if (size <= kMaxText) return size;
  return Invalid(kLengthAt,
                 absl::StrCat("the header has ", size, " bytes, expected at most ", kMaxText));
}

absl::StatusOr<NpyHeader> ParseNpyText(absl::string_view text, size_t offset) {
  return TextParser(text, offset).Parse();
}

absl::StatusOr<std::string> NpyHeaderBytes(const Shape& shape, DType dtype) {
  if (shape.rank() > static_cast<int>(kMaxAxes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("an array has ", shape.rank(), " axes, a NumPy array at most ", kMaxAxes));
  }
  const char* code = "";
  for (const auto& known : kCodes) {
    if (known.dtype == dtype) code = known.code;
  }
  std::string text = absl::StrCat("{'descr': '", SizeOf(dtype) == 1 ? "|" : "<", code,
                                  "', 'fortran_order': False, 'shape': ", shape.ToString(), ", }");
  // A newline ends the text, after spaces that align the elements.
  const size_t unpadded = kLengthAt + sizeof(uint16_t) + text.size() + 1;
  text.append((kPadding - unpadded % kPadding) % kPadding, ' ');
  text.push_back('\n');
  std::string bytes(kMagic);
  bytes.append("\1\0", 2);
  const auto size = static_cast<uint16_t>(text.size());
  bytes.append(reinterpret_cast<const char*>(&size), sizeof(size));
  return bytes + text;
}

}  // namespace cooper
