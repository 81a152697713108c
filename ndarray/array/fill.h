#ifndef COOPER_NDARRAY_ARRAY_FILL_H_
#define COOPER_NDARRAY_ARRAY_FILL_H_

// Fills memory on the device that holds it. The CPU's functions are always present; linking
// ndarray/cuda registers the GPU's. fill_random.h fills with random numbers.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/philox.h"

namespace cooper {

// A block of `count` elements of `dtype`, in the memory of `context`.
struct FillTarget {
  void* data = nullptr;
  DType dtype = DType::kFloat32;
  int64_t count = 0;
  Context context;
};

// The distribution of random fills: uniform in [-scale, scale), or normal with mean 0 and standard
// deviation `scale`.
enum class RandomType { kUniform, kGaussian };

// The fill functions of a kind of device other than the CPU. Each overwrites all elements (at least
// one) and is queued in the same order relative to other work as Device::Copy.
struct FillFunctions {
  // Sets all elements to `value`, converted to the dtype.
  absl::Status (*value)(const FillTarget& target, double value) = nullptr;
  // Sets element i to UniformValue or NormalValue i of `random` (random_values.h), converted to the
  // dtype: the same bits on every device.
  absl::Status (*random)(const FillTarget& target, RandomType type, double scale,
                         const Philox& random) = nullptr;
};

// Overwrites all elements with `value`, converted to the dtype. kUnimplemented if no device of the
// target's kind is linked.
absl::Status Fill(const FillTarget& target, double value);

// Registers the functions of a kind of device; called once, from a static initializer.
void RegisterFill(DeviceType type, const FillFunctions& functions);
// Returns the functions of the target's device, which must not be a CPU. kUnimplemented if no
// device of that kind is linked.
absl::StatusOr<FillFunctions> FindFill(const FillTarget& target);

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_FILL_H_
