#include "module/parameters/device_reduction.h"

#include "absl/status/status.h"
#include "executor/run/invoke.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<std::vector<float>> ReduceOnDevice(absl::string_view op, const AttrMap& attrs,
                                                  absl::Span<const NDArray> arrays, int64_t size) {
  COOPER_ASSIGN_OR_RETURN(const NDArray output,
                          NDArray::Empty(Shape({size}), DType::kFloat32, arrays[0].context()));
  std::vector<const NDArray*> inputs;
  inputs.reserve(arrays.size());
  for (const NDArray& array : arrays) inputs.push_back(&array);
  const absl::Status status = Invoke(op, attrs, inputs, {&output});
  if (absl::IsNotFound(status) || absl::IsUnimplemented(status)) return std::vector<float>();
  COOPER_RETURN_IF_ERROR(status);
  return output.ToVector<float>();
}

}  // namespace cooper
