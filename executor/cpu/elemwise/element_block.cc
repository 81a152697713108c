#include "executor/cpu/elemwise/element_block.h"

namespace cooper {

template <typename C>
void LoadBlock(const void* data, DType dtype, int64_t n, C* block) {
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(data);
    for (int64_t i = 0; i < n; ++i) block[i] = ConvertElement<C>(from[i]);
  });
}

template <typename C>
void StoreBlock(const C* block, int64_t n, WriteReq req, void* data, DType dtype) {
  if (req == WriteReq::kNull) return;
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(data);
    if (req == WriteReq::kWrite) {
      for (int64_t i = 0; i < n; ++i) to[i] = ConvertElement<T>(block[i]);
    } else {
      for (int64_t i = 0; i < n; ++i) {
        to[i] = ConvertElement<T>(static_cast<C>(ConvertElement<C>(to[i]) + block[i]));
      }
    }
  });
}

template <typename C>
C RoundToDType(double value, DType dtype) {
  return DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ConvertElement<C>(ConvertElement<T>(value));
  });
}

#define COOPER_INSTANTIATE(C)                                             \
  template void LoadBlock<C>(const void*, DType, int64_t, C*);            \
  template void StoreBlock<C>(const C*, int64_t, WriteReq, void*, DType); \
  template C RoundToDType<C>(double, DType);

COOPER_INSTANTIATE(float)
COOPER_INSTANTIATE(double)
COOPER_INSTANTIATE(int64_t)

}  // namespace cooper
