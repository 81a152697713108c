#ifndef COOPER_IO_ITERATORS_LIBSVM_FILE_H_
#define COOPER_IO_ITERATORS_LIBSVM_FILE_H_

// Reads files in the LibSVM format, which LibSvmIter serves. Each line holds one row: its label and
// its nonzero numbers.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace cooper {

// Rows of a sparse matrix (CSR) with a label each.
struct LibSvmRows {
  std::vector<float> labels;
  std::vector<int64_t> begins = {0};  // row i has the entries [begins[i], begins[i + 1])
  std::vector<int64_t> columns;       // by entry
  std::vector<float> values;

  int64_t first_row = 0;   // number of rows in the files before these
  int64_t total_rows = 0;  // number of rows in the files

  int64_t num_rows() const { return static_cast<int64_t>(labels.size()); }
};

// The part of the files to read: the lines that begin in one of `num_parts` ranges of equally many
// bytes, as dmlc-core divides a text.
struct LibSvmPart {
  int64_t part_index = 0;
  int64_t num_parts = 1;
};

// Reads rows of `width` numbers. A line is "label[:weight] [qid:number] column[:value] ... [# any
// text]"; columns begin with 0 and come in any order, a missing value is 1, and weight and qid are
// not used. Lines without a label are skipped. kInvalidArgument, naming file, line and field, for a
// field that is something else, and for a column that is not below `width` or comes twice; also
// ReadTextFile's errors (ndarray/base/atomic_file.h).
absl::StatusOr<LibSvmRows> ReadLibSvm(absl::Span<const std::string> paths, int64_t width,
                                      const LibSvmPart& part = {});

}  // namespace cooper

#endif  // COOPER_IO_ITERATORS_LIBSVM_FILE_H_
