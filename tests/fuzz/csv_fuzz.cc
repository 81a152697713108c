// Fuzzes CSV files for data and labels, with any bytes and options: Create fails, or the batches
// have the rows that a simple parser finds (seeds are in csv_seeds.cc).

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "glog/logging.h"
#include "io/batch/data_batch.h"
#include "io/iterators/csv_iter.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/scratch_folder.h"
#include "tests/fuzz/state_changes.h"

namespace cooper {
namespace {

constexpr size_t kMaxText = 2000;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat64,  DType::kInt32, DType::kUint8,
                            DType::kInt64,   DType::kBfloat16, DType::kBool,  DType::kInt8};

std::string Write(const char* name, const std::string& text) {
  std::string path = ScratchFolder() + "/" + name;
  WriteUnsynced(path, text);
  return path;
}

// Parses a field that CsvIter has accepted with the C library.
template <typename T>
T NumberIn(const std::string& cell) {
  if constexpr (std::is_integral_v<T>) {
    char* end = nullptr;
    const int64_t integer = std::strtoll(cell.c_str(), &end, 10);
    if (*end == '\0') return integer;
    return static_cast<int64_t>(std::strtod(cell.c_str(), nullptr));
  }
  return static_cast<T>(std::strtod(cell.c_str(), nullptr));
}

// Returns the lines that hold rows.
std::vector<absl::string_view> RowsOf(absl::string_view text) {
  absl::ConsumePrefix(&text, "\uFEFF");
  std::vector<absl::string_view> rows;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    rows.push_back(absl::StripTrailingAsciiWhitespace(line));
    if (rows.back().empty()) rows.pop_back();
  }
  return rows;
}

// Returns all numbers of a file that CsvIter has accepted, read as T and converted to `dtype`.
template <typename T>
NDArray NumbersAs(const std::string& text, DType dtype) {
  std::vector<T> numbers;
  for (const absl::string_view row : RowsOf(text)) {
    for (const absl::string_view field : absl::StrSplit(row, ',')) {
      const std::string cell(absl::StripAsciiWhitespace(field));
      const bool blank_is_zero = !field.empty() && !std::is_integral_v<T>;
      if (!cell.empty()) numbers.push_back(NumberIn<T>(cell));
      if (cell.empty() && blank_is_zero) numbers.push_back(0);
    }
  }
  return *NDArray::FromVector<T>({static_cast<int64_t>(numbers.size())}, numbers)->AsType(dtype);
}

NDArray NumbersOf(const std::string& text, DType dtype) {
  return IsFloating(dtype) ? NumbersAs<double>(text, dtype) : NumbersAs<int64_t>(text, dtype);
}

// Checks that row `row` of the file has the same bits as row `i` of the batch; -1 is a row of
// zeros.
void CheckRow(const NDArray& file, int64_t row, const NDArray& batch, int64_t i) {
  const int64_t bytes = batch.size_bytes() / batch.shape()[0];
  const int64_t at = row < 0 ? 0 : row * bytes;
  const auto* const expected = static_cast<const uint8_t*>(file.raw_data()) + at;
  const auto* const actual = static_cast<const uint8_t*>(batch.raw_data()) + i * bytes;
  for (int64_t k = 0; k < bytes; ++k) {
    CHECK(actual[k] == (row < 0 ? 0 : expected[k])) << "row " << row << " of the file, byte " << k;
  }
}

struct Files {
  int64_t rows;
  NDArray data;
  NDArray label;  // null: all are 0
};

