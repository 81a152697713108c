#ifndef COOPER_IO_ITERATORS_LIBSVM_ITER_H_
#define COOPER_IO_ITERATORS_LIBSVM_ITER_H_

// Serves batches of the rows of LibSVM files as dense arrays, as MXNet's LibSVMIter, whose batches
// are sparse.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "io/iterators/libsvm_file.h"
#include "io/iterators/round_batch_iter.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Options of LibSvmIter::Create, with MXNet's names. Rows become dense when a batch is made, so
// memory holds the nonzero elements only.
struct LibSvmIterOptions {
  // Required: one or several files (ListInputFiles, input_files.h) of rows as in libsvm_file.h.
  std::string data_libsvm;
  Shape data_shape;  // required: of one row, one extent
  // Files with a row of labels for each row of data_libsvm; the labels in data_libsvm are then not
  // used. If empty, the labels in data_libsvm are served.
  std::string label_libsvm;
  Shape label_shape = {1};  // with label_libsvm: one extent above 1
  // The files are divided into num_parts ranges of bytes, of which this iterator serves one. In
  // MXNet the files of labels are divided by their own bytes; here each row keeps its label.
  int64_t num_parts = 1;
  int64_t part_index = 0;
  int64_t batch_size = 1;
  // Has the meaning of CsvIterOptions::round_batch (csv_iter.h). MXNet supports true only.
  bool round_batch = true;
  std::string data_name = "data";
  std::string label_name = "softmax_label";
};

// Serves float32 rows, which are held in memory as their nonzero numbers. Labels of shape (1,) come
// as (batch_size,). Not thread-safe.
class LibSvmIter : public RoundBatchIter {
 public:
  // Reads the files. kInvalidArgument for options that are not as above; if the part has no rows,
  // or the number of labels is not that of rows; also the errors of ReadLibSvm and ListInputFiles.
  static absl::StatusOr<std::unique_ptr<LibSvmIter>> Create(const LibSvmIterOptions& options);

 private:
  LibSvmIter(const LibSvmIterOptions& options, LibSvmRows data, LibSvmRows label);
  absl::StatusOr<NDArray> GatherData(absl::Span<const int64_t> ids) const override;
  absl::StatusOr<NDArray> GatherLabel(absl::Span<const int64_t> ids) const override;

  const LibSvmRows data_;
  const LibSvmRows label_;  // without rows if the labels are those of data_
  const int64_t width_;
  const int64_t label_width_;
};

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_LIBSVM_ITER_H_
