#include "executor/run/bound_arrays.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// An array that a program is bound with: what is given for it, if anything, and what it must be.
struct Slot {
  ArrayMap BoundArrays::*kind;
  const std::string& name;
  NDArray given;  // null: to be allocated
  const Shape& shape;
  DType dtype;
  Context context;
};

std::vector<Slot> SlotsOf(const CompiledProgram& compiled, const BindOptions& options) {
  const Program& p = compiled.program();
  std::vector<Slot> slots;
  const auto add_arg = [&](ArrayMap BoundArrays::*kind, const ArrayMap& given, size_t i) {
    slots.push_back({kind, p.arg_names[i], FindArray(given, p.arg_names[i]),
                     compiled.arg_shapes()[i], compiled.arg_types()[i],
                     compiled.arg_contexts()[i]});
  };
  for (size_t i = 0; i < p.arg_names.size(); ++i) {
    if (!options.unbound_args.contains(p.arg_names[i])) {
      add_arg(&BoundArrays::args, options.args, i);
    }
  }
  for (size_t i = 0; i < p.aux_names.size(); ++i) {
    slots.push_back({&BoundArrays::auxs, p.aux_names[i], FindArray(options.auxs, p.aux_names[i]),
                     compiled.aux_shapes()[i], compiled.aux_types()[i],
                     compiled.aux_contexts()[i]});
  }
  for (const ProgramGradient& g : p.gradients) add_arg(&BoundArrays::grads, options.grads, g.arg);
  return slots;
}

absl::Status CheckUnboundNames(const BindOptions& options, const std::vector<std::string>& names) {
  for (const std::string& name : options.unbound_args) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return absl::NotFoundError(absl::StrCat("'", name, "' is no argument; those are ",
                                              JoinNames(names), DidYouMean(name, names)));
    }
  }
  return absl::OkStatus();
}

}  // namespace

ProgramArrays BoundArrays::Of(const Program& program) const {
  ProgramArrays arrays;
  for (const std::string& name : program.arg_names) {
    arrays.args.push_back(FindArray(args, name));
    arrays.grads.push_back(FindArray(grads, name));
  }
  for (const std::string& name : program.aux_names) {
    arrays.auxs.push_back(FindArray(auxs, name));
  }
  return arrays;
}

absl::Status BoundArrays::CheckMayChange(const std::string& name) const {
  if (!constants.contains(name)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "'", name, "' is one of the constants that the executor is bound with, which stay"));
}

absl::Status BoundArrays::CopyFrom(const ArrayMap& new_args, const ArrayMap& new_auxs,
                                   bool allow_extra) const {
  const auto copy = [&](const ArrayMap& from, const ArrayMap& to,
                        const char* kind) -> absl::Status {
    for (const auto& [name, array] : from) {
      COOPER_RETURN_IF_ERROR(CheckMayChange(name));
      const NDArray target = FindArray(to, name);
      if (target.is_null()) {
        if (allow_extra) continue;
        return absl::NotFoundError(
            absl::StrCat("the executor has no ", kind, " '", name, "', or none with an array yet"));
      }
      COOPER_RETURN_IF_ERROR(AddContext(target.CopyFrom(array), kind, " '", name, "'"));
    }
    return absl::OkStatus();
  };
  COOPER_RETURN_IF_ERROR(copy(new_args, args, "argument"));
  return copy(new_auxs, auxs, "auxiliary state");
}

