#include "ndarray/array/on_cpu.h"

#include "ndarray/base/context.h"

namespace cooper {

absl::StatusOr<NDArray> OnCpu(const NDArray& array) {
  if (array.context().is_cpu()) return array;
  return array.CopyTo(Context::Cpu());
}

}  // namespace cooper
