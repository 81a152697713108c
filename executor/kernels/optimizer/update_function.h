#ifndef COOPER_EXECUTOR_KERNELS_OPTIMIZER_UPDATE_FUNCTION_H_
#define COOPER_EXECUTOR_KERNELS_OPTIMIZER_UPDATE_FUNCTION_H_

// Declares what the updates of weights share on every device. A struct defines the update of one
// element once, for all devices:
//
//   struct SgdMomUpdate {
//     using Param = SgdMomParam;
//     static constexpr int kStates = 1;
//     // fn(w, g, states...), which changes w and the states; C is the type of the arithmetic.
//     template <typename C>
//     struct Fn {
//       C lr, ...;
//       COOPER_HOST_DEVICE void operator()(C& w, C g, C& m) const { ... }
//     };
//     template <typename C>
//     COOPER_HOST_DEVICE static Fn<C> Make(const Param& p) {
//       return {.lr = As<C>(p.lr), ...};
//     }
//   };
//
// The structs take the place of lambdas, which functions for the device cannot return.

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "executor/program/kernel.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/host_device.h"
#include "symbol/ops/optimizer/update_param.h"

namespace cooper {

// The dtypes of the weights that update kernels take.
inline constexpr DTypeSet kUpdateDTypes = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                           DType::kBfloat16};

// Converts a parameter to the compute type. The host computes parameters in double; float would
// round, for example, 1 - lr * wd twice.
template <typename C>
COOPER_HOST_DEVICE C As(double value) {
  return static_cast<C>(value);
}

// Converts a limit of the parameters to the compute type. A negative value means no limit and
// becomes infinity, so that Clip needs no branch.
template <typename C>
COOPER_HOST_DEVICE C LimitAs(double limit) {
  return As<C>(limit < 0 ? std::numeric_limits<double>::infinity() : limit);
}

// Returns `value` clipped to [-limit, limit]. NaN stays NaN. An infinite limit changes nothing.
template <typename C>
COOPER_HOST_DEVICE C Clip(C value, C limit) {
  return std::min(std::max(value, -limit), limit);  // keeps NaN
}

// Calls run(TypeTag<W>, TypeTag<G>) with the types of a trained weight and of its gradient. With
// kMaster the weight is float32 and the gradient float16 or bfloat16; else both have the same
// floating dtype. Returns false for other dtypes, without a call.
template <bool kMaster, typename Run>
bool DispatchUpdate(DType weight, DType grad, const Run& run) {
  if constexpr (kMaster) {
    if (weight != DType::kFloat32) return false;
    if (grad == DType::kFloat16) return run(TypeTag<float>(), TypeTag<Float16>()), true;
    if (grad == DType::kBfloat16) return run(TypeTag<float>(), TypeTag<BFloat16>()), true;
  } else {
    if (weight != grad) return false;
    if (weight == DType::kFloat32) return run(TypeTag<float>(), TypeTag<float>()), true;
    if (weight == DType::kFloat64) return run(TypeTag<double>(), TypeTag<double>()), true;
    if (weight == DType::kFloat16) return run(TypeTag<Float16>(), TypeTag<Float16>()), true;
    if (weight == DType::kBfloat16) return run(TypeTag<BFloat16>(), TypeTag<BFloat16>()), true;
  }
  return false;
}

// Returns kUnimplemented with a message that names the operator, the device and the dtypes.
inline absl::Status UnsupportedUpdateError(const KernelContext& c, DType weight, DType grad) {
  return absl::UnimplementedError(absl::StrCat(
      c.call.op->name(), " on ", c.context.is_cpu() ? "cpu" : "gpu", ": no kernel for ",
      DTypeName(weight), " weights with ", DTypeName(grad), " gradients"));
}

// The arrays of one weight's update. Views: it owns no memory.
struct UpdateArrays {
  ArrayView weight;  // the trained weight: the float32 copy of a master update
  // The gradient, of the weight's size; its dtype is that of the network with a master update.
  ArrayView grad;
  // Arrays of the weight's size, which are updated in place.
  absl::Span<const ArrayView> states;
  ArrayView output;  // may be the weight
  // How the new weight is written to the output.
  WriteReq req = WriteReq::kWrite;
};

// Returns the arrays of an update, whose inputs have the order of UpdateInputs in update_op.h. The
// inputs are weight, gradient, states and, with kMaster, the float32 weight. The spans refer to
// `inputs`, which must outlive the result.
template <int kStates, bool kMaster>
UpdateArrays ArraysOfUpdate(absl::Span<const ArrayView> inputs, const ArrayView& output,
                            WriteReq req) {
  using enum UpdateInputs::Input;
  return {.weight = inputs[kMaster ? kFirstState + kStates : kWeight],
          .grad = inputs[kGrad],
          .states = inputs.subspan(kFirstState, kStates),
          .output = output,
          .req = req};
}

}  // namespace cooper

#endif  // COOPER_EXECUTOR_KERNELS_OPTIMIZER_UPDATE_FUNCTION_H_
