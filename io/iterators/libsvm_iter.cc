#include "io/iterators/libsvm_iter.h"

#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/batch/check_part.h"
#include "io/iterators/input_files.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr char kKind[] = "LibSVMIter";

absl::Status CheckShape(absl::string_view name, const Shape& shape, int64_t least) {
  if (shape.rank() == 1 && shape[0] >= least) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(kKind, ": ", name, " is ", shape.ToString(),
                                                 ", expected one extent of at least ", least));
}

absl::Status CheckOptions(const LibSvmIterOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckShape("data_shape", options.data_shape, 1));
  if (!options.label_libsvm.empty()) {
    COOPER_RETURN_IF_ERROR(CheckShape("label_shape with label_libsvm", options.label_shape, 2));
  } else if (options.label_shape != Shape({1})) {
    return absl::InvalidArgumentError(
        absl::StrCat(kKind, ": label_shape is ", options.label_shape.ToString(),
                     ", expected (1,): the labels come from data_libsvm"));
  }
  return AddContext(CheckPart(options.part_index, options.num_parts), kKind);
}

absl::StatusOr<LibSvmRows> ReadRows(const std::string& files, int64_t width,
                                    const LibSvmPart& part) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> paths,
                          AddContext(ListInputFiles(files), kKind));
  return AddContext(ReadLibSvm(paths, width, part), kKind);
}

// Returns rows of `rows` as a dense array (ids, width).
absl::StatusOr<NDArray> Gather(const LibSvmRows& rows, int64_t width,
                               absl::Span<const int64_t> ids) {
  COOPER_ASSIGN_OR_RETURN(const NDArray dense,
                          NDArray::Zeros({static_cast<int64_t>(ids.size()), width}));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, dense.Data<float>());
  int64_t row_begin = 0;
  for (const int64_t id : ids) {
    if (id >= 0) {
      const auto row = static_cast<size_t>(id);
      for (auto i = static_cast<size_t>(rows.begins[row]);
           i < static_cast<size_t>(rows.begins[row + 1]); ++i) {
        values[static_cast<size_t>(row_begin + rows.columns[i])] = rows.values[i];
      }
    }
    row_begin += width;
  }
  return dense;
}

}  // namespace

LibSvmIter::LibSvmIter(const LibSvmIterOptions& options, LibSvmRows data, LibSvmRows label)
    : RoundBatchIter(
          {.kind = kKind,
           .num_rows = data.num_rows(),
           .batch_size = options.batch_size,
           .round_batch = options.round_batch,
           .provide_data = {{.name = options.data_name,
                             .shape = {options.batch_size, options.data_shape[0]}}},
           .provide_label = {{.name = options.label_name,
                              .shape = label.num_rows() == 0
                                           ? Shape{options.batch_size}
                                           : Shape{options.batch_size, options.label_shape[0]}}}}),
      data_(std::move(data)),
      label_(std::move(label)),
      width_(options.data_shape[0]),
      label_width_(options.label_shape[0]) {}

absl::StatusOr<std::unique_ptr<LibSvmIter>> LibSvmIter::Create(const LibSvmIterOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckBatchSize(kKind, options.batch_size));
  COOPER_RETURN_IF_ERROR(CheckOptions(options));
  COOPER_ASSIGN_OR_RETURN(LibSvmRows data, ReadRows(options.data_libsvm, options.data_shape[0],
                                                    {.part_index = options.part_index,
                                                     .num_parts = options.num_parts}));
  if (data.num_rows() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(kKind, ": '", options.data_libsvm,
                                                   "' has no rows in part ", options.part_index,
                                                   " of ", options.num_parts));
  }
  LibSvmRows label;
  if (!options.label_libsvm.empty()) {
    COOPER_ASSIGN_OR_RETURN(label, ReadRows(options.label_libsvm, options.label_shape[0], {}));
    if (label.num_rows() != data.total_rows) {
      return absl::InvalidArgumentError(absl::StrCat(kKind, ": '", options.label_libsvm, "' has ",
                                                     label.num_rows(), " rows, '",
                                                     options.data_libsvm, "' ", data.total_rows));
    }
  }
  return absl::WrapUnique(new LibSvmIter(options, std::move(data), std::move(label)));
}

absl::StatusOr<NDArray> LibSvmIter::GatherData(absl::Span<const int64_t> ids) const {
  return Gather(data_, width_, ids);
}

absl::StatusOr<NDArray> LibSvmIter::GatherLabel(absl::Span<const int64_t> ids) const {
  if (label_.num_rows() > 0) {
    std::vector<int64_t> rows(ids.begin(), ids.end());
    for (int64_t& row : rows) row += row < 0 ? 0 : data_.first_row;
    return Gather(label_, label_width_, rows);
  }
  std::vector<float> labels;
  labels.reserve(ids.size());
  for (const int64_t id : ids) labels.push_back(id < 0 ? 0 : data_.labels[static_cast<size_t>(id)]);
  return NDArray::FromVector({static_cast<int64_t>(ids.size())}, labels);
}

}  // namespace cooper