namespace {

// What may be given for the variables of one kind.
struct Given {
  const char* field;
  const std::vector<std::string>& names;
  ArrayMap& arrays;
};

// Moves the names of `given` that the graph does not have to `unused`. `other` is the other kind,
// `without_array` names arguments that get no array.
absl::Status TakeUnused(const Given& given, const Given& other,
                        const std::set<std::string>& without_array, std::set<std::string>& unused) {
  const absl::flat_hash_set<absl::string_view> known(given.names.begin(), given.names.end());
  std::optional<std::vector<absl::string_view>> missing;  // found once a name is unknown
  for (auto it = given.arrays.begin(); it != given.arrays.end();) {
    const std::string& name = it->first;
    if (known.contains(name) || it->second.is_null()) {
      ++it;
      continue;
    }
    if (absl::c_linear_search(other.names, name) && FindArray(other.arrays, name).is_null()) {
      return absl::NotFoundError(absl::StrCat(given.field, " has an array for '", name,
                                              "', whose array belongs into ", other.field));
    }
    if (!missing.has_value()) {
      missing.emplace();
      for (const std::string& each : given.names) {
        if (without_array.contains(each) || !FindArray(given.arrays, each).is_null()) continue;
        missing->push_back(each);
      }
    }
    const std::vector<absl::string_view> near = NearNames(name, *missing);
    if (!near.empty()) {
      return absl::NotFoundError(
          absl::StrCat(given.field, " has an array for '", name,
                       "', which the graph does not have, and none for '", near[0],
                       "': give it that name, or leave it out if it is another network's"));
    }
    unused.insert(name);
    it = given.arrays.erase(it);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> TakeUnusedArrays(const Symbol& symbol,
                                                          BindOptions& options) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  if (options.args.empty() && options.auxs.empty() && options.grads.empty()) {
    return std::vector<std::string>();
  }
  const VariableNames names = symbol.ListVariables();
  const Given args{"args", names.args, options.args}, auxs{"auxs", names.auxs, options.auxs};
  const Given grads{"grads", names.args, options.grads};
  std::set<std::string> unused;
  COOPER_RETURN_IF_ERROR(TakeUnused(args, auxs, options.unbound_args, unused));
  COOPER_RETURN_IF_ERROR(TakeUnused(auxs, args, {}, unused));
  COOPER_RETURN_IF_ERROR(TakeUnused(grads, grads, {}, unused));
  return std::vector<std::string>(unused.begin(), unused.end());
}

absl::Status RequireArrays(const Symbol& symbol, BindOptions& options) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  for (const std::string& name : symbol.ListArguments()) {
    if (FindArray(options.args, name).is_null()) {
      return absl::InvalidArgumentError(absl::StrCat("Bind: argument '", name, "' is missing"));
    }
    if (FindArray(options.grads, name).is_null()) options.grad_reqs[name] = WriteReq::kNull;
  }
  for (const std::string& name : symbol.ListAuxiliaryStates()) {
    if (FindArray(options.auxs, name).is_null()) {
      return absl::InvalidArgumentError(
          absl::StrCat("Bind: auxiliary state '", name, "' is missing"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBytes(const CompiledProgram& compiled, const BindOptions& options) {
  double bytes = 0;  // whose sum cannot overflow
  for (const ArenaLayout::Region& region : compiled.layout().regions) {
    bytes += static_cast<double>(region.plan.arena_size);
  }
  for (const ProgramBuffer& buffer : compiled.program().buffers) {
    if (buffer.kind == ProgramBuffer::Kind::kOutput) bytes += static_cast<double>(buffer.bytes);
  }
  for (const Slot& slot : SlotsOf(compiled, options)) {
    if (!slot.given.is_null()) continue;
    bytes +=
        static_cast<double>(slot.shape.num_elements()) * static_cast<double>(SizeOf(slot.dtype));
  }
  if (bytes <= static_cast<double>(options.max_bytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "binding takes %.0f bytes, more than the %d of max_bytes", bytes, options.max_bytes));
}

absl::StatusOr<BoundArrays> BindArrays(const CompiledProgram& compiled,
                                       const BindOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckUnboundNames(options, compiled.program().arg_names));
  BoundArrays arrays{.args = {}, .grads = {}, .auxs = {}, .constants = options.constants};
  // Executors that are bound with the same constants share these, and a monitored run has none.
  for (const auto& folded : compiled.folded()) arrays.constants.insert(folded.name);
  for (Slot& slot : SlotsOf(compiled, options)) {
    NDArray& array = (arrays.*slot.kind)[slot.name];
    array = std::move(slot.given);
    if (!array.is_null()) continue;
    COOPER_ASSIGN_OR_RETURN(array, NDArray::Zeros(slot.shape, slot.dtype, slot.context));
  }
  return arrays;
}

}  // namespace cooper
