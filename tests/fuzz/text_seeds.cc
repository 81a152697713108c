// Provides the seeds of text_fuzz: valid files, and one for each kind of error.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/fuzz_seeds.h"

namespace cooper {
namespace {

// The readers in the order of text_fuzz.cc.
enum Reader : uint64_t { kWords, kVocabulary, kKey, kKeyValues, kWriteKeyValues, kReaders };

constexpr size_t kMaxText = 2000;  // equal to that of text_fuzz.cc

std::string Words(bool end, bool unknown, int64_t max_sentences, int64_t invalid_label,
                  int64_t max_words, const std::string& vocabulary, const std::string& text) {
  SeedBytes bytes;
  bytes.Below(kWords, kReaders).Below(end ? 1 : 0, 2).Below(unknown ? 1 : 0, 2);
  bytes.Below(max_sentences + 1, 10).Below(invalid_label + 1, 4).Below(1, 4).Below(0, 2);
  return bytes.Below(max_words + 1, 5).Text(vocabulary, kMaxText).Rest(text).bytes();
}

std::string Plain(Reader reader, const std::string& text) {
  return SeedBytes().Below(reader, kReaders).Rest(text).bytes();
}

std::vector<FuzzSeed> Seeds() {
  std::vector<FuzzSeed> seeds = {
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
  return seeds;
}

}  // namespace
}  // namespace cooper

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) { *seeds = cooper::Seeds(); }
