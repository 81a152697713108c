#include "ndarray/random/fill_random.h"

#include <cstdint>

#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/random_values.h"
#include "ndarray/threads/parallel.h"

namespace cooper {
namespace {

// The number of elements that justifies another thread.
constexpr int64_t kGrain = 16384;

template <typename Fn>
void FillWith(const FillTarget& target, const Fn& fn) {
  if (target.dtype == DType::kFloat32) {
    float* const out = static_cast<float*>(target.data);
    ParallelFor(target.count, kGrain, [out, &fn](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = fn(static_cast<uint64_t>(i));
    });
    return;
  }
  DispatchDType(target.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* const out = static_cast<T*>(target.data);
    for (int64_t i = 0; i < target.count; ++i) {
      out[i] = ConvertElement<T>(fn(static_cast<uint64_t>(i)));
    }
  });
}

}  // namespace

absl::Status FillWithRandom(const FillTarget& target, RandomType type, double scale,
                            const Philox& random) {
  if (target.count == 0) return absl::OkStatus();
  if (!target.context.is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(const FillFunctions functions, FindFill(target));
    return functions.random(target, type, scale, random);
  }
  if (type == RandomType::kUniform) {
    const auto s = static_cast<float>(scale);
    FillWith(target, [&random, s](uint64_t i) { return UniformValue(random, i, s); });
  } else {
    FillWith(target, [&random, scale](uint64_t i) { return NormalValue(random, i, scale); });
  }
  return absl::OkStatus();
}

}  // namespace cooper
