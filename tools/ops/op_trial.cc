#include "tools/ops/op_trial.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/dtype.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"
#include "symbol/op/op_description.h"
#include "symbol/schema/input_attrs.h"
#include "symbol/schema/op_example.h"

namespace cooper {
namespace {

// Returns a value with which a required attribute can be tried.
std::string TrialValue(const ParamField& field, int rank) {
  if (!field.allowed.empty()) return field.allowed[0];
  if (absl::StartsWith(field.type, "tuple")) {
    // The tuple has an element per spatial axis if there are any, else one.
    const int extents = field.name == "kernel" || field.name == "output_size" ? rank - 2
                        : field.name == "pad_width"                           ? 2 * rank
                        : field.name == "pooled_size"                         ? 2
                                                                              : 1;
    return absl::StrCat("(", absl::StrJoin(std::vector<int>(std::max(extents, 0), 2), ", "), ",)");
  }
  if (absl::StartsWith(field.type, "float")) return "1.0";
  if (absl::StartsWith(field.type, "dtype")) return "float32";
  if (absl::StartsWith(field.type, "bool")) return "True";
  if (field.name == "axis" || field.name == "begin") return "0";
  if (field.name == "nsize") return "3";
  const double least = std::isfinite(field.min) ? field.min : 0;
  return absl::StrCat(static_cast<int64_t>(std::max(least, 2.0)));
}

struct InferredArray {
  std::string name;
  PartialShape shape;
  std::optional<DType> dtype;  // if the inputs before it are float32; absent: any
};

struct InferredCall {
  std::vector<InferredArray> inputs, outputs;
};

std::string AttrsText(const AttrMap& attrs) {
  return attrs.empty()
             ? ""
             : absl::StrCat("with ", absl::StrJoin(attrs, ", ", absl::PairFormatter("=")));
}

// Infers a call with variables of those shapes; absent if some shape or dtype stays unknown.
std::optional<InferredCall> Infer(const OpSchema& op, const OpTrial& trial) {
  OpArgs args{.name = "x", .attrs = trial.attrs};
  KnownShapes known;
  KnownTypes types;
  const absl::StatusOr<OpCall> call = MakeOpCall(op.name(), trial.attrs, trial.inputs.size());
  if (!call.ok()) return std::nullopt;
  const OpSchema::Names names = op.InputNames(*call);
  if (names.size() < trial.inputs.size()) return std::nullopt;
  for (size_t i = 0; i < trial.inputs.size(); ++i) {
    const std::string name = "x_" + names[i];
    args.inputs.push_back(Symbol::Variable(name));
    types[name] = DType::kFloat32;
    if (trial.inputs[i].rank_known()) known[name] = trial.inputs[i];
  }
  for (size_t i = trial.inputs.size(); i < names.size(); ++i) {
    if (!RequiredReason(*call, static_cast<int>(i)).has_value()) continue;
    args.named.emplace(names[i], Symbol::Variable("x_" + names[i]));
  }
  const absl::StatusOr<Symbol> symbol = Symbol::Create(op.name(), args);
  if (!symbol.ok()) return std::nullopt;
  const absl::StatusOr<InferredShapes> shapes = InferShape(*symbol, known);
  if (!shapes.ok()) return std::nullopt;
  absl::StatusOr<InferredTypes> dtypes = InferTypePartial(*symbol, types);
  if (!dtypes.ok()) dtypes = InferTypePartial(*symbol, {});
  const auto add = [&](const std::vector<std::string>& names, const auto& shapes,
                       std::vector<std::optional<DType>> InferredTypes::*of,
                       std::vector<InferredArray>* to) {
    for (size_t i = 0; i < names.size(); ++i) {
      to->push_back({names[i].substr(2), PartialShape(shapes[i]),
                     dtypes.ok() ? ((*dtypes).*of)[i] : std::nullopt});
    }
  };
  InferredCall inferred;
  add(symbol->ListArguments(), shapes->args, &InferredTypes::args, &inferred.inputs);
  add(symbol->ListAuxiliaryStates(), shapes->auxs, &InferredTypes::auxs, &inferred.inputs);
  add(symbol->ListOutputs(), shapes->outputs, &InferredTypes::outputs, &inferred.outputs);
  return inferred;
}

// Returns values for the required attributes, for inputs of that rank.
AttrMap TrialAttrs(const OpSchema& op, int rank) {
  AttrMap attrs;
  if (op.params() == nullptr) return attrs;
  for (const ParamField& field : op.params()->fields()) {
    if (field.required && field.name != op.variadic_attr()) {
      attrs[field.name] = TrialValue(field, rank);
    }
  }
  return attrs;
}

}  // namespace

std::optional<OpTrial> FindOpTrial(const OpSchema& op) {
  const auto works = [&](const OpTrial& trial) { return Infer(op, trial).has_value(); };
  if (const OpExample* example = FindOpExample(op.name()); example != nullptr) {
    OpTrial trial{example->attrs, example->inputs};
    return works(trial) ? std::make_optional(trial) : std::nullopt;
  }
  const OpDescription description = DescribeOp(op);
  const size_t num_inputs = description.variadic ? 2 : description.positional.size();
  for (const int rank : {2, 4, 3, 1, 5}) {
    constexpr int64_t kExtents[] = {2, 3, 4, 5, 6};
    // Also tries equal extents, for products and square matrices.
    for (const bool square : {false, true}) {
      PartialShape shape = PartialShape::OfRank(rank);
      for (int i = 0; i < rank; ++i) shape[i] = square ? 2 : kExtents[i];
      // Begins with all shapes given: the fewer are given, the more the operator must infer.
      for (size_t unknown = 0; unknown <= num_inputs; ++unknown) {
        OpTrial trial{TrialAttrs(op, rank), std::vector<PartialShape>(num_inputs)};
        std::fill(trial.inputs.begin(), trial.inputs.end() - static_cast<int64_t>(unknown), shape);
        if (works(trial)) return trial;
      }
    }
  }
  OpTrial trial{{{"shape", "(2, 3)"}}, {}};
  return works(trial) ? std::make_optional(trial) : std::nullopt;
}

std::string TrialShapesText(const OpSchema& op, const OpTrial& trial) {
  const std::optional<InferredCall> call = Infer(op, trial);
  if (!call.has_value()) return "";
  const auto text = [](const std::vector<InferredArray>& arrays) {
    return absl::StrJoin(arrays, ", ", [](std::string* out, const InferredArray& array) {
      absl::StrAppend(out, array.name, " ", array.shape.ToString());
    });
  };
  return absl::StrCat(text(call->inputs), call->inputs.empty() ? "-> " : " -> ",
                      text(call->outputs), trial.attrs.empty() ? "" : "  ", AttrsText(trial.attrs));
}

std::string TrialArrayText(const OpSchema& op, const OpTrial& trial, const std::string& name,
                           const AttrMap& more) {
  OpTrial with_more = trial;
  for (const auto& [key, text] : more) with_more.attrs[key] = text;
  for (const bool as_it_is : {true, false}) {
    const std::optional<InferredCall> call = Infer(op, as_it_is ? trial : with_more);
    if (!call.has_value()) continue;
    for (const InferredArray& array : call->inputs) {
      if (array.name != name) continue;
      return absl::StrCat(array.shape.ToString(), " ",
                          array.dtype.has_value() ? DTypeName(*array.dtype) : "of any dtype",
                          as_it_is ? "" : ", ", as_it_is ? "" : AttrsText(more));
    }
  }
  return "";
}

}  // namespace cooper
