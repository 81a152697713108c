#include "io/iterators/libsvm_file.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// A boundary between two parts: an offset in the text of all files together.
class Boundary {
 public:
  Boundary(int64_t total_bytes, int64_t part, int64_t num_parts) {
    const int64_t step = total_bytes / num_parts + (total_bytes % num_parts == 0 ? 0 : 1);
    offset_ =
        step > 0 && part > total_bytes / step ? total_bytes : std::min(total_bytes, step * part);
  }
  // Returns whether a line that begins at `offset` belongs to the parts behind the boundary. A line
  // that begins exactly there belongs to the part before, unless it is the first of a file.
  bool IsBefore(int64_t offset, bool first_of_file) const {
    return offset > offset_ || (offset == offset_ && first_of_file);
  }

 private:
  int64_t offset_;
};

// Splits "index:value" or "label:weight". `second` is empty without a colon.
struct Pair {
  absl::string_view first, second;
  bool has_second;

  explicit Pair(absl::string_view field) {
    const size_t colon = field.find(':');
    has_second = colon != absl::string_view::npos;
    first = field.substr(0, colon);
    if (has_second) second = field.substr(colon + 1);
  }
};

// The C locale's white space inside a line.
constexpr char kBlanks[] = " \t\r\v\f";

absl::string_view WithoutComment(absl::string_view line) { return line.substr(0, line.find('#')); }

// Returns the fields of a line, without its comment.
std::vector<absl::string_view> Fields(absl::string_view line) {
  return absl::StrSplit(WithoutComment(line), absl::ByAnyChar(kBlanks), absl::SkipEmpty());
}

bool HasFields(absl::string_view line) {
  return WithoutComment(line).find_first_not_of(kBlanks) != absl::string_view::npos;
}

// Parses a row. The message names the field.
absl::Status ParseRow(absl::Span<const absl::string_view> fields, int64_t width, LibSvmRows* rows) {
  const auto error = [](size_t field, absl::string_view text, const auto&... what) {
    return absl::InvalidArgumentError(
        absl::StrCat("field ", field + 1, ": '", text.substr(0, 40), "' ", what...));
  };
  float number;
  const Pair label(fields[0]);
  if (!absl::SimpleAtof(label.first, &number) ||
      (label.has_second && !absl::SimpleAtof(label.second, &number))) {
    return error(0, fields[0], "is not a label, or a label and a weight");
  }
  (void)absl::SimpleAtof(label.first, &rows->labels.emplace_back());
  const auto begin = static_cast<std::ptrdiff_t>(rows->columns.size());
  for (size_t i = 1; i < fields.size(); ++i) {
    const Pair entry(fields[i]);
    int64_t column;
    if (i == 1 && entry.has_second && entry.first == "qid") {
      if (absl::SimpleAtoi(entry.second, &column)) continue;
      return error(i, fields[i], "is not a qid");
    }
    number = 1;
    if (!absl::SimpleAtoi(entry.first, &column) ||
        (entry.has_second && !absl::SimpleAtof(entry.second, &number))) {
      return error(i, fields[i], "is not a column and its value");
    }
    if (column < 0 || column >= width) {
      return error(i, fields[i], "is not in a column from 0 to ", width - 1);
    }
    rows->columns.push_back(column);
    rows->values.push_back(number);
  }
  std::vector<int64_t> sorted(rows->columns.begin() + begin, rows->columns.end());
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    return absl::InvalidArgumentError(absl::StrCat("column ", *twice, " comes twice"));
  }
  rows->begins.push_back(static_cast<int64_t>(rows->columns.size()));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LibSvmRows> ReadLibSvm(absl::Span<const std::string> paths, int64_t width,
                                      const LibSvmPart& part) {
  std::vector<std::string> texts;
  int64_t total_bytes = 0;
  for (const std::string& path : paths) {
    COOPER_ASSIGN_OR_RETURN(texts.emplace_back(), ReadTextFile(path));
    total_bytes += static_cast<int64_t>(texts.back().size());
  }
  const Boundary begin(total_bytes, part.part_index, part.num_parts);
  const Boundary end(total_bytes, part.part_index + 1, part.num_parts);
  LibSvmRows rows;
  int64_t file_offset = 0;
  for (size_t file = 0; file < paths.size(); ++file) {
    int64_t offset = file_offset;
    int64_t line_number = 0;
    for (const absl::string_view line : absl::StrSplit(texts[file], '\n')) {
      const int64_t at = offset;
      offset += static_cast<int64_t>(line.size()) + 1;
      ++line_number;
      if (!HasFields(line)) continue;
      ++rows.total_rows;
      if (!begin.IsBefore(at, at == file_offset)) ++rows.first_row;
      if (!begin.IsBefore(at, at == file_offset) || end.IsBefore(at, at == file_offset)) continue;
      COOPER_RETURN_IF_ERROR(AddContext(ParseRow(Fields(line), width, &rows), "'", paths[file],
                                        "', line ", line_number));
    }
    file_offset += static_cast<int64_t>(texts[file].size());
  }
  return rows;
}

}  // namespace cooper
