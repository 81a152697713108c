#ifndef COOPER_EXECUTOR_CUDA_ELEMWISE_ELEMENT_MAP_KERNEL_H_
#define COOPER_EXECUTOR_CUDA_ELEMWISE_ELEMENT_MAP_KERNEL_H_

// The kernels that ElementMapOf hands out. Included by the one .cu file that compiles a function;
// where it does not use the function itself it says
//
//   template const ElementMap& ElementMapOf<Add>();

#include <cstdint>

#include "executor/cuda/elemwise/element_map.h"
#include "executor/cuda/launch.h"

namespace cooper {

template <typename F, typename C>
__global__ void MapElements(const MapArguments a) {
  for (int64_t i = FirstElement(); i < a.walk.count; i += ElementStep()) {
    int64_t at[F::kArity] = {};
    a.walk.At<F::kArity>(i, at);
    StoreComputed(a.out, a.out_dtype, i, a.operands.Apply<F, C>(at), a.add);
  }
}

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

#endif  // COOPER_EXECUTOR_CUDA_ELEMWISE_ELEMENT_MAP_KERNEL_H_
