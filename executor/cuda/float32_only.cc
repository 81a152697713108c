#include "executor/cuda/float32_only.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/dtype.h"
#include "symbol/op.h"

namespace cooper {

absl::StatusOr<Prepared> RequireFloat32(const PrepareContext& c) {
  for (const auto& views : {c.inputs, c.outputs}) {
    for (const ArrayView& view : views) {
      if (view.dtype == DType::kFloat32) continue;
      return absl::UnimplementedError(
          absl::StrCat(c.call.op->name(), " on gpu: no kernel for ", DTypeName(view.dtype)));
    }
  }
  return Prepared{};
}

}  // namespace cooper
