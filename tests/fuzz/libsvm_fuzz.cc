// Fuzzes LibSVM files of data and labels, with any bytes and options: Create fails, or the batches
// of all parts have the rows that a simple parser finds.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "glog/logging.h"
#include "io/iterators/libsvm_iter.h"
#include "ndarray/array/ndarray.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_seeds.h"
#include "tests/fuzz/scratch_folder.h"
#include "tests/fuzz/state_changes.h"

namespace cooper {
namespace {

constexpr size_t kMaxText = 1500;

struct Row {
  float label = 0;
  std::vector<float> values;
};

std::string Write(const char* name, const std::string& text) {
  std::string path = ScratchFolder() + "/" + name;
  WriteUnsynced(path, text);
  return path;
}

// Parses a file that LibSvmIter has accepted, with the C library.
std::vector<Row> RowsOf(const std::string& text, int64_t width) {
  std::vector<Row> rows;
  constexpr absl::string_view kByteOrderMark = "\uFEFF";
  std::istringstream lines(absl::StartsWith(text, kByteOrderMark) ? text.substr(3) : text);
  for (std::string line; std::getline(lines, line);) {
    const size_t end = line.find('#');
    if (end != std::string::npos) line.resize(end);
    char* at = line.data();
    char* next = nullptr;
    const float label = std::strtof(at, &next);
    if (next == at) continue;
    Row row{.label = label, .values = std::vector<float>(static_cast<size_t>(width))};
    if (*next == ':') std::strtof(next + 1, &next);
    const size_t query = line.find("qid:");
    if (query != std::string::npos) std::strtoll(line.data() + query + 4, &next, 10);
    while (true) {
      at = next;
      const int64_t column = std::strtoll(at, &next, 10);
      if (next == at) break;
      row.values[static_cast<size_t>(column)] = *next == ':' ? std::strtof(next + 1, &next) : 1;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Returns rows that are valid for any shape, or with mistakes in few places.
std::string PlainRows(FuzzInput& input) {
  std::string text;
  for (uint64_t rows = 1 + input.Below(6); rows > 0; --rows) {
    text += std::to_string(input.Between(-3, 3));
    if (input.OneIn(4)) text += input.OneIn(2) ? ":2" : " qid:7";
    for (int64_t column = 0; column < 3; ++column) {
      if (input.OneIn(2)) text += " " + std::to_string(column) + (input.OneIn(4) ? "" : ":0.5");
    }
    text += input.OneIn(5) ? " # 1:x" : "";
    text += input.OneIn(5) ? "\r\n" : "\n";
    if (input.OneIn(9)) text += input.Text(8);
  }
  return text;
}

// Returns the rows of data and labels that the iterator serves in its first epoch, without padding.
struct Served {
  std::vector<float> data, label;
};

Served ServeEpoch(LibSvmIter& iter) {
  Served served;
  while (true) {
    const auto batch = iter.Next();
    CHECK(batch.ok()) << batch.status();
    if (!batch->has_value()) return served;
    const auto append = [&](const NDArray& array, std::vector<float>* to) {
      const std::vector<float> values = *array.ToVector<float>();
      const int64_t row_size = array.size() / iter.batch_size();
      to->insert(to->end(), values.begin(), values.end() - (*batch)->pad * row_size);
    };
    append((*batch)->data[0], &served.data);
    append((*batch)->label[0], &served.label);
  }
}

void CheckEqual(const std::vector<float>& got, const std::vector<float>& expected) {
  CHECK(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    CHECK(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
        << "number " << i;
  }
}

// Checks what an iterator over all rows serves, and that those over the parts serve the same.
void CheckRows(LibSvmIterOptions options, const std::string& data, const std::string& label,
               LibSvmIter& all) {
  Served expected;
  for (const Row& row : RowsOf(data, options.data_shape[0])) {
    expected.data.insert(expected.data.end(), row.values.begin(), row.values.end());
    if (label.empty()) expected.label.push_back(row.label);
  }
  if (!label.empty()) {
    for (const Row& row : RowsOf(label, options.label_shape[0])) {
      expected.label.insert(expected.label.end(), row.values.begin(), row.values.end());
    }
  }
  const Served served = ServeEpoch(all);
  CheckEqual(served.data, expected.data);
  CheckEqual(served.label, expected.label);
  Served parts;
  for (; options.part_index < options.num_parts; ++options.part_index) {
    const auto iter = LibSvmIter::Create(options);
    if (!iter.ok()) continue;  // a part without rows
    const Served part = ServeEpoch(**iter);
    parts.data.insert(parts.data.end(), part.data.begin(), part.data.end());
    parts.label.insert(parts.label.end(), part.label.begin(), part.label.end());
  }
  CheckEqual(parts.data, expected.data);
  CheckEqual(parts.label, expected.label);
}

void ReadLibSvmFiles(FuzzInput& input) {
  const std::string data = input.OneIn(2) ? input.Text(kMaxText) : PlainRows(input);
  LibSvmIterOptions options = {.data_libsvm = Write("data", data),
                               .data_shape = {input.Between(1, 4)},
                               .batch_size = input.Between(1, 4),
                               .round_batch = input.OneIn(2)};
  std::string label;
  if (input.OneIn(3)) {
    label = input.OneIn(2) ? input.Text(kMaxText) : data;
    options.label_libsvm = Write("label", label);
    options.label_shape = {input.Between(2, 4)};
  }
  const auto all = LibSvmIter::Create(options);
  if (!all.ok()) return;
  options.num_parts = input.Between(1, 4);
  CheckRows(options, data, label, **all);
  const auto state = (*all)->SaveState();
  CHECK(state.ok() && (*all)->LoadState(*state).ok());
  const bool loaded = (*all)->LoadState(ChangeState(input, *state)).ok();
  for (int i = 0; i < 20; ++i) {
    const auto batch = (*all)->Next();
    if (batch.ok() && !batch->has_value()) (*all)->Reset().IgnoreError();
  }
  CHECK(!loaded || (*all)->LoadState(*(*all)->SaveState()).ok());
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  cooper::ReadLibSvmFiles(input);
  return 0;
}

extern "C" void CooperFuzzSeeds(std::vector<cooper::FuzzSeed>* seeds) {
  const struct {
    const char* name;
    const char* text;
  } files[] = {{"rows", "1 0:1 2:3\n-2\n3 1:1e2 0:4 # none\n"},
               {"weights", "1:2 qid:3 0:1\n2 1\n"},
               {"label", "x 0:1\n"},
               {"weight", "1:x\n"},
               {"column", "1 x:1\n"},
               {"value", "1 0:x\n"},
               {"too_large", "1 3:1\n"},
               {"negative", "1 -1:1\n"},
               {"twice", "1 0:1 0:2\n"},
               {"query", "1 qid:x\n"},
               {"late_query", "1 0:1 qid:1\n"},
               {"special", "nan 0:inf\n"},
               {"no_rows", "# none\n\n"},
               {"white", "1\t0:1\v1:2\f\r\n"},
               {"marked", "\uFEFF1 0:1\n"}};
  for (const auto& file : files) {
    // Rows of three numbers in batches of two, filled from the start, without and with labels, in
    // three parts.
    cooper::SeedBytes bytes;
    bytes.Below(1, 2).Text(file.text, cooper::kMaxText).Below(2, 4).Below(1, 4).Below(1, 2);
    cooper::SeedBytes labels = bytes;
    seeds->push_back({file.name, bytes.Below(0, 3).Below(2, 4).bytes()});
    seeds->push_back({std::string(file.name) + "_labels",
                      labels.Below(2, 3).Below(0, 2).Below(1, 3).Below(2, 4).bytes()});
  }
}
