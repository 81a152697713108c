#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_MAP_KERNEL_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_MAP_KERNEL_H_

// Defines ElementMapOf (element_map.h). Exactly one .cu file includes this header for each function
// and compiles it, because each compiled function adds two or three kernels to the program. If only
// other files use the function, that file instantiates it explicitly:
//
//   template const ElementMap& ElementMapOf<Add>();

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "executor/kernels/launch/launch.h"
#include "executor/kernels/loops/element_map.h"

namespace cooper {

// Whether F, computed in double for integers too, may return a value just below the integer that is
// the exact result. A conversion would truncate it: gamma(6) could give 119. A .cu file specializes
// it as true beside the instantiation of F.
template <typename F>
inline constexpr bool kGivesIntegers = false;

// Returns the nearest integer if `value` differs from it by rounding errors only, which are at most
// 4 units of 2^-52 relative to it; otherwise `value`. NaN and infinities are unchanged.
__device__ inline double ToNearInteger(double value) {
  constexpr double kMaxError = 4 * 0x1p-52;
  const double nearest = rint(value);
  return fabs(value - nearest) <= kMaxError * fabs(nearest) ? nearest : value;
}

// Loads the operands of quad `i`: of the four elements of the output from 4 * i on. i <
// a.quads.count.
template <typename F>
__device__ ElementQuads<F, float> LoadQuads(const MapArguments& a, int64_t i) {
  int64_t at[F::kArity] = {};
  a.quads.At<F::kArity>(i, at);
  return a.operands.LoadQuadsAt<F, float>(a.quads, at);
}

// Computes the quads, if any, then the remaining elements. C is the compute type of a.out_dtype;
// the quads are used for float only. Launched by LaunchElements with any number of threads: each
// thread loops. Each element is read and written by one thread, so `out` may be an input.
template <typename F, typename C>
__global__ void MapElements(const MapArguments a) {
  int64_t first = FirstElement();
  if constexpr (std::is_same_v<C, float>) {
    float4* const out = static_cast<float4*>(a.out);
    ForEachLoaded(
        a.quads.count, [&a](int64_t i) { return LoadQuads<F>(a, i); },
        [&a, out](int64_t i, const ElementQuads<F, float>& x) {
          float4 values = {x.of[0].Apply(), x.of[1].Apply(), x.of[2].Apply(), x.of[3].Apply()};
          if (a.add) {
            const float4 old = out[i];
            values = {old.x + values.x, old.y + values.y, old.z + values.z, old.w + values.w};
          }
          out[i] = values;
        });
    // The remaining elements: at most three, or all of them if there are no quads.
    first += 4 * a.quads.count;
  }
  for (int64_t i = first; i < a.walk.count; i += ElementStep()) {
    int64_t at[F::kArity] = {};
    a.walk.At<F::kArity>(i, at);
    C value = a.operands.LoadAt<F, C>(at).Apply();
    if constexpr (std::is_same_v<C, double> && kGivesIntegers<F>) {
      if (a.to_integers) value = ToNearInteger(value);
    }
    StoreComputed(a.out, a.out_dtype, i, value, a.add);
  }
}

// The definition. The compiler emits the kernels where it instantiates this template. The result
// lives as long as the program.
template <typename F>
const ElementMap& ElementMapOf() {
  static const ElementMap map = [] {
    ElementMap made{F::kArity, F::kExactIntegers, MapElements<F, float>, MapElements<F, double>,
                    nullptr};
    if constexpr (F::kExactIntegers) made.i64 = MapElements<F, int64_t>;
    return made;
  }();
  return map;
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_MAP_KERNEL_H_
