#include "symbol/inference/infer_type.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/inference.h"
#include "symbol/schema/type_context.h"

namespace cooper {
namespace {

using Type = std::optional<DType>;

absl::StatusOr<InferredTypes> Infer(const Symbol& symbol, const KnownTypes& known,
                                    bool must_complete) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  const IndexedGraph graph(symbol.outputs());
  COOPER_ASSIGN_OR_RETURN(std::vector<Type> types, VariableTypes(graph, known));
  COOPER_RETURN_IF_ERROR(CheckNames(symbol, known, "a type"));
  COOPER_RETURN_IF_ERROR(InferEntryTypes(graph, types));

  auto result = Collect<InferredTypes>(symbol, graph, types);
  const auto unknown = std::find(types.begin(), types.end(), std::nullopt);
  result.complete = unknown == types.end();
  if (result.complete || !must_complete) return result;
  int i = 0;
  while (graph.first_entry(i + 1) <= unknown - types.begin()) ++i;
  return absl::FailedPreconditionError(
      absl::StrCat("not enough is known to infer every type; the first unknown is ",
                   Describe(*graph.nodes()[i])));
}

}  // namespace

absl::StatusOr<std::vector<Type>> VariableTypes(const IndexedGraph& graph,
                                                const KnownTypes& known) {
  std::vector<Type> types(graph.num_entries());
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    if (!node.is_variable()) continue;
    Type& type = types[graph.first_entry(i)];
    if (const auto it = known.find(node.name()); it != known.end()) {
      type = it->second;
    } else if (const auto attr = node.attrs().find("__dtype__");
               attr != node.attrs().end() && attr->second != "-1") {
      COOPER_RETURN_IF_ERROR(ReadHidden(node, "__dtype__", &type.emplace()));
    }
  }
  return types;
}

absl::Status InferEntryTypes(const IndexedGraph& graph, std::vector<Type>& types) {
  return InferByRules<TypeContext>(graph, types, &OpSchema::type, [](const Type& type) {
    return type.has_value() ? DTypeName(*type) : "?";
  });
}

absl::StatusOr<InferredTypes> InferTypePartial(const Symbol& symbol, const KnownTypes& known) {
  return Infer(symbol, known, /*must_complete=*/false);
}

absl::StatusOr<InferredTypes> InferType(const Symbol& symbol, const KnownTypes& known) {
  return Infer(symbol, known, /*must_complete=*/true);
}

}  // namespace cooper
