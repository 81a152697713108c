#include "symbol/type_context.h"

#include "absl/strings/str_cat.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

absl::Status Merge(TypeContext::Type* known, TypeContext::Type type, const char* kind,
                   const OpSchema::Names& names, int i) {
  if (!type.has_value() || *known == type) return absl::OkStatus();
  if (!known->has_value()) {
    *known = type;
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(kind, " '", i < static_cast<int>(names.size()) ? names[i] : absl::StrCat(i),
                   "' is ", DTypeName(**known), ", expected ", DTypeName(*type)));
}

}  // namespace

absl::Status TypeContext::SetInput(int i, Type type) {
  return Merge(inputs_[i], type, "input", call_.op->InputNames(call_), i);
}

absl::Status TypeContext::SetOutput(int i, Type type) {
  return Merge(outputs_[i], type, "output", call_.op->OutputNames(call_), i);
}

absl::Status SameType(TypeContext& c) {
  TypeContext::Type common;
  for (int i = 0; i < c.num_inputs() && !common; ++i) common = c.input(i);
  for (int i = 0; i < c.num_outputs() && !common; ++i) common = c.output(i);
  for (int i = 0; i < c.num_inputs(); ++i) COOPER_RETURN_IF_ERROR(c.SetInput(i, common));
  for (int i = 0; i < c.num_outputs(); ++i) COOPER_RETURN_IF_ERROR(c.SetOutput(i, common));
  return absl::OkStatus();
}

absl::Status GradientType(TypeContext& c) {
  for (int i = 0; i < c.num_outputs() && i < c.num_forward_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, c.forward_input(i)));
  }
  return absl::OkStatus();
}

}  // namespace cooper