// Reads at most `most` batches of an epoch that begins with `row`, and returns the row at which the
// next epoch begins.
int64_t CheckEpoch(CsvIter& iter, const Files& files, bool round_batch, int64_t row, int64_t most) {
  int64_t borrowed = 0;
  for (; most > 0; --most) {
    const auto batch = iter.Next();
    if (!batch.ok()) return 0;
    if (!batch->has_value()) {
      CHECK(row == files.rows) << "the epoch ends with row " << row << " of " << files.rows;
      break;
    }
    const DataBatch& rows = **batch;
    CHECK(static_cast<int64_t>(rows.index.size()) == iter.batch_size());
    for (int64_t i = 0; i < iter.batch_size(); ++i) {
      const bool is_pad = i >= iter.batch_size() - rows.pad;
      CHECK(rows.index[i] == row || is_pad) << rows.index[i] << " in place of " << row;
      CHECK(rows.index[i] >= 0 || (is_pad && !round_batch));
      if (!is_pad) ++row;
      CheckRow(files.data, rows.index[i], rows.data[0], i);
      CheckRow(files.label, files.label.is_null() ? -1 : rows.index[i], rows.label[0], i);
    }
    if (round_batch) borrowed = rows.pad;
  }
  // After an interrupted epoch the next one is complete.
  return row == files.rows ? borrowed % files.rows : 0;
}

// Returns rows of numbers that every dtype holds, as many per line as the shape has.
std::string PlainRows(FuzzInput& input, const Shape& shape, bool floating) {
  std::string text;
  for (uint64_t rows = 1 + input.Below(6); rows > 0; --rows) {
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ",", input.Below(2), floating ? ".5" : "");
    }
    absl::StrAppend(&text, input.OneIn(4) ? "\r\n" : "\n");
  }
  return text;
}

// Loads the iterator's own state, a mutated one, or any text; the iterator must continue.
void LoadAnyState(FuzzInput& input, CsvIter& iter) {
  const auto state = iter.SaveState();
  CHECK(state.ok() && iter.LoadState(*state).ok());
  const bool loaded =
      iter.LoadState(input.OneIn(8) ? input.Rest() : ChangeState(input, *state)).ok();
  for (int i = 0; i < 20; ++i) {
    const auto batch = iter.Next();
    if (batch.ok() && !batch->has_value()) iter.Reset().IgnoreError();
  }
  CHECK(!loaded || iter.LoadState(*iter.SaveState()).ok());
}

void ReadCsv(FuzzInput& input) {
  const Shape kShapes[] = {Shape{1},       Shape{2},
                           Shape{3},       Shape{2, 2},
                           Shape{0},       Shape{},
                           Shape{-1},      Shape{-1, -2},
                           Shape{kMax, 4}, Shape{int64_t{1} << 32, int64_t{1} << 32}};
  const uint64_t shape = input.Below(std::size(kShapes));
  CsvIterOptions options = {.data_shape = kShapes[shape],
                            .batch_size = input.Between(0, 8),
                            .round_batch = input.OneIn(2),
                            .dtype = input.Pick(kTypes)};
  if (options.batch_size == 8) options.batch_size = int64_t{1} << 60;
  const uint64_t labels = input.Below(4);  // none, the data's file, another, one that is missing
  if (labels > 0) options.label_shape = input.Pick(kShapes);
  const bool plain = input.OneIn(4) && shape < 4;
  const std::string data = plain ? PlainRows(input, options.data_shape, IsFloating(options.dtype))
                                 : input.Text(kMaxText);
  const std::string label = labels == 2 ? input.Text(kMaxText) : data;
  options.data_csv = Write("data", data);
  if (labels == 1) options.label_csv = options.data_csv;
  if (labels == 2) options.label_csv = Write("label", label);
  if (labels == 3) options.label_csv = ScratchFolder() + "/missing";
  const auto iter = CsvIter::Create(options);
  CHECK(iter.ok() || !plain || labels > 0 || options.batch_size == 0) << iter.status();
  if (!iter.ok()) return;
  const Files files = {.rows = static_cast<int64_t>(RowsOf(data).size()),
                       .data = NumbersOf(data, options.dtype),
                       .label = labels == 0 ? NDArray() : NumbersOf(label, options.dtype)};
  int64_t first = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    const auto most = static_cast<int64_t>(input.Below(50));
    const int64_t next = CheckEpoch(**iter, files, options.round_batch, first, most);
    const bool hard = input.OneIn(4);
    CHECK((hard ? (*iter)->HardReset() : (*iter)->Reset()).ok());
    first = hard ? 0 : next;
  }
  LoadAnyState(input, **iter);
}

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  cooper::FuzzInput input(data, size);
  cooper::ReadCsv(input);
  return 0;
}
