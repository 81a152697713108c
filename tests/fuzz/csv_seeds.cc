// Provides the seeds of csv_fuzz: valid files, and one for each kind of error.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/fuzz/fuzz_seeds.h"

namespace cooper {
namespace {

constexpr size_t kMaxText = 2000;  // equal to that of csv_fuzz.cc

// Indices in the tables of csv_fuzz.cc.
enum ShapeOf : uint64_t { kOne, kTwo, kThree, kMatrix, kEmpty, kScalar, kNegative, kShapes = 10 };
enum TypeOf : uint64_t { kFloat32, kFloat64, kInt32, kUint8, kInt64, kTypes = 8 };
enum Labels : uint64_t { kNone, kDatas, kOther, kMissing };

struct Csv {
  ShapeOf shape = kTwo;
  uint64_t batch_size = 2;
  bool round = false;
  TypeOf type = kFloat32;
  Labels labels = kNone;
  std::string data;
  std::string label;
  // The mutations of the state, in the form that state_changes.cc reads.
  std::string changes;
};

std::string Bytes(const Csv& csv) {
  SeedBytes bytes;
  bytes.Below(csv.shape, kShapes).Below(csv.batch_size, 9).Below(csv.round ? 1 : 0, 2);
  bytes.Below(csv.type, kTypes).Below(csv.labels, 4);
  if (csv.labels != kNone) bytes.Below(kOne, kShapes);
  bytes.Below(0, 4).Text(csv.data, kMaxText);
  if (csv.labels == kOther) bytes.Text(csv.label, kMaxText);
  // Reads two batches of the first epoch, and then whole epochs.
  bytes.Below(2, 50).Below(0, 4).Below(49, 50).Below(0, 4).Below(49, 50).Below(0, 4);
  return bytes.Rest(csv.changes).bytes();
}

// Mutates one line of the state: `value` is an index in the table of state_changes.cc.
std::string Change(uint8_t line, uint8_t value) {
  return {0, 1, static_cast<char>(line), 0, static_cast<char>(value)};
}

std::vector<FuzzSeed> Seeds() {
  const std::string rows = "1,2\n3,4\n\n5,6\n", rests = "1\n2\n3\n";
  std::vector<FuzzSeed> seeds = {
      {"plain", Bytes({.data = rows})},
      {"round", Bytes({.round = true, .data = rows})},
      {"matrices", Bytes({.shape = kMatrix, .round = true, .data = "1,2,3,4\r\n5,6,7,8\r\n"})},
      {"labels", Bytes({.labels = kOther, .data = rows, .label = rests})},
      {"same_labels", Bytes({.shape = kOne, .round = true, .labels = kDatas, .data = rests})},
      {"missing_labels", Bytes({.shape = kOne, .labels = kMissing, .data = rests})},
      {"fewer_labels", Bytes({.shape = kOne, .labels = kOther, .data = rests, .label = "1\n2\n"})},
      {"bad_labels", Bytes({.shape = kOne, .labels = kOther, .data = rests, .label = "x\n"})},
      {"no_batch", Bytes({.batch_size = 0, .data = rows})},
      {"large_batch", Bytes({.batch_size = 8, .data = rows})},
      {"empty", Bytes({.data = "\n\n"})},
      {"words", Bytes({.data = "1,2\na,b\n"})},
      {"narrow", Bytes({.data = "1,2\n1\n"})},
      {"wide", Bytes({.data = "1,2\n1,2,3\n"})},
      {"empty_fields", Bytes({.data = "1,,2,\n,3,4\n"})},
      {"blank_fields", Bytes({.shape = kThree, .data = "1, ,2\n"})},
      {"special", Bytes({.data = "nan,inf\n-1e400,0x10\n"})},
      {"rounded", Bytes({.data = "16777217.0,1e-50\n"})},
      {"not_rounded", Bytes({.data = "16777217,0\n"})},
      {"integers", Bytes({.type = kInt64, .data = "9223372036854775807,-9223372036854775808\n"})},
      {"fractions", Bytes({.type = kInt32, .data = "2.9,-1e3\n"})},
      {"too_large", Bytes({.type = kUint8, .data = "255,256\n"})},
      {"marked", Bytes({.data = "\xef\xbb\xbf" + rows})},
      {"no_column", Bytes({.shape = kEmpty, .data = ",\n,,\n"})},
      {"scalars", Bytes({.shape = kScalar, .data = rests})},
      {"negative", Bytes({.shape = kNegative, .data = rows})},
      {"any_state", Bytes({.data = rows, .changes = "\7kind CSVIter\n"})},
  };
  // Sets borrowed, cursor, kind and rows to -1, to both limits of int64, and to an empty text.
  for (uint8_t line = 0; line < 4; ++line) {
    for (const uint8_t value : {4, 7, 8, 15}) {
      seeds.push_back({absl::StrCat("state_", line, "_", value),
                       Bytes({.round = true, .data = rows, .changes = Change(line, value)})});
    }
    seeds.push_back(
        {absl::StrCat("state_without_", line),
         Bytes({.round = true, .data = rows, .changes = {0, 1, static_cast<char>(line), 2}})});
  }
  return seeds;
}

}  // namespace
}  // namespace cooper

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) { *seeds = cooper::Seeds(); }
