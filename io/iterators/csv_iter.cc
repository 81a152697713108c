#include "io/iterators/csv_iter.h"

#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "io/batch/exact_integers.h"
#include "io/batch/gather_rows.h"
#include "io/iterators/input_files.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "CSVIter";

// Parses a number for a float dtype. Returns false if the cell is not a number, or is an integer,
// written without a point, that `dtype` would round.
bool ParseCell(absl::string_view cell, DType dtype, double* value) {
  if (!absl::SimpleAtod(cell, value)) return false;
  int64_t integer;
  return !absl::SimpleAtoi(cell, &integer) || HoldsInteger(dtype, integer);
}

// Parses an integer: digits exactly (a double would round them from 2^53 on), or numbers such as
// 1e3 and 2.5 below 2^53, truncated.
bool ParseCell(absl::string_view cell, DType dtype, int64_t* value) {
  double number;
  if (!absl::SimpleAtoi(cell, value)) {
    if (!absl::SimpleAtod(cell, &number) || !(std::abs(number) < 0x1p53)) return false;
    *value = static_cast<int64_t>(number);
  }
  return HoldsInteger(dtype, *value);
}

absl::Status NoNumber(const std::string& path, int64_t line, int64_t field, absl::string_view cell,
                      DType dtype) {
  double number;
  cell = absl::StripAsciiWhitespace(cell);
  const bool is_number = absl::SimpleAtod(cell, &number);
  return absl::InvalidArgumentError(absl::StrCat(
      "CSVIter: '", path, "', line ", line, ", field ", field, ": '", cell.substr(0, 40),
      "' is not a number",
      is_number ? absl::StrCat(" that ", DTypeName(dtype), " holds; choose another dtype") : "",
      is_number && IsFloating(dtype) ? ", or write it with a point to have it rounded" : ""));
}

// Appends the number of a field to `values` and returns how many numbers the field has. As in MXNet
// an empty field, between two commas or after the last, has none, and a blank one is 0 where floats
// are read. nullopt: the field is invalid.
template <typename T>
std::optional<int> ReadField(absl::string_view field, DType dtype, std::vector<T>* values) {
  const absl::string_view cell = absl::StripAsciiWhitespace(field);
  T value = 0;
  if (cell.empty() && (field.empty() || std::is_integral_v<T>)) return 0;
  if (!cell.empty() && !ParseCell(cell, dtype, &value)) return std::nullopt;
  values->push_back(value);
  return 1;
}

// Appends the numbers of a file, whose rows have this shape, to `values`. Returns the number of
// rows.
template <typename T>
absl::StatusOr<int64_t> ReadRows(const std::string& path, const Shape& row_shape, DType dtype,
                                 std::vector<T>* values) {
  COOPER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  const int64_t width = row_shape.num_elements();
  int64_t rows = 0;
  int64_t line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    line = absl::StripTrailingAsciiWhitespace(line);
    if (line.empty()) continue;
    int64_t fields = 0, numbers = 0;
    for (const absl::string_view field : absl::StrSplit(line, ',')) {
      ++fields;
      const std::optional<int> read = ReadField(field, dtype, values);
      if (!read.has_value()) return NoNumber(path, line_number, fields, field, dtype);
      numbers += *read;
    }
    ++rows;
    if (numbers != width) {
      return absl::InvalidArgumentError(absl::StrCat(
          "CSVIter: '", path, "', line ", line_number, " has ", numbers, " numbers",
          numbers == fields ? "" : absl::StrCat(" in ", fields, " fields, the others being empty"),
          ", expected ", width, " for the shape ", row_shape.ToString()));
    }
  }
  return rows;
}

// Reads the rows of files as T into an array (rows,) + row_shape; rows of shape (1,) get no axis of
// their own.
template <typename T>
absl::StatusOr<NDArray> ReadCsvAs(const std::string& files, const Shape& row_shape, DType dtype,
                                  bool drop_unit_axis) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                          AddContext(ListInputFiles(files), kKind));
  std::vector<T> values;
  int64_t rows = 0;
  for (const std::string& path : paths) {
    COOPER_ASSIGN_OR_RETURN(const int64_t read, ReadRows<T>(path, row_shape, dtype, &values));
    rows += read;
  }
  if (rows == 0) return absl::InvalidArgumentError(absl::StrCat("CSVIter: '", files, "' is empty"));
  Shape shape = {rows};
  if (!drop_unit_axis || row_shape != Shape({1})) {
    for (int64_t extent : row_shape) shape.push_back(extent);
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray array, NDArray::FromVector<T>(shape, values));
  return array.AsType(dtype);
}

absl::StatusOr<NDArray> ReadCsv(const std::string& files, const Shape& row_shape, DType dtype,
                                bool drop_unit_axis) {
  return IsFloating(dtype) ? ReadCsvAs<double>(files, row_shape, dtype, drop_unit_axis)
                           : ReadCsvAs<int64_t>(files, row_shape, dtype, drop_unit_axis);
}

DataDesc Describe(const std::string& name, const NDArray& rows, int64_t batch_size) {
  Shape shape = rows.shape();
  shape[0] = batch_size;
  return {.name = name, .shape = std::move(shape), .dtype = rows.dtype()};
}

}  // namespace

CsvIter::CsvIter(const CsvIterOptions& options, NDArray data, NDArray label)
    : RoundBatchIter({.kind = kKind,
                      .num_rows = data.shape()[0],
                      .batch_size = options.batch_size,
                      .round_batch = options.round_batch,
                      .provide_data = {Describe(options.data_name, data, options.batch_size)},
                      .provide_label = {Describe(options.label_name, label, options.batch_size)}}),
      data_(std::move(data)),
      label_(std::move(label)) {}

absl::StatusOr<std::unique_ptr<CsvIter>> CsvIter::Create(const CsvIterOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckBatchSize(kKind, options.batch_size));
  COOPER_RETURN_IF_ERROR(
      AddContext(Shape::Create(options.data_shape.dims()).status(), "CSVIter: data_shape"));
  COOPER_RETURN_IF_ERROR(
      AddContext(Shape::Create(options.label_shape.dims()).status(), "CSVIter: label_shape"));
  COOPER_ASSIGN_OR_RETURN(NDArray data,
                          ReadCsv(options.data_csv, options.data_shape, options.dtype, false));
  const int64_t rows = data.shape()[0];
  NDArray label;
  if (options.label_csv.empty()) {
    COOPER_ASSIGN_OR_RETURN(label, NDArray::Zeros({rows}, options.dtype));
  } else {
    COOPER_ASSIGN_OR_RETURN(label,
                            ReadCsv(options.label_csv, options.label_shape, options.dtype, true));
  }
  if (label.shape()[0] != rows) {
    return absl::InvalidArgumentError(absl::StrCat("CSVIter: '", options.label_csv, "' has ",
                                                   label.shape()[0], " rows, '", options.data_csv,
                                                   "' ", rows));
  }
  return absl::WrapUnique(new CsvIter(options, std::move(data), std::move(label)));
}

absl::StatusOr<NDArray> CsvIter::GatherData(absl::Span<const int64_t> ids) const {
  return GatherRows(data_, ids);
}

absl::StatusOr<NDArray> CsvIter::GatherLabel(absl::Span<const int64_t> ids) const {
  return GatherRows(label_, ids);
}

}  // namespace cooper
