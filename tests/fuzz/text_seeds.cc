// What text_fuzz begins with: files that are right, and one for each way to be wrong.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/fuzz_seeds.h"

namespace cooper {
namespace {

// The order of the readers in text_fuzz.cc.
enum Reader : uint64_t { kCsv, kWords, kVocabulary, kKey, kKeyValues, kWriteKeyValues, kReaders };
enum Labels : uint64_t { kNone, kDatas, kOther, kMissing };

constexpr size_t kMostText = 2000;  // as text_fuzz.cc has it

// `shape` is a number in the table of shapes: 0 is (1,), 1 is (2,), 3 is (2, 2). The changes are
// the state's, as state_changes.cc reads them.
std::string Csv(uint64_t shape, uint64_t batch_size, bool round, Labels labels,
                const std::string& data, const std::string& label, const std::string& changes) {
  SeedBytes bytes;
  bytes.Below(kCsv, kReaders).Below(shape, 6).Below(batch_size, 9).Below(round ? 1 : 0, 2);
  bytes.Below(0, 5).Below(labels, 4);
  if (labels != kNone) bytes.Below(0, 6);
  bytes.Text(data, kMostText);
  if (labels == kOther) bytes.Text(label, kMostText);
  return bytes.Below(2, 50).Below(9, 50).Rest(changes).bytes();
}

std::string Words(bool end, bool unknown, int64_t max_sentences, int64_t invalid_label,
                  int64_t max_words, const std::string& vocabulary, const std::string& text) {
  SeedBytes bytes;
  bytes.Below(kWords, kReaders).Below(end ? 1 : 0, 2).Below(unknown ? 1 : 0, 2);
  bytes.Below(max_sentences + 1, 10).Below(invalid_label + 1, 4).Below(1, 4).Below(0, 2);
  return bytes.Below(max_words + 1, 5).Text(vocabulary, kMostText).Rest(text).bytes();
}

std::string Plain(Reader reader, const std::string& text) {
  return SeedBytes().Below(reader, kReaders).Rest(text).bytes();
}

// One line of the state changed: `value` is a number in the table of state_changes.cc.
std::string Change(uint8_t line, uint8_t value) {
  return {0, 1, static_cast<char>(line), 0, static_cast<char>(value)};
}

std::vector<FuzzSeed> Seeds() {
  const std::string rows = "1,2\n3,4\n\n5,6\n", rests = "1\n2\n3\n";
  std::vector<FuzzSeed> seeds = {
      {"csv", Csv(1, 2, false, kNone, rows, "", "")},
      {"csv_round", Csv(1, 2, true, kNone, rows, "", "")},
      {"csv_of_matrices", Csv(3, 2, true, kNone, "1,2,3,4\r\n5,6,7,8\r\n", "", "")},
      {"csv_labels", Csv(1, 2, false, kOther, rows, rests, "")},
      {"csv_same_labels", Csv(0, 2, true, kDatas, rests, "", "")},
      {"csv_missing_labels", Csv(0, 2, false, kMissing, rests, "", "")},
      {"csv_fewer_labels", Csv(0, 2, false, kOther, rests, "1\n2\n", "")},
      {"csv_bad_labels", Csv(0, 2, false, kOther, rests, "x\n", "")},
      {"csv_no_batch", Csv(1, 0, false, kNone, rows, "", "")},
      {"csv_empty", Csv(1, 2, false, kNone, "\n\n", "", "")},
      {"csv_words", Csv(1, 2, false, kNone, "1,2\na,b\n", "", "")},
      {"csv_narrow", Csv(1, 2, false, kNone, "1,2\n1\n", "", "")},
      {"csv_wide", Csv(1, 2, false, kNone, "1,2\n1,2,3\n", "", "")},
      {"csv_special", Csv(1, 2, false, kNone, "nan,inf\n-1e400,0x10\n", "", "")},
      {"csv_any_state", Csv(1, 2, false, kNone, rows, "", "\7kind CSVIter\n")},
      {"words", Words(false, false, -1, -1, -1, "", "a b a\nb c\n\n")},
      {"words_marked", Words(true, true, 8, -1, -1, "", "a b a\nb c\n")},
      {"words_some", Words(true, true, 1, 2, 1, "", "a b a\nb c\n")},
      {"words_tied", Words(false, false, -1, 1, 2, "", "b a\tc\v d\n")},
      {"words_none", Words(false, false, 0, -1, 0, "", "a\n")},
      {"words_given", Words(false, true, -1, -1, -1, "0 a\n1 b\n", "a b c c\n")},
      {"words_given_token", Words(false, true, -1, -1, -1, "0 a\n5 <unk>\n", "a b\n")},
      {"words_given_skip", Words(false, true, -1, 2, -1, "0 a\n1 b\n", "a c\n")},
      {"words_unknown", Words(false, false, -1, -1, -1, "0 a\n", "a b\n")},
      {"words_no_number_left", Words(false, true, -1, -1, -1, "2147483647 a\n", "b\n")},
      {"words_bad_vocabulary", Words(false, false, -1, -1, -1, "a\n", "b\n")},
      {"words_escaped", Words(true, false, -1, -1, -1, "", "a\\b \xff\x80 \"'\n")},
      {"vocabulary", Plain(kVocabulary, "-1 \\n\n0 a\n\n1 b\\\\c\n")},
      {"vocabulary_number", Plain(kVocabulary, "x a\n")},
      {"vocabulary_large", Plain(kVocabulary, "4294967296 a\n")},
      {"vocabulary_no_word", Plain(kVocabulary, "3\n")},
      {"vocabulary_escape", Plain(kVocabulary, "3 \\q\n")},
      {"vocabulary_twice", Plain(kVocabulary, "3 a\n4 a\n")},
      {"values", Plain(kKeyValues, "a 1\nb -2\nkind x\\n\ncount 1,2,3\n")},
      {"values_reals", Plain(kKeyValues, "a 0.5\nb 1e300\nkind nan\ncount 1.5,,2\n")},
      {"values_wrong", Plain(kKeyValues, "a \nb x\nkind \\q\ncount 1,x\n")},
      {"values_twice", Plain(kKeyValues, "a 1\na 2\n")},
      {"values_no_key", Plain(kKeyValues, " 1\n")},
      {"values_no_value", Plain(kKeyValues, "a\n")},
      {"values_written",
       Plain(kWriteKeyValues, std::string("\x3f\xf8\0\0\0\0\0\0\2\3a b\n\\", 15))},
  };
  for (const char* key :
       {"7", " -8 ", "'a'", "\"a\\n\"", "'\\q'", "'a", "(1, 2)", "(3,)", "()", "(1)", "(,)",
        "(1, x)", "(1, 2,)", "( )", "", "'", "99999999999999999999", "'\\377'"}) {
    seeds.push_back({absl::StrCat("key_", seeds.size()), Plain(kKey, key)});
  }
  // borrowed, cursor, kind and rows, each a number too far either way, none, or no number.
  for (uint8_t line = 0; line < 4; ++line) {
    for (const uint8_t value : {4, 7, 8, 15}) {
      seeds.push_back({absl::StrCat("csv_state_", line, "_", value),
                       Csv(1, 2, true, kNone, rows, "", Change(line, value))});
    }
    seeds.push_back({absl::StrCat("csv_state_without_", line),
                     Csv(1, 2, true, kNone, rows, "", {0, 1, static_cast<char>(line), 2})});
  }
  return seeds;
}

}  // namespace
}  // namespace cooper

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) { *seeds = cooper::Seeds(); }
