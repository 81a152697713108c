#include "executor/run/program_arrays.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::Status CheckArray(const char* kind, const std::string& name, const NDArray& array,
                        const Shape& shape, DType dtype, Context context) {
  if (HasShapeAndType(array, shape, dtype, context)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", name, "' is ",
                                                 array.is_null() ? "missing" : array.ToString(),
                                                 ", expected ", Describe(shape, dtype, context)));
}

}  // namespace

std::string Describe(const Shape& shape, DType dtype, Context context) {
  return absl::StrCat(shape.ToString(), " ", DTypeName(dtype), " ", context.ToString());
}

bool HasShapeAndType(const NDArray& array, const Shape& shape, DType dtype, Context context) {
  return !array.is_null() && array.shape() == shape && array.dtype() == dtype &&
         SharesMemory(array.context(), context);
}

bool Overlap(const NDArray& a, const NDArray& b) {
  const auto* const a_data = static_cast<const char*>(a.raw_data());
  const auto* const b_data = static_cast<const char*>(b.raw_data());
  return a_data != nullptr && b_data != nullptr && a_data < b_data + b.size_bytes() &&
         b_data < a_data + a.size_bytes();
}

WrittenRanges::WrittenRanges(const std::vector<NDArray>& written) {
  for (const NDArray& array : written) {
    const auto* const begin = static_cast<const char*>(array.raw_data());
    if (begin != nullptr) ranges_.push_back({begin, begin + array.size_bytes()});
  }
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges_.size(); ++i) {
    ranges_[i].end = std::max(ranges_[i].end, ranges_[i - 1].end);
  }
}

bool WrittenRanges::Overlap(const NDArray& array) const {
  const auto* const begin = static_cast<const char*>(array.raw_data());
  if (begin == nullptr) return false;
  const char* const end = begin + array.size_bytes();
  const auto behind = std::partition_point(ranges_.begin(), ranges_.end(),
                                           [end](const Range& range) { return range.begin < end; });
  return behind != ranges_.begin() && begin < (behind - 1)->end;
}

absl::Status CheckArrays(const CompiledProgram& compiled, ProgramArrays& arrays) {
  const Program& p = compiled.program();
  arrays.args.resize(p.arg_names.size());
  arrays.grads.resize(p.arg_names.size());
  arrays.auxs.resize(p.aux_names.size());
  for (size_t i = 0; i < p.arg_names.size(); ++i) {
    if (arrays.args[i].is_null()) continue;
    COOPER_RETURN_IF_ERROR(CheckArray("argument", p.arg_names[i], arrays.args[i],
                                      compiled.arg_shapes()[i], compiled.arg_types()[i],
                                      compiled.arg_contexts()[i]));
  }
  for (size_t i = 0; i < p.aux_names.size(); ++i) {
    COOPER_RETURN_IF_ERROR(CheckArray("auxiliary state", p.aux_names[i], arrays.auxs[i],
                                      compiled.aux_shapes()[i], compiled.aux_types()[i],
                                      compiled.aux_contexts()[i]));
  }
  for (const ProgramGradient& g : p.gradients) {
    COOPER_RETURN_IF_ERROR(CheckArray("gradient of", p.arg_names[g.arg], arrays.grads[g.arg],
                                      compiled.arg_shapes()[g.arg], compiled.arg_types()[g.arg],
                                      compiled.arg_contexts()[g.arg]));
  }
  return absl::OkStatus();
}

}  // namespace cooper
