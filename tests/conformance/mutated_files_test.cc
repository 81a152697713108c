// Reads randomly damaged symbol and parameter files: each must end in a symbol or an error, in
// little time and memory.

#include <sys/resource.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_matchers.h"
#include "ndarray/files/params_file.h"
#include "ndarray/random/random.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"
#include "tests/conformance/case_data.h"

namespace cooper::conformance {
namespace {

constexpr int kMutationsPerFile = 40;

std::string RandomNumber(RandomGenerator& random) {
  const char* const numbers[] = {"0",
                                 "1",
                                 "-1",
                                 "2",
                                 "1000000000",
                                 "2147483647",
                                 "2147483648",
                                 "4294967295",
                                 "1e9",
                                 "0.5",
                                 "-2147483649",
                                 "9223372036854775807",
                                 "99999999999999999999",
                                 "100000"};
  return numbers[random.NextBelow(std::size(numbers))];
}

// Replaces a number at a random position.
void ReplaceNumber(RandomGenerator& random, std::string* bytes) {
  const size_t start = random.NextBelow(bytes->size());
  const size_t begin = bytes->find_first_of("0123456789", start);
  if (begin == std::string::npos) return;
  size_t end = bytes->find_first_not_of("0123456789", begin);
  if (end == std::string::npos) end = bytes->size();
  bytes->replace(begin, end - begin, RandomNumber(random));
}

void Mutate(RandomGenerator& random, bool is_text, std::string* bytes) {
  const uint64_t changes = 1 + random.NextBelow(3);
  for (uint64_t i = 0; i < changes && !bytes->empty(); ++i) {
    const size_t at = random.NextBelow(bytes->size());
    switch (random.NextBelow(is_text ? 6 : 4)) {
      case 0:
        (*bytes)[at] = static_cast<char>(random.NextUint32());
        break;
      case 1:
        bytes->erase(at, 1 + random.NextBelow(8));
        break;
      case 2:
        bytes->insert(at, bytes->substr(random.NextBelow(bytes->size()), random.NextBelow(64)));
        break;
      case 3:
        for (size_t k = at; k < at + 8 && k < bytes->size(); ++k) {
          (*bytes)[k] = static_cast<char>(random.NextBelow(2) * 0xff);
        }
        break;
      default:
        ReplaceNumber(random, bytes);
    }
  }
}

void Read(const std::string& bytes, bool is_text) {
  if (!is_text) {
    ParseParams(bytes).status().IgnoreError();
    return;
  }
  absl::StatusOr<Symbol> symbol = SymbolFromJson(bytes);
  if (!symbol.ok()) return;
  symbol->ListOutputs();
  symbol->AttrDict();
  EXPECT_THAT(SymbolFromJson(SymbolToJson(*symbol)), IsOk()) << bytes;
  InferShapePartial(*symbol, {{"data", {2, 3, 10, 10}}}).status().IgnoreError();
}

TEST(MutatedFilesTest, EndInASymbolOrAnError) {
#ifndef __SANITIZE_ADDRESS__
  const rlimit limit = {.rlim_cur = rlim_t{2} << 30, .rlim_max = rlim_t{2} << 30};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
#endif
  const uint64_t seed = 20240601;
  int files = 0;
  for (const char* folder :
       {"tests/golden/files/symbol/", "tests/golden/files/params/", "tests/golden/files/bad/"}) {
    for (const std::string& name : ListFolder(folder)) {
      const bool is_text = absl::EndsWith(name, ".json");
      if (absl::EndsWith(name, ".expect.json") || name == "manifest.json") continue;
      COOPER_ASSERT_OK_AND_ASSIGN(std::string original, ReadFile(folder + name));
      if (original.empty() || original.size() > 50000) continue;
      RandomGenerator random(seed, static_cast<uint64_t>(files++));
      for (int i = 0; i < kMutationsPerFile; ++i) {
        SCOPED_TRACE(absl::StrCat(folder, name, ", mutation ", i, " of seed ", seed));
        std::string bytes = original;
        Mutate(random, is_text, &bytes);
        Read(bytes, is_text);
      }
    }
  }
  EXPECT_GT(files, 50);
}

}  // namespace
}  // namespace cooper::conformance
