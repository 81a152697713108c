#include "symbol/ops/optimizer/update_op.h"

#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/update_param.h"

namespace cooper {

std::string MasterUpdateName(const std::string& name) {
  return (name[0] == '_' ? "_mp" : "mp_") + name;
}

absl::Status EqualShapes(ShapeContext& c, int first, int count, int output) {
  PartialShape common = c.output(output);
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = first; i < first + count; ++i) {
      COOPER_RETURN_IF_ERROR(c.SetInput(i, common));
      common.Merge(c.input(i));
    }
    COOPER_RETURN_IF_ERROR(c.SetOutput(output, common));
  }
  return absl::OkStatus();
}

absl::Status MasterTypes(TypeContext& c) {
  using enum UpdateInputs::Input;
  const TypeContext::Type weight = c.input(kWeight).has_value() ? c.input(kWeight)
                                   : c.input(kGrad).has_value() ? c.input(kGrad)
                                                                : c.output(0);
  COOPER_RETURN_IF_ERROR(c.SetInput(kWeight, weight));
  COOPER_RETURN_IF_ERROR(c.SetInput(kGrad, weight));
  for (int i = kFirstState; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, DType::kFloat32));
  }
  return c.SetOutput(0, weight);
}

OpBuilder&& UpdateOp(OpBuilder&& op, const std::vector<std::string>& states, bool master) {
  std::vector<std::string> inputs = {"weight", "grad"};
  std::vector<int> written;
  const auto add = [&](const std::string& state) {
    written.push_back(static_cast<int>(inputs.size()));
    inputs.push_back(state);
  };
  for (const std::string& state : states) add(state);
  if (master) add("weight32");
  return std::move(op)
      .Inputs(std::move(inputs))
      .AuxInputs([written = std::move(written)](const OpCall&) { return written; })
      .Shape(SameShape)
      .Type(master ? MasterTypes : SameType)
      .InPlace({{UpdateInputs::kWeight, 0}});
}

}  // namespace cooper
