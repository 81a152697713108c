#include "symbol/schema/shape_context.h"

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

std::string NameAt(const OpSchema::Names& names, int i) {
  return i < static_cast<int>(names.size()) ? names[i] : absl::StrCat(i);
}

// Merges `shape` into `known`, an input or output (`kind`) whose name `name` returns for messages.
// Refuses negative extents, since rules compute with known extents.
absl::Status Add(const PartialShape& shape, const char* why, const char* kind,
                 absl::FunctionRef<std::string()> name, PartialShape& known) {
  if (shape.rank() > ShapeContext::kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat(kind, " '", name(), "' has ", shape.rank(),
                                                   " axes, expected at most ",
                                                   ShapeContext::kMaxRank));
  }
  const char* const equals = *why == '\0' ? "" : " = ";
  if (shape.HasNegativeExtent()) {
    return absl::InvalidArgumentError(absl::StrCat(kind, " '", name(), "' would have shape ",
                                                   shape.ToString(), equals, why,
                                                   ", which has a negative extent"));
  }
  if (known.Merge(shape)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(kind, " '", name(), "' has shape ",
                                                 known.ToString(), ", expected ", shape.ToString(),
                                                 equals, why));
}

}  // namespace

absl::Status ShapeContext::SetInput(int i, const PartialShape& shape, const char* why) {
  return Add(
      shape, why, "input", [&] { return NameAt(call_.op->InputNames(call_), i); }, *inputs_[i]);
}

absl::Status ShapeContext::SetOutput(int i, const PartialShape& shape, const char* why) {
  return Add(
      shape, why, "output", [&] { return NameAt(call_.op->OutputNames(call_), i); }, *outputs_[i]);
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
