#include "io/batch/ragged_array.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cooper {

std::shared_ptr<const RaggedArray::Samples> RaggedArray::NoSamples() {
  static const auto* const kNone =
      new std::shared_ptr<const Samples>(std::make_shared<const Samples>(Flat{.offsets = {0}}));
  return *kNone;
}

RaggedArray::RaggedArray(std::vector<NDArray> arrays) {
  if (arrays.empty()) return;
  dtype_ = arrays[0].dtype();
  rank_ = arrays[0].shape().rank();
  for (size_t i = 0; i < arrays.size(); ++i) {
    const NDArray& array = arrays[i];
    if (array.is_null() || !array.context().is_cpu() || array.dtype() != dtype_ ||
        array.shape().rank() != rank_) {
      status_ = absl::InvalidArgumentError(
          absl::StrCat("sample ", i, " is ", array.is_null() ? "null" : array.ToString(),
                       ", expected a CPU array of ", rank_, " axes of ", DTypeName(dtype_),
                       i == 0 ? "" : ", as sample 0 is"));
      return;
    }
  }
  samples_ = std::make_shared<const Samples>(std::move(arrays));
}

RaggedArray::RaggedArray(NDArray rows) {
  if (rows.is_null() || !rows.context().is_cpu() || rows.shape().rank() < 1) {
    status_ = absl::InvalidArgumentError(absl::StrCat("the array is ",
                                                      rows.is_null() ? "null" : rows.ToString(),
                                                      ", expected a CPU array with rows"));
    return;
  }
  dtype_ = rows.dtype();
  rank_ = rows.shape().rank() - 1;
  samples_ = std::make_shared<const Samples>(Rows{std::move(rows)});
}

int64_t RaggedArray::size() const {
  if (const auto* flat = std::get_if<Flat>(samples_.get())) {
    return static_cast<int64_t>(flat->offsets.size()) - 1;
  }
  if (const auto* arrays = std::get_if<std::vector<NDArray>>(samples_.get())) {
    return static_cast<int64_t>(arrays->size());
  }
  return std::get<Rows>(*samples_).array.shape()[0];
}

Shape RaggedArray::shape(int64_t i) const {
  if (const auto* flat = std::get_if<Flat>(samples_.get())) {
    return {flat->offsets[i + 1] - flat->offsets[i]};
  }
  if (const auto* arrays = std::get_if<std::vector<NDArray>>(samples_.get())) {
    return (*arrays)[i].shape();
  }
  return Shape(std::get<Rows>(*samples_).array.shape().dims().subspan(1));
}

const void* RaggedArray::data(int64_t i) const {
  if (const auto* flat = std::get_if<Flat>(samples_.get())) {
    return flat->bytes.data() + flat->offsets[i] * SizeOf(dtype_);
  }
  if (const auto* arrays = std::get_if<std::vector<NDArray>>(samples_.get())) {
    return (*arrays)[i].raw_data();
  }
  const NDArray& rows = std::get<Rows>(*samples_).array;
  return static_cast<const char*>(rows.raw_data()) +
         i * rows.shape().Product(1, rows.shape().rank()) * SizeOf(dtype_);
}

}  // namespace cooper
