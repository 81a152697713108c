#include "symbol/infer_type.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/status_macros.h"
#include "symbol/inference.h"
#include "symbol/param_text.h"
#include "symbol/type_context.h"

namespace cooper {
namespace {

using Type = std::optional<DType>;
using Span = absl::Span<Type* const>;

std::string DescribeInputs(const Node& node, Span types) {
  if (types.empty()) return "";
  std::vector<std::string> parts;
  for (size_t i = 0; i < types.size(); ++i) {
    parts.push_back(absl::StrCat("'", OutputName(node.inputs()[i]), "' ",
                                 types[i]->has_value() ? DTypeName(**types[i]) : "?"));
  }
  return absl::StrCat("; inputs: ", absl::StrJoin(parts, ", "));
}

absl::StatusOr<Type> DefaultType(const Node& variable) {
  auto it = variable.attrs().find("__dtype__");
  if (it == variable.attrs().end() || it->second == "-1") return Type();
  DType dtype;
  absl::Status status = ParseParamText(it->second, &dtype);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(Describe(variable), ": attribute __dtype__='",
                                                   it->second, "': ", status.message()));
  }
  return Type(dtype);
}

absl::StatusOr<InferredTypes> Infer(const Symbol& symbol, const KnownTypes& known,
                                    bool must_complete) {
  const IndexedGraph graph(symbol.outputs());
  COOPER_ASSIGN_OR_RETURN(std::vector<Type> types, VariableTypes(graph, known));
  const std::vector<std::string> variables = symbol.ListInputs();
  for (const auto& [name, type] : known) {
    if (std::find(variables.begin(), variables.end(), name) == variables.end()) {
      return absl::NotFoundError(absl::StrCat("a type is given for '", name,
                                              "', which is no variable of the graph; those are ",
                                              absl::StrJoin(variables, ", ")));
    }
  }
  COOPER_RETURN_IF_ERROR(InferEntryTypes(graph, types));

  InferredTypes result;
  result.complete = true;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    for (int e = graph.first_entry(i); e < graph.first_entry(i + 1); ++e) {
      if (types[e].has_value()) continue;
      if (must_complete) {
        return absl::FailedPreconditionError(absl::StrCat(
            "not enough is known to infer every type; the first unknown is ", Describe(node)));
      }
      result.complete = false;
    }
    if (!node.is_variable()) continue;
    (graph.is_aux(i) ? result.auxs : result.args).push_back(types[graph.first_entry(i)]);
  }
  for (const NodeEntry& output : symbol.outputs()) {
    result.outputs.push_back(types[graph.entry(output)]);
  }
  return result;
}

}  // namespace

absl::StatusOr<std::vector<Type>> VariableTypes(const IndexedGraph& graph,
                                                const KnownTypes& known) {
  std::vector<Type> types(graph.num_entries());
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    if (!node.is_variable()) continue;
    auto it = known.find(node.name());
    if (it != known.end()) {
      types[graph.first_entry(i)] = it->second;
    } else {
      COOPER_ASSIGN_OR_RETURN(types[graph.first_entry(i)], DefaultType(node));
    }
  }
  return types;
}

absl::Status InferEntryTypes(const IndexedGraph& graph, std::vector<Type>& types) {
  return InferToFixpoint(
      graph, types, [&](int i, Span inputs, Span outputs, Span forward) -> absl::Status {
        const Node& node = *graph.nodes()[i];
        TypeContext context(node.call(), inputs, outputs, forward);
        absl::Status status = node.op()->type()(context);
        if (status.ok()) return status;
        return absl::Status(status.code(), absl::StrCat(Describe(node), ": ", status.message(),
                                                        DescribeInputs(node, inputs)));
      });
}

absl::StatusOr<InferredTypes> InferTypePartial(const Symbol& symbol, const KnownTypes& known) {
  return Infer(symbol, known, /*must_complete=*/false);
}

absl::StatusOr<InferredTypes> InferType(const Symbol& symbol, const KnownTypes& known) {
  return Infer(symbol, known, /*must_complete=*/true);
}

}  // namespace cooper
