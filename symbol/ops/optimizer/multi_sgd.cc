// Gradient descent on several weights at once. MXNet: src/operator/optimizer_op.cc and
// contrib/preloaded_multi_sgd.cc. The inputs are those of each weight's update in turn.

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/multi_param.h"
#include "symbol/ops/optimizer/update_op.h"

namespace cooper {
namespace {

template <bool kMomentum, bool kMaster, bool kPreloaded>
struct MultiSgd {
  using Param = MultiSgdParamOf<kMomentum, kPreloaded>;
  static constexpr int kPerWeight = 2 + kMomentum + kMaster;

  static OpSchema::Names Inputs(const OpCall& call) {
    OpSchema::Names names;
    for (int i = 0; i < call.param<Param>().num_weights; ++i) {
      names.push_back(absl::StrCat("weight_", i));
      names.push_back(absl::StrCat("grad_", i));
      if (kMomentum) names.push_back(absl::StrCat("mom_", i));
      if (kMaster) names.push_back(absl::StrCat("weight32_", i));
    }
    if (kPreloaded) {
      names.push_back("lrs");
      names.push_back("wds");
    }
    return names;
  }

  static OpSchema::Names Outputs(const OpCall& call) {
    const int count = call.param<Param>().num_weights;
    if (count == 1) return {"output"};
    OpSchema::Names names;
    for (int i = 0; i < count; ++i) names.push_back(absl::StrCat("output", i));
    return names;
  }

  static std::vector<int> Written(const OpCall& call) {
    std::vector<int> written;
    for (int i = 0; i < call.param<Param>().num_weights; ++i) {
      for (int k = 2; k < kPerWeight; ++k) written.push_back(i * kPerWeight + k);
    }
    return written;
  }

  static absl::Status Shape(ShapeContext& c) {
    const int count = c.param<Param>().num_weights;
    for (int i = 0; i < count; ++i) {
      COOPER_RETURN_IF_ERROR(EqualShapes(c, i * kPerWeight, kPerWeight, i));
    }
    for (int i = count * kPerWeight; i < c.num_inputs(); ++i) {
      COOPER_RETURN_IF_ERROR(c.SetInput(i, cooper::Shape({count}), "(num_weights,)"));
    }
    return absl::OkStatus();
  }

  // All weights have one dtype, as in MXNet.
  static absl::Status Type(TypeContext& c) {
    const int count = c.param<Param>().num_weights;
    TypeContext::Type weight = c.output(0);
    for (int i = 0; i < count && !weight.has_value(); ++i) weight = c.input(i * kPerWeight);
    for (int i = 0; i < c.num_inputs(); ++i) {
      const int k = i % kPerWeight;
      const bool is_float32 = i >= count * kPerWeight || (kMaster && k >= 2);
      COOPER_RETURN_IF_ERROR(
          c.SetInput(i, is_float32 ? TypeContext::Type(DType::kFloat32) : weight));
    }
    for (int i = 0; i < count; ++i) COOPER_RETURN_IF_ERROR(c.SetOutput(i, weight));
    return absl::OkStatus();
  }

  static OpBuilder Op() {
    OpBuilder op(absl::StrCat(kPreloaded ? "preloaded_" : "", "multi_", kMaster ? "mp_" : "",
                              kMomentum ? "sgd_mom_update" : "sgd_update"));
    std::move(op)
        .Describe("The update of that name for each of num_weights weights.")
        .template Param<Param>()
        .Inputs(Inputs)
        .AuxInputs(Written)
        .Outputs(Outputs)
        .Shape(Shape)
        .Type(Type);
    return op;
  }
};

const OpRegistrar kOps[] = {
    MultiSgd<false, false, false>::Op(), MultiSgd<true, false, false>::Op(),
    MultiSgd<false, true, false>::Op(),  MultiSgd<true, true, false>::Op(),
    MultiSgd<false, false, true>::Op(),  MultiSgd<true, false, true>::Op(),
    MultiSgd<false, true, true>::Op(),   MultiSgd<true, true, true>::Op(),
};

}  // namespace
}  // namespace cooper
