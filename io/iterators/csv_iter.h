#ifndef COOPER_IO_ITERATORS_CSV_ITER_H_
#define COOPER_IO_ITERATORS_CSV_ITER_H_

// Serves batches of the rows of CSV files, as MXNet's CSVIter.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/batch/data_iter.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

struct CsvIterOptions {
  // Required: a file with a row of comma-separated numbers per line. As in MXNet, empty fields are
  // skipped everywhere ("1,,2," has two numbers), and blank ones are 0 in floats.
  std::string data_csv;
  Shape data_shape;       // required: of one row
  std::string label_csv;  // empty: all labels are 0
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
class CsvIter : public DataIter {
 public:
  // Reads the files. kInvalidArgument, naming file and line, for a line that does not hold as many
  // numbers as its shape and, with the field, for one that is not a number or that the dtype cannot
  // hold; if there are no rows, or the two files differ in their number; for a shape with a
  // negative extent or too many elements. Also ReadFile's errors.
  static absl::StatusOr<std::unique_ptr<CsvIter>> Create(const CsvIterOptions& options);

  // In a batch, `index` holds row numbers, and -1 for rows of zeros.
  absl::StatusOr<std::optional<DataBatch>> Next() override;
  absl::Status Reset() override;
  absl::Status HardReset() override;

  const std::vector<DataDesc>& provide_data() const override { return provide_data_; }
  const std::vector<DataDesc>& provide_label() const override { return provide_label_; }
  int64_t batch_size() const override { return batch_size_; }
  std::optional<double> invalid_label(absl::string_view) const override { return std::nullopt; }

  absl::StatusOr<std::string> SaveState() const override;
  absl::Status LoadState(absl::string_view text) override;

 private:
  CsvIter(const CsvIterOptions& options, NDArray data, NDArray label);

  const NDArray data_;
  const NDArray label_;
  const int64_t num_rows_;
  const int64_t batch_size_;
  const bool round_batch_;
  std::vector<DataDesc> provide_data_;
  std::vector<DataDesc> provide_label_;
  int64_t cursor_ = 0;    // the next row; num_rows_ at the end
  int64_t borrowed_ = 0;  // rows that the last batch took from the start
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_CSV_ITER_H_
