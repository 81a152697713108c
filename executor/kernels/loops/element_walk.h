#ifndef COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_WALK_H_
#define COOPER_EXECUTOR_KERNELS_LOOPS_ELEMENT_WALK_H_

// Access to the elements of up to four arrays that are broadcast together, for kernels that compute
// them in the order of the output: the maps of element_map.h and the reductions of
// element_reduce.h. For .cu files. The host makes an ElementWalk and an ElementOperands, which are
// passed to the kernel by value; each thread then turns the number of an element into offsets and
// loads the operands.
//
//   for (int64_t i = FirstElement(); i < walk.count; i += ElementStep()) {
//     int64_t at[F::kArity] = {};
//     walk.At<F::kArity>(i, at);
//     const C value = operands.LoadAt<F, C>(at).Apply();
//     StoreComputed(out, out_dtype, i, value, add);
//   }

#include <cstdint>
#include <cstring>

#include "absl/types/span.h"
#include "executor/kernels/launch/elements.h"
#include "executor/kernels/loops/broadcast_plan.h"
#include "executor/kernels/loops/elemwise_operand.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// The most operands of an ElementMap.
inline constexpr int kMaxMapArity = 4;

// A nest of loops over operands, outermost first, whose iterations are numbered from 0 to count -
// 1, with the innermost loop fastest. An empty nest has one iteration, at offset 0 of each operand.
struct ElementWalk {
  int64_t count = 1;  // the product of the extents
  int rank = 0;       // at most BroadcastPlan::kMaxRank
  // Whether all iteration numbers fit uint32_t, whose divisions are several times faster: whether
  // `count` is at most INT32_MAX.
  bool small = true;
  int64_t extents[BroadcastPlan::kMaxRank];
  // Distances in elements between consecutive iterations of each loop, for each operand.
  int64_t strides[kMaxMapArity][BroadcastPlan::kMaxRank];

  // Adds axis `axis` of the plan as the innermost loop. `arity` is the number of operands, which
  // are the first ones of the plan. Host code.
  void Add(const BroadcastPlan& plan, int axis, int arity) {
    extents[rank] = plan.extents[axis];
    for (int k = 0; k < arity; ++k) strides[k][rank] = plan.strides[k][axis];
    ++rank;
    count *= plan.extents[axis];
    small = count <= INT32_MAX;
  }

  // Adds the offsets of iteration i to offsets[0] to offsets[kArity - 1], in elements. Costs one
  // division per loop except the outermost one.
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
  // Adds the offsets of all axes but the outermost one, whose index it returns. Index is the
  // unsigned type of the divisions.
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

// The arguments of one call of F, in the compute type C. Lives in registers.
template <typename F, typename C>
struct ElementsOf {
  C of[F::kArity];

  // Returns F::Apply of the arguments.
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

// The arguments of four calls of F, for four adjacent elements of the output.
template <typename F, typename C>
struct ElementQuads {
  ElementsOf<F, C> of[4];
};

// The operands of a function, in the form that a kernel reads. ElementOperandsOf makes it. The
// arrays are in device memory and not owned.
struct ElementOperands {
  const void* data[kMaxMapArity];  // null for a scalar
  DType dtype[kMaxMapArity];       // of the arrays; not read for a scalar
  int64_t scalar[kMaxMapArity];    // the bytes of a number of the compute type

  // Returns element `at` of operand k, or the scalar, as a C.
  template <typename C>
  __device__ C Load(int k, int64_t at) const {
    if (data[k] == nullptr) return Scalar<C>(k);
    // Most arrays have dtype C, which avoids the switch over dtypes.
    if (dtype[k] == DTypeOf<C>()) return static_cast<const C*>(data[k])[at];
    return LoadElement<C>(data[k], dtype[k], at);
  }

  // Loads the elements at the offsets at[0] to at[F::kArity - 1], which ElementWalk::At computes.
  template <typename F, typename C>
  __device__ ElementsOf<F, C> LoadAt(const int64_t* at) const {
    ElementsOf<F, C> x;
#pragma unroll
    for (int k = 0; k < F::kArity; ++k) x.of[k] = Load<C>(k, at[k]);
    return x;
  }

  // Loads these elements without the switch over dtypes. Requires AreFloats().
  template <typename F, typename C>
  __device__ ElementsOf<F, C> LoadFloatsAt(const int64_t* at) const {
    ElementsOf<F, C> x;
#pragma unroll
    for (int k = 0; k < F::kArity; ++k) {
      x.of[k] = data[k] == nullptr ? Scalar<C>(k) : static_cast<const float*>(data[k])[at[k]];
    }
    return x;
  }

  // Loads the four elements from these offsets on, for a walk of QuadWalkOf(). An operand with
  // stride 0 along the innermost loop, or a scalar, has the same value in all four. C is float.
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

  // Returns whether the first `arity` operands are float32 arrays or scalars, so that no switch is
  // needed. Host code.
  bool AreFloats(int arity) const {
    for (int k = 0; k < arity; ++k) {
      if (data[k] != nullptr && dtype[k] != DType::kFloat32) return false;
    }
    return true;
  }

  // Returns the value of a scalar operand. C is the compute type for which ElementOperandsOf stored
  // it.
  template <typename C>
  __device__ C Scalar(int k) const {
    C value;
    memcpy(&value, &scalar[k], sizeof(C));
    return value;
  }
};

// Returns the operands in the form that a kernel reads, for an output of `dtype`. Scalars are
// rounded to `dtype`, then converted to the compute type, which `exact_integers` selects as in
// DispatchCompute.
ElementOperands ElementOperandsOf(absl::Span<const ElemwiseOperand> operands, DType dtype,
                                  bool exact_integers);

// Returns a walk over four adjacent elements at a time, which are loaded together. Its offsets are
// in elements, and its iteration i stands for the elements 4 * i to 4 * i + 3 of `walk`. It covers
// the elements of `walk` from the first on; if `walk` has one axis, the last elements, at most
// three, are not covered.
//
// It is empty (count 0) if an array is not float32 or is not aligned to 16 bytes, if an innermost
// stride is neither 0 nor 1, or if `walk` has several axes and the innermost extent, or an outer
// stride of an array that is contiguous along the innermost axis, is not a multiple of 4. The
// caller checks the alignment of the output. Host code.
ElementWalk QuadWalkOf(const ElementOperands& operands, int arity, const ElementWalk& walk);

// Stores `value` converted to `dtype` at element `at`, or adds it: StoreElement, but without the
// switch where `dtype` is that of C.
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
