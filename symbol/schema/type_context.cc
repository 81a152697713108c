#include "symbol/schema/type_context.h"

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Merges `type` into `known`. Returns false on a contradiction.
bool Merge(TypeContext::Type* known, TypeContext::Type type) {
  if (!known->has_value()) *known = type;
  return !type.has_value() || *known == type;
}

absl::Status Conflict(const char* kind, const OpSchema::Names& names, int i, DType known,
                      DType expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(kind, " '", i < static_cast<int>(names.size()) ? names[i] : absl::StrCat(i),
                   "' is ", DTypeName(known), ", expected ", DTypeName(expected)));
}

}  // namespace

absl::Status TypeContext::SetInput(int i, Type type) {
  if (Merge(inputs_[i], type)) return absl::OkStatus();
  return Conflict("input", call_.op->InputNames(call_), i, **inputs_[i], *type);
}

absl::Status TypeContext::SetOutput(int i, Type type) {
  if (Merge(outputs_[i], type)) return absl::OkStatus();
  return Conflict("output", call_.op->OutputNames(call_), i, **outputs_[i], *type);
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
