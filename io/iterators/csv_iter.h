#ifndef COOPER_IO_ITERATORS_CSV_ITER_H_
#define COOPER_IO_ITERATORS_CSV_ITER_H_

// Serves batches of the rows of CSV files, as MXNet's CSVIter.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/iterators/round_batch_iter.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Options of CsvIter::Create. The names of fields are MXNet's; both files are read when the
// iterator is made, and their numbers held in memory.
struct CsvIterOptions {
  // Required: one or several files (ListInputFiles, input_files.h) with a row of comma-separated
  // numbers per line; the rows of several files follow one another. As in MXNet, empty fields are
  // skipped everywhere ("1,,2," has two numbers), and blank ones are 0 in floats.
  std::string data_csv;
  Shape data_shape;       // required: of one row
  std::string label_csv;  // files of labels, as data_csv; empty: all labels are 0
  Shape label_shape = {1};
  int64_t batch_size = 1;
  // If true, the last batch is filled with rows from the start of the file, which `pad` counts, and
  // the next epoch begins after them. If false, it is filled with zeros, and epochs begin at the
  // start.
  bool round_batch = true;
  // The dtype of the batches. Create fails for a number that an integer dtype cannot hold and for
  // an integer (written without a point) that a float would round, since it would be another word
  // or class. Integer dtypes truncate fractions, as in MXNet; floats round them.
  DType dtype = DType::kFloat32;
  std::string data_name = "data";
  std::string label_name = "softmax_label";
};

// Serves the rows, which are held in memory. Labels of shape (1,) come as (batch_size,). Not
// thread-safe.
class CsvIter : public RoundBatchIter {
 public:
  // Reads the files. kInvalidArgument, naming file and line, for a line that does not hold as many
  // numbers as its shape and, with the field, for one that is not a number or that the dtype cannot
  // hold; if there are no rows, or data and labels differ in their number; for a shape with a
  // negative extent or too many elements. Also the errors of ReadFile and ListInputFiles.
  static absl::StatusOr<std::unique_ptr<CsvIter>> Create(const CsvIterOptions& options);

 private:
  CsvIter(const CsvIterOptions& options, NDArray data, NDArray label);
  absl::StatusOr<NDArray> GatherData(absl::Span<const int64_t> ids) const override;
  absl::StatusOr<NDArray> GatherLabel(absl::Span<const int64_t> ids) const override;

  const NDArray data_;
  const NDArray label_;
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_CSV_ITER_H_
