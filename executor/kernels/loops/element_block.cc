#include "executor/kernels/loops/element_block.h"

#include <type_traits>

#include "executor/kernels/loops/wrapping.h"
#include "ndarray/base/float16.h"
#include "ndarray/threads/cpu_level.h"

#if defined(COOPER_CPU_LEVELS) || defined(__F16C__)
#define COOPER_HAS_F16C 1
#include <immintrin.h>
#endif
#ifndef COOPER_TARGET_AVX2
#define COOPER_TARGET_AVX2
#endif

namespace cooper {
namespace {

#ifdef COOPER_HAS_F16C

// Convert as float16.h does, but eight elements at a time: compilers do not use these instructions
// by themselves. Return the number of elements converted.
COOPER_TARGET_AVX2 int64_t LoadEights(const Float16* from, int64_t n, float* block) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
    _mm256_storeu_ps(block + i, _mm256_cvtph_ps(bits));
  }
  return i;
}

COOPER_TARGET_AVX2 int64_t StoreEights(const float* block, int64_t n, Float16* to) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m128i bits = _mm256_cvtps_ph(_mm256_loadu_ps(block + i), _MM_FROUND_TO_NEAREST_INT);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), bits);
  }
  return i;
}

bool HasF16c() {
#ifdef COOPER_CPU_LEVELS
  return GetCpuLevel() >= CpuLevel::kAvx2;
#else
  return true;
#endif
}

#else

int64_t LoadEights(const Float16*, int64_t, float*) { return 0; }
int64_t StoreEights(const float*, int64_t, Float16*) { return 0; }
bool HasF16c() { return false; }

#endif

void LoadFloat16(const Float16* from, int64_t n, float* block) {
  for (int64_t i = HasF16c() ? LoadEights(from, n, block) : 0; i < n; ++i) {
    block[i] = static_cast<float>(from[i]);
  }
}

void StoreFloat16(const float* block, int64_t n, Float16* to) {
  for (int64_t i = HasF16c() ? StoreEights(block, n, to) : 0; i < n; ++i) to[i] = Float16(block[i]);
}

}  // namespace

template <typename C>
void LoadBlock(const void* data, DType dtype, int64_t n, C* block) {
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(data);
    if constexpr (std::is_same_v<T, Float16> && std::is_same_v<C, float>) {
      LoadFloat16(from, n, block);
      return;
    }
    RunAtCpuLevel([=] {
      for (int64_t i = 0; i < n; ++i) block[i] = ConvertElement<C>(from[i]);
    });
  });
}

template <typename C>
void StoreBlock(const C* block, int64_t n, WriteReq req, void* data, DType dtype) {
  if (req == WriteReq::kNull) return;
  DispatchDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(data);
    if (req == WriteReq::kWrite) {
      if constexpr (std::is_same_v<T, Float16> && std::is_same_v<C, float>) {
        StoreFloat16(block, n, to);
        return;
      }
      RunAtCpuLevel([=] {
        for (int64_t i = 0; i < n; ++i) to[i] = ConvertElement<T>(block[i]);
      });
    } else {
      RunAtCpuLevel([=] {
        for (int64_t i = 0; i < n; ++i) {
          to[i] = ConvertElement<T>(WrapAdd(ConvertElement<C>(to[i]), block[i]));
        }
      });
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
