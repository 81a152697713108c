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

// Returns the arrays in `options` by slot; null arrays for missing ones.
ProgramArrays GivenArrays(const CompiledProgram& compiled, const BindOptions& options) {
  const Program& p = compiled.program();
  ProgramArrays arrays;
  for (const std::string& name : p.arg_names) arrays.args.push_back(FindArray(options.args, name));
  for (const std::string& name : p.aux_names) arrays.auxs.push_back(FindArray(options.auxs, name));
  arrays.grads.resize(p.arg_names.size());
  for (const ProgramGradient& g : p.gradients) {
    arrays.grads[g.arg] = FindArray(options.grads, p.arg_names[g.arg]);
  }
  return arrays;
}

// Calls fn(array, shape, dtype, context) for each missing array, which fn allocates or counts.
// Stops at the first error.
template <typename Fn>
absl::Status ForEachMissing(const CompiledProgram& compiled, const BindOptions& options,
                            ProgramArrays& arrays, const Fn& fn) {
  const Program& p = compiled.program();
  const auto arg = [&](NDArray& array, size_t i) -> absl::Status {
    if (!array.is_null()) return absl::OkStatus();
    return fn(array, compiled.arg_shapes()[i], compiled.arg_types()[i], compiled.arg_contexts()[i]);
  };
  for (size_t i = 0; i < p.arg_names.size(); ++i) {
    if (options.unbound_args.contains(p.arg_names[i])) {
      arrays.args[i] = NDArray();
    } else {
      COOPER_RETURN_IF_ERROR(arg(arrays.args[i], i));
    }
  }
  for (size_t i = 0; i < p.aux_names.size(); ++i) {
    if (!arrays.auxs[i].is_null()) continue;
    COOPER_RETURN_IF_ERROR(fn(arrays.auxs[i], compiled.aux_shapes()[i], compiled.aux_types()[i],
                              compiled.aux_contexts()[i]));
  }
  for (const ProgramGradient& g : p.gradients)
    COOPER_RETURN_IF_ERROR(arg(arrays.grads[g.arg], g.arg));
  return absl::OkStatus();
}

absl::Status CheckUnboundNames(const BindOptions& options, const std::vector<std::string>& names) {
  for (const std::string& name : options.unbound_args) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      return absl::NotFoundError(absl::StrCat("'", name, "' is not an argument; the arguments are ",
                                              JoinNames(names), DidYouMean(name, names)));
    }
  }
  return absl::OkStatus();
}

// One kind of arrays in BindOptions: the name of its field, the names that the graph has, and the
// arrays that the caller gave.
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
                                              "', whose array belongs in ", other.field));
    }
    if (!missing.has_value()) {
      missing.emplace();
      for (const std::string& each : given.names) {
        if (without_array.contains(each) || !FindArray(given.arrays, each).is_null()) continue;
        missing->push_back(each);
      }
    }
    const std::vector<absl::string_view> near = SimilarNames(name, *missing);
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

absl::StatusOr<std::vector<std::string>> ExtractUnusedArrays(const Symbol& symbol,
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
  double bytes = 0;  // a double, so that the sum cannot overflow
  for (const ArenaLayout::Region& region : compiled.layout().regions) {
    bytes += static_cast<double>(region.plan.arena_size);
  }
  for (const ProgramBuffer& buffer : compiled.program().buffers) {
    if (buffer.kind == ProgramBuffer::Kind::kOutput) bytes += static_cast<double>(buffer.bytes);
  }
  ProgramArrays arrays = GivenArrays(compiled, options);
  COOPER_RETURN_IF_ERROR(ForEachMissing(
      compiled, options, arrays, [&](NDArray&, const Shape& shape, DType dtype, Context) {
        bytes += static_cast<double>(shape.num_elements()) * static_cast<double>(SizeOf(dtype));
        return absl::OkStatus();
      }));
  if (bytes <= static_cast<double>(options.max_bytes)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "binding takes %.0f bytes, more than the %d of max_bytes", bytes, options.max_bytes));
}

absl::StatusOr<ProgramArrays> BindArrays(const CompiledProgram& compiled,
                                         const BindOptions& options) {
  COOPER_RETURN_IF_ERROR(CheckUnboundNames(options, compiled.program().arg_names));
  ProgramArrays arrays = GivenArrays(compiled, options);
  COOPER_RETURN_IF_ERROR(ForEachMissing(
      compiled, options, arrays,
      [](NDArray& array, const Shape& shape, DType dtype, Context context) -> absl::Status {
        COOPER_ASSIGN_OR_RETURN(array, NDArray::Zeros(shape, dtype, context));
        return absl::OkStatus();
      }));
  return arrays;
}

}  // namespace cooper
