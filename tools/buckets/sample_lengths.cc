#include "tools/buckets/sample_lengths.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Limits such that lengths times samples do not overflow.
constexpr int64_t kMaxBytes = int64_t{1} << 32;
constexpr int64_t kMaxTokens = 1000000000000000;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

int64_t WordsOf(absl::string_view line) {
  int64_t words = 0;
  bool in_word = false;
  for (const char c : line) {
    const bool space = IsSpace(c);
    if (!space && !in_word) ++words;
    in_word = !space;
  }
  return words;
}

}  // namespace

int64_t SampleLengths::tokens() const {
  return std::accumulate(first.begin(), first.end(), int64_t{0}) +
         std::accumulate(second.begin(), second.end(), int64_t{0});
}

absl::StatusOr<SampleLengths> CountWords(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMaxBytes));
  SampleLengths lengths{.noun = "sentence"};
  absl::string_view rest = text;
  while (!rest.empty()) {
    const absl::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const int64_t words = WordsOf(line);
    if (words > 0) {
      lengths.first.push_back(words);
    } else {
      ++lengths.empty;
    }
  }
  if (!lengths.first.empty()) return lengths;
  return absl::InvalidArgumentError(absl::StrCat("text '", path, "': no line has a word"));
}

absl::StatusOr<SampleLengths> ReadLengths(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path, kMaxBytes));
  SampleLengths lengths;
  int64_t line_number = 0, tokens = 0;
  size_t columns = 0;  // 0: no line has been read
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    const std::vector<absl::string_view> fields =
        absl::StrSplit(line, absl::ByAnyChar(" \t\r\v\f,"), absl::SkipEmpty());
    if (fields.empty()) continue;
    const auto error = [&](absl::string_view expected) {
      return absl::InvalidArgumentError(
          absl::StrCat("lengths '", path, "', line ", line_number, ": '",
                       absl::Utf8SafeCEscape(line.substr(0, 40)), "', expected ", expected));
    };
    if (columns == 0) columns = std::min<size_t>(fields.size(), 2);
    if (fields.size() != columns) {
      return error(columns == 1 ? "one length, as before" : "two lengths");
    }
    int64_t values[2] = {0, 0};
    for (size_t i = 0; i < columns; ++i) {
      if (!absl::SimpleAtoi(fields[i], &values[i]) || values[i] < 0 ||
          values[i] > kMaxSampleLength) {
        return error(absl::StrCat("lengths of 0 to ", kMaxSampleLength));
      }
    }
    tokens += values[0] + values[1];
    if (tokens > kMaxTokens) {
      return absl::InvalidArgumentError(
          absl::StrCat("lengths '", path, "' add up to more than ", kMaxTokens));
    }
    if (values[0] + values[1] == 0) {
      ++lengths.empty;
      continue;
    }
    lengths.first.push_back(values[0]);
    if (columns == 2) lengths.second.push_back(values[1]);
  }
  if (!lengths.first.empty()) return lengths;
  return absl::InvalidArgumentError(
      absl::StrCat("lengths '", path, "': there is no length above 0"));
}

}  // namespace cooper
