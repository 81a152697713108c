#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_WALK_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_WALK_H_

// How kernels find and read the elements of up to four arrays that are broadcast together. For .cu
// files.

#include <cstdint>
#include <cstring>

#include "absl/types/span.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/loops/broadcast_plan.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "ndarray/base/dtype.h"

namespace cooper {

inline constexpr int kMaxMapArity = 4;

// A nest of loops over operands, outermost first, that is walked by number.
struct ElementWalk {
  int64_t count = 1;
  int rank = 0;
  // Whether all numbers fit uint32_t, whose divisions are several times faster.
  bool small = true;
  int64_t extents[BroadcastPlan::kMaxRank];
  int64_t strides[kMaxMapArity][BroadcastPlan::kMaxRank];

  // Adds axis `axis` of the plan inside of the loops that there are.
  void Add(const BroadcastPlan& plan, int axis, int arity) {
    extents[rank] = plan.extents[axis];
    for (int k = 0; k < arity; ++k) strides[k][rank] = plan.strides[k][axis];
    ++rank;
    count *= plan.extents[axis];
    small = count <= INT32_MAX;
  }

  // Adds the offsets of iteration i to `offsets`.
  template <int kArity>
  __device__ void At(int64_t i, int64_t* offsets) const {
    if (rank > 1) {
      if (small) {
        i = Unwind<kArity>(static_cast<uint32_t>(i), offsets);
      } else {
        i = Unwind<kArity>(static_cast<uint64_t>(i), offsets);
      }
    }
    if (rank == 0) return;
#pragma unroll
    for (int k = 0; k < kArity; ++k) offsets[k] += i * strides[k][0];
  }

 private:
  // The part of all axes but the outermost one, whose index it returns.
  template <int kArity, typename Index>
  __device__ int64_t Unwind(Index i, int64_t* offsets) const {
    for (int axis = rank - 1; axis > 0; --axis) {
      const Index extent = static_cast<Index>(extents[axis]);
      const Index rest = i / extent;
      const int64_t at = static_cast<int64_t>(i - rest * extent);
#pragma unroll
      for (int k = 0; k < kArity; ++k) offsets[k] += at * strides[k][axis];
      i = rest;
    }
    return static_cast<int64_t>(i);
  }
};

// What a function is applied to.
template <typename F, typename C>
struct ElementsOf {
  C of[F::kArity];

  __device__ C Apply() const {
    if constexpr (F::kArity == 1) {
      return F::Apply(of[0]);
    } else if constexpr (F::kArity == 2) {
      return F::Apply(of[0], of[1]);
    } else if constexpr (F::kArity == 3) {
      return F::Apply(of[0], of[1], of[2]);
    } else {
      return F::Apply(of[0], of[1], of[2], of[3]);
    }
  }
};

// The same four times.
template <typename F, typename C>
struct ElementQuads {
  ElementsOf<F, C> of[4];
};

// The operands of a function as a kernel reads them.
struct ElementOperands {
  const void* data[kMaxMapArity];  // null: the scalar
  DType dtype[kMaxMapArity];
  int64_t scalar[kMaxMapArity];  // the bytes of a number of the type that one computes in

  template <typename C>
  __device__ C Load(int k, int64_t at) const {
    if (data[k] == nullptr) return Scalar<C>(k);
    // What most arrays are, before the switch over all dtypes.
    if (dtype[k] == DTypeOf<C>()) return static_cast<const C*>(data[k])[at];
    return LoadElement<C>(data[k], dtype[k], at);
  }

  // The elements at these offsets.
  template <typename F, typename C>
  __device__ ElementsOf<F, C> LoadAt(const int64_t* at) const {
    ElementsOf<F, C> x;
#pragma unroll
    for (int k = 0; k < F::kArity; ++k) x.of[k] = Load<C>(k, at[k]);
    return x;
  }

  // The same where AreFloats().
  template <typename F, typename C>
  __device__ ElementsOf<F, C> LoadFloatsAt(const int64_t* at) const {
    ElementsOf<F, C> x;
#pragma unroll
    for (int k = 0; k < F::kArity; ++k) {
      x.of[k] = data[k] == nullptr ? Scalar<C>(k) : static_cast<const float*>(data[k])[at[k]];
    }
    return x;
  }

  // The four elements from these offsets on, of a walk of QuadWalkOf().
  template <typename F, typename C>
  __device__ ElementQuads<F, C> LoadQuadsAt(const ElementWalk& quads, const int64_t* at) const {
    ElementQuads<F, C> x;
#pragma unroll
    for (int k = 0; k < F::kArity; ++k) {
      const auto* const floats = static_cast<const float*>(data[k]);
      if (floats != nullptr && quads.strides[k][quads.rank - 1] != 0) {
        const float4 quad = *reinterpret_cast<const float4*>(floats + at[k]);
        x.of[0].of[k] = quad.x;
        x.of[1].of[k] = quad.y;
        x.of[2].of[k] = quad.z;
        x.of[3].of[k] = quad.w;
      } else {
        const C value = floats == nullptr ? Scalar<C>(k) : floats[at[k]];
#pragma unroll
        for (int q = 0; q < 4; ++q) x.of[q].of[k] = value;
      }
    }
    return x;
  }

  // Whether all of them are arrays of float32, or scalars, which needs no switch at each element.
  bool AreFloats(int arity) const {
    for (int k = 0; k < arity; ++k) {
      if (data[k] != nullptr && dtype[k] != DType::kFloat32) return false;
    }
    return true;
  }

  // The number that stands for an operand without data.
  template <typename C>
  __device__ C Scalar(int k) const {
    C value;
    memcpy(&value, &scalar[k], sizeof(C));
    return value;
  }
};

// Scalars are rounded to `dtype`, then converted to the type that one computes in, which
// `exact_integers` decides as in DispatchCompute.
ElementOperands ElementOperandsOf(absl::Span<const ElemwiseOperand> operands, DType dtype,
                                  bool exact_integers);

// The walk over as many elements as `walk` begins with, four next to each other at a time, whose
// values are loaded at once; all but at most three of a walk of one axis. Of no elements where
// arrays are not of float32 or do not lie so.
ElementWalk QuadWalkOf(const ElementOperands& operands, int arity, const ElementWalk& walk);

// Converts `value` into element `at`, or adds it to it.
template <typename C>
__device__ void StoreComputed(void* data, DType dtype, int64_t at, C value, bool add) {
  if (dtype == DTypeOf<C>()) {
    StoreTo(static_cast<C*>(data) + at, value, add);
  } else {
    StoreElement(data, dtype, at, value, add);
  }
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_WALK_H_
