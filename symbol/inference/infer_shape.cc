#include "symbol/inference/infer_shape.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/inference.h"
#include "symbol/schema/shape_context.h"

namespace cooper {

absl::StatusOr<std::vector<PartialShape>> VariableShapes(const IndexedGraph& graph,
                                                         const KnownShapes& known) {
  std::vector<PartialShape> shapes(graph.num_entries());
  const bool is_numpy = absl::c_any_of(graph.nodes(), [](const Node* node) {
    return !node->is_variable() && node->op()->family() == "numpy";
  });
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    if (!node.is_variable()) continue;
    PartialShape& shape = shapes[graph.first_entry(i)];
    auto it = known.find(node.name());
    if (it != known.end()) shape = it->second;
    if (shape.HasNegativeExtent()) {
      return absl::InvalidArgumentError(absl::StrCat(
          Describe(node), " has shape ", shape.ToString(), ", which has a negative extent"));
    }
    if (!shape.IsFull()) {
      std::vector<int64_t> fallback;
      COOPER_RETURN_IF_ERROR(ReadHidden(node, "__shape__", &fallback));
      // A given shape overrides the attribute, which is only a default. Without NumPy operators ()
      // is MXNet's unknown shape.
      if (node.attrs().contains("__shape__")) {
        shape.Merge(fallback.empty() && is_numpy ? PartialShape(Shape())
                                                 : PartialShape::FromMXNet(fallback));
      }
    }
    if (shape.rank() > ShapeContext::kMaxRank) {
      return absl::InvalidArgumentError(absl::StrCat(Describe(node), " has ", shape.rank(),
                                                     " axes, expected at most ",
                                                     ShapeContext::kMaxRank));
    }
  }
  return shapes;
}

absl::Status InferEntryShapes(const IndexedGraph& graph, std::vector<PartialShape>& shapes) {
  return InferByRules<ShapeContext>(graph, shapes, &OpSchema::shape,
                                    [](const PartialShape& s) { return s.ToString(); });
}

absl::Status CheckShapesComplete(const IndexedGraph& graph,
                                 const std::vector<PartialShape>& shapes) {
  std::vector<std::string> missing;
  std::string undecided;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    for (int e = graph.first_entry(i); e < graph.first_entry(i + 1); ++e) {
      if (shapes[e].IsFull()) {
        // The number of elements and of bytes must fit int64, since callers compute them.
        const auto shape = Shape::Create(shapes[e].dims());
        if (shape.ok() && shape->num_elements() <= std::numeric_limits<int64_t>::max() / 16) {
          continue;
        }
        return absl::InvalidArgumentError(absl::StrCat(
            Describe(node), ": shape ", shapes[e].ToString(), " has too many elements"));
      }
      if (node.is_variable()) {
        missing.push_back(absl::StrCat(node.name(), " ", shapes[e].ToString()));
      } else if (undecided.empty()) {
        std::vector<std::string> inputs = OutputNames(node.inputs());
        for (size_t k = 0; k < inputs.size(); ++k) {
          absl::StrAppend(&inputs[k], " ", shapes[graph.entry(node.inputs()[k])].ToString());
        }
        undecided = absl::StrCat("; the first node without a shape is ", Describe(node),
                                 " with inputs ", JoinNames(inputs));
      }
    }
  }
  if (missing.empty() && undecided.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("not enough is known to infer every shape; unknown variables: ",
                   missing.empty() ? "none" : JoinNames(missing), undecided));
}

namespace {

absl::StatusOr<InferredShapes> Infer(const Symbol& symbol, const KnownShapes& known,
                                     bool must_complete) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  const IndexedGraph graph(symbol.outputs());
  COOPER_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, VariableShapes(graph, known));
  COOPER_RETURN_IF_ERROR(CheckNames(symbol, known, "a shape"));
  COOPER_RETURN_IF_ERROR(InferEntryShapes(graph, shapes));
  if (must_complete) COOPER_RETURN_IF_ERROR(CheckShapesComplete(graph, shapes));

  auto result = Collect<InferredShapes>(symbol, graph, shapes);
  result.complete =
      std::all_of(shapes.begin(), shapes.end(), [](const PartialShape& s) { return s.IsFull(); });
  return result;
}

}  // namespace

absl::StatusOr<InferredShapes> InferShapePartial(const Symbol& symbol, const KnownShapes& known) {
  return Infer(symbol, known, /*must_complete=*/false);
}

absl::StatusOr<InferredShapes> InferShape(const Symbol& symbol, const KnownShapes& known) {
  return Infer(symbol, known, /*must_complete=*/true);
}

}  // namespace cooper
