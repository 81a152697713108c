#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_MAP_QUADS_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_MAP_QUADS_H_

// Applies functions to the elements of typed arrays, four at a time, because a GPU's memory is
// faster with accesses of 16 bytes. For .cu files whose kernels have a dtype as a template
// parameter: dropout, random numbers, LeakyReLU, where, add_n. executor/kernels/loops/element_map.h
// is for arrays whose dtypes are known only at run time.
//
//   __global__ void Double(int64_t n, const T* x, T* y, bool add) {
//     MapQuads(n, x, y, add, [](int64_t, T value) { return value + value; });
//   }
//   return LaunchElements(c, QuadsOf(n), Double, n, x, y, add);

#include <cstdint>

#include "executor/kernels/launch/elements.h"
#include "executor/kernels/launch/launch.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// Four adjacent elements, loaded and stored by one access: 16 bytes for float, 8 for 16-bit floats,
// 4 for bytes. A quad of doubles has 32 bytes and takes two accesses.
template <typename T>
struct alignas(4 * sizeof(T)) Quad {
  T of[4];
};

// Quads of two operands at the same position, loaded together.
template <typename A, typename B>
struct QuadPair {
  Quad<A> a;
  Quad<B> b;
};

// Returns the number of threads that a kernel of MapQuads over n elements can use: n / 4, rounded
// up. Host code.
inline int64_t QuadsOf(int64_t n) { return (n + 3) / 4; }

// Returns whether `data` is aligned for quads. Views that begin inside an array may not be;
// MapQuads then handles single elements. All threads get the same result.
template <typename T>
__device__ bool HoldsQuads(const T* data) {
  return reinterpret_cast<uintptr_t>(data) % alignof(Quad<T>) == 0;
}

// Returns quad i of `data`, the elements 4 * i to 4 * i + 3. Requires HoldsQuads(data).
template <typename T>
__device__ const Quad<T>& QuadAt(const T* data, int64_t i) {
  return reinterpret_cast<const Quad<T>*>(data)[i];
}

// Stores value(k) to, or adds it to, element 4 * i + k, for k < 4. Sums are in the type of
// value(k), then rounded to T (StoreTo). Requires HoldsQuads(out).
template <typename T, typename Value>
__device__ void StoreQuad(T* out, int64_t i, bool add, Value&& value) {
  Quad<T>& to = reinterpret_cast<Quad<T>*>(out)[i];
  Quad<T> quad;
  if (add) quad = to;
#pragma unroll
  for (int k = 0; k < 4; ++k) StoreTo(quad.of + k, value(k), add);
  to = quad;
}

// Computes out[i] = or += fn(i, a[i]) for i in [0, n). `out` may be `a`. fn(i, x) gets the position
// of the element, for functions such as random masks, and returns a value of any arithmetic type
// that converts to T. Called by all threads of a grid of LaunchElements; each element belongs to
// one thread. Takes single elements where an array is not aligned; the results are the same.
template <typename A, typename T, typename Fn>
__device__ void MapQuads(int64_t n, const A* a, T* out, bool add, Fn&& fn) {
  const int64_t quads = HoldsQuads(a) && HoldsQuads(out) ? n / 4 : 0;
  ForEachLoaded(
      quads, [a](int64_t i) { return QuadAt(a, i); },
      [&](int64_t i, const Quad<A>& x) {
        StoreQuad(out, i, add, [&](int k) { return fn(4 * i + k, x.of[k]); });
      });
  for (int64_t i = 4 * quads + FirstElement(); i < n; i += ElementStep()) {
    StoreTo(out + i, fn(i, a[i]), add);
  }
}

// Computes out[i] = or += fn(i, a[i], b[i]) for i in [0, n). `out` may be `a` or `b`. Otherwise the
// contract is that of the function above.
template <typename A, typename B, typename T, typename Fn>
__device__ void MapQuads(int64_t n, const A* a, const B* b, T* out, bool add, Fn&& fn) {
  const int64_t quads = HoldsQuads(a) && HoldsQuads(b) && HoldsQuads(out) ? n / 4 : 0;
  ForEachLoaded(
      quads,
      [a, b](int64_t i) {
        return QuadPair<A, B>{QuadAt(a, i), QuadAt(b, i)};
      },
      [&](int64_t i, const QuadPair<A, B>& x) {
        StoreQuad(out, i, add, [&](int k) { return fn(4 * i + k, x.a.of[k], x.b.of[k]); });
      });
  for (int64_t i = 4 * quads + FirstElement(); i < n; i += ElementStep()) {
    StoreTo(out + i, fn(i, a[i], b[i]), add);
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_MAP_QUADS_H_
