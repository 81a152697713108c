// Implements the parts of BoundProgram that set and check the arrays of a run.

#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/run/bound_program.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/symbol.h"

namespace cooper {

absl::Status BoundProgram::CheckNotOverwritten() const {
  const Program& p = steps_.program();
  const auto check = [&](const char* kind, const std::string& name,
                         const NDArray& array) -> absl::Status {
    const char* where = IsInArena(array)            ? "in the arena"
                        : gradients_.Overlap(array) ? "where a gradient is written"
                                                    : nullptr;
    if (where == nullptr) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(kind, " '", name, "' is ", where, ", and the run overwrites it"));
  };
  for (size_t i = 0; i < p.arg_names.size(); ++i) {
    COOPER_RETURN_IF_ERROR(check("argument", p.arg_names[i], steps_.arrays(Kind::kArg)[i]));
  }
  for (size_t i = 0; i < p.aux_names.size(); ++i) {
    COOPER_RETURN_IF_ERROR(check("auxiliary state", p.aux_names[i], steps_.arrays(Kind::kAux)[i]));
  }
  for (const ProgramGradient& gradient : p.gradients) {
    if (!IsInArena(steps_.array(Kind::kGrad, gradient.arg))) continue;
    return absl::InvalidArgumentError(absl::StrCat("the gradient of '", p.arg_names[gradient.arg],
                                                   "' is in the arena, and the run overwrites it"));
  }
  return absl::OkStatus();
}

absl::Status BoundProgram::SetArg(int slot, const NDArray& array) {
  const CompiledProgram& c = compiled();
  const Shape& shape = c.arg_shapes()[slot];
  if (!HasShapeAndType(array, shape, c.arg_types()[slot], c.arg_contexts()[slot])) {
    return absl::InvalidArgumentError(absl::StrCat(
        "SetArg: argument '", c.program().arg_names[slot], "' takes ",
        Describe(shape, c.arg_types()[slot], c.arg_contexts()[slot]), ", got ", array.ToString()));
  }
  if (Overwrites(array)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "SetArg: the array for argument '", c.program().arg_names[slot], "' is in the arena or ",
        "where a gradient is written, and the run overwrites it; copy it"));
  }
  if (steps_.array(Kind::kArg, slot).is_null()) --num_unset_;
  may_overlap_ =
      may_overlap_ || absl::c_any_of(steps_.arrays(Kind::kOutput),
                                     [&](const NDArray& o) { return Overlap(array, o); });
  steps_.SetArray(Kind::kArg, slot, array);
  return absl::OkStatus();
}

bool BoundProgram::IsInArena(const NDArray& array) const {
  return !array.is_null() && absl::c_any_of(steps_.arenas(), [&](const auto& arena) {
    return arena->storage() == array.storage();
  });
}

bool BoundProgram::Overwrites(const NDArray& array) const {
  return IsInArena(array) || gradients_.Overlap(array);
}

bool BoundProgram::TakesOutput(int i) const {
  const Program& p = steps_.program();
  const ProgramBuffer& buffer = p.buffers[p.values[p.outputs[i]].buffer];
  return buffer.kind == Kind::kOutput && buffer.slot == i;
}

absl::Status BoundProgram::SetOutput(int i, const NDArray& array) {
  const Program& p = steps_.program();
  const ProgramValue& value = p.values[p.outputs[i]];
  const Context context = p.contexts[p.buffers[value.buffer].context];
  const auto error = [&](const std::string& what) {
    return absl::InvalidArgumentError(absl::StrCat(
        "SetOutput: output '", OutputName(compiled().symbol().outputs()[i]), "' ", what));
  };
  if (!TakesOutput(i)) return error("takes no array");
  if (!array.is_null() && !HasShapeAndType(array, value.shape, value.dtype, context)) {
    return error(absl::StrCat("takes ", Describe(value.shape, value.dtype, context), ", got ",
                              array.ToString()));
  }
  const auto overlaps = [&](const NDArray& other) { return Overlap(other, array); };
  if (Overwrites(array) || absl::c_any_of(steps_.arrays(Kind::kAux), overlaps)) {
    return error(
        "is given an array in the arena, of an auxiliary state, or where a gradient is "
        "written: both would be overwritten");
  }
  may_overlap_ = may_overlap_ || absl::c_any_of(steps_.arrays(Kind::kArg), overlaps);
  for (size_t k = 0; k < p.outputs.size(); ++k) {
    const int other = static_cast<int>(k);
    may_overlap_ = may_overlap_ || (other != i && overlaps(steps_.array(Kind::kOutput, other)));
  }
  // The backward pass reads outputs, so it needs a Forward into the new array.
  if (array.raw_data() != steps_.array(Kind::kOutput, i).raw_data()) ran_training_ = false;
  steps_.SetArray(Kind::kOutput, i, array);
  if (!array.is_null() || outputs_.empty()) return absl::OkStatus();
  // The program drops its references to outputs, so that results do not outlive their users.
  for (size_t k = 0; k < p.outputs.size(); ++k) {
    if (p.values[p.outputs[k]].buffer == value.buffer) outputs_[k] = NDArray();
  }
  return absl::OkStatus();
}

absl::Status BoundProgram::MakeMissingOutputs() {
  const Program& p = steps_.program();
  for (size_t k = 0; k < p.outputs.size(); ++k) {
    const int i = static_cast<int>(k);
    if (!TakesOutput(i) || !steps_.array(Kind::kOutput, i).is_null()) continue;
    const ProgramValue& value = p.values[p.outputs[i]];
    COOPER_ASSIGN_OR_RETURN(
        const NDArray array,
        NDArray::Empty(value.shape, value.dtype, p.contexts[p.buffers[value.buffer].context]));
    steps_.SetArray(Kind::kOutput, i, array);
  }
  return absl::OkStatus();
}

absl::Status BoundProgram::CheckArgs() {
  if (may_overlap_) {
    COOPER_RETURN_IF_ERROR(CheckOutputsApart());
    may_overlap_ = false;
  }
  if (num_unset_ == 0) return absl::OkStatus();
  const std::vector<std::string>& names = steps_.program().arg_names;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!steps_.array(Kind::kArg, static_cast<int>(i)).is_null()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat("Forward: argument '", names[i], "' has no array; call SetArg first"));
  }
  return absl::OkStatus();
}

absl::Status BoundProgram::CheckOutputsApart() const {
  const std::vector<NDArray>& outputs = steps_.arrays(Kind::kOutput);
  const std::vector<NDArray>& args = steps_.arrays(Kind::kArg);
  const auto name = [&](size_t i) { return OutputName(compiled().symbol().outputs()[i]); };
  for (size_t i = 0; i < outputs.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (!Overlap(outputs[i], outputs[k])) continue;
      return absl::FailedPreconditionError(
          absl::StrCat("Forward: outputs '", name(k), "' and '", name(i),
                       "' would be computed in one array; call SetOutput with another one"));
    }
  }
  for (size_t slot = 0; slot < args.size(); ++slot) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!Overlap(args[slot], outputs[i])) continue;
      return absl::FailedPreconditionError(absl::StrCat(
          "Forward: output '", name(i), "' would be computed in the array of argument '",
          steps_.program().arg_names[slot], "'; call SetOutput with another one"));
    }
  }
  return absl::OkStatus();
}

}  // namespace cooper
