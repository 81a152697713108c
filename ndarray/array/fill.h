#ifndef COOPER_NDARRAY_ARRAY_FILL_H_
#define COOPER_NDARRAY_ARRAY_FILL_H_

// Memory is filled where it is, by functions of its kind of device: the CPU's are always there,
// ndarray/cuda brings the GPU's. Random numbers are fill_random.h's.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/philox.h"

namespace cooper {

// Memory of `count` elements.
struct FillTarget {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  int64_t count = 0;
  Context context;
};

enum class RandomType { kUniform, kGaussian };

// What a kind of device other than the CPU brings. Each overwrites all elements, of which there is
// one at least; it is queued, in the order of copies.
struct FillFunctions {
  absl::Status (*value)(const FillTarget& target, double value) = nullptr;
  // Element i is UniformValue or NormalValue i of `random` (random_values.h), converted to the
  // dtype: the same bits on every device.
  absl::Status (*random)(const FillTarget& target, RandomType type, double scale,
                         const Philox& random) = nullptr;
};

// kUnimplemented if no such kind of device is linked.
absl::Status Fill(const FillTarget& target, double value);

// Makes the functions of a kind of device known; called once, from a static initializer.
void RegisterFill(DeviceType type, const FillFunctions& functions);
// Those of the target's device; Fill's error.
absl::StatusOr<FillFunctions> FindFill(const FillTarget& target);

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_FILL_H_
