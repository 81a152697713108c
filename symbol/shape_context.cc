#include "symbol/shape_context.h"

#include "absl/strings/str_cat.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

absl::Status Conflict(const char* kind, const std::string& name, const PartialShape& known,
                      const PartialShape& expected, const char* why) {
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", name, "' has shape ", known.ToString(),
                                                 ", expected ", expected.ToString(),
                                                 *why == '\0' ? "" : " = ", why));
}

std::string NameAt(const OpSchema::Names& names, int i) {
  return i < static_cast<int>(names.size()) ? names[i] : absl::StrCat(i);
}

}  // namespace

absl::Status ShapeContext::SetInput(int i, const PartialShape& shape, const char* why) {
  if (inputs_[i]->Merge(shape)) return absl::OkStatus();
  return Conflict("input", NameAt(call_.op->InputNames(call_), i), *inputs_[i], shape, why);
}

absl::Status ShapeContext::SetOutput(int i, const PartialShape& shape, const char* why) {
  if (outputs_[i]->Merge(shape)) return absl::OkStatus();
  return Conflict("output", NameAt(call_.op->OutputNames(call_), i), *outputs_[i], shape, why);
}

absl::Status SameShape(ShapeContext& c) {
  PartialShape common;
  for (int i = 0; i < c.num_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetInput(i, common));
    common.Merge(c.input(i));
  }
  for (int i = 0; i < c.num_outputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, common));
    common.Merge(c.output(i));
  }
  for (int i = 0; i < c.num_inputs(); ++i) COOPER_RETURN_IF_ERROR(c.SetInput(i, common));
  for (int i = 0; i < c.num_outputs(); ++i) COOPER_RETURN_IF_ERROR(c.SetOutput(i, common));
  return absl::OkStatus();
}

absl::Status GradientShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs() && i < c.num_forward_inputs(); ++i) {
    COOPER_RETURN_IF_ERROR(c.SetOutput(i, c.forward_input(i)));
  }
  return absl::OkStatus();
}

}  // namespace cooper
