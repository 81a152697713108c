#include "symbol/infer_shape.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/status_macros.h"
#include "symbol/inference.h"
#include "symbol/param_text.h"
#include "symbol/shape_context.h"

namespace cooper {
namespace {

using Span = absl::Span<PartialShape* const>;

// "; inputs: data 'fc1_output' (32, 650), weight 'fc2_weight' (800, 200)": who gives each input.
std::string DescribeInputs(const Node& node, Span shapes) {
  if (shapes.empty()) return "";
  const OpSchema::Names names = node.op()->InputNames(node.call());
  std::vector<std::string> parts;
  for (size_t i = 0; i < shapes.size(); ++i) {
    parts.push_back(absl::StrCat(i < names.size() ? names[i] : absl::StrCat(i), " '",
                                 OutputName(node.inputs()[i]), "' ", shapes[i]->ToString()));
  }
  return absl::StrCat("; inputs: ", absl::StrJoin(parts, ", "));
}

// A variable's own default.
absl::StatusOr<PartialShape> DefaultShape(const Node& variable) {
  auto it = variable.attrs().find("__shape__");
  if (it == variable.attrs().end()) return PartialShape();
  std::vector<int64_t> dims;
  absl::Status status = ParseParamText(it->second, &dims);
  if (!status.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(Describe(variable), ": attribute __shape__='",
                                                   it->second, "': ", status.message()));
  }
  return PartialShape::FromMXNet(dims);
}

}  // namespace

absl::StatusOr<std::vector<PartialShape>> VariableShapes(const IndexedGraph& graph,
                                                         const KnownShapes& known) {
  std::vector<PartialShape> shapes(graph.num_entries());
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    if (!node.is_variable()) continue;
    PartialShape& shape = shapes[graph.first_entry(i)];
    auto it = known.find(node.name());
    if (it != known.end()) shape = it->second;
    if (shape.IsFull()) continue;
    COOPER_ASSIGN_OR_RETURN(PartialShape fallback, DefaultShape(node));
    // A shape that was given wins over the attribute, which is a default only.
    shape.Merge(fallback);
  }
  return shapes;
}

absl::Status InferEntryShapes(const IndexedGraph& graph, std::vector<PartialShape>& shapes) {
  return InferToFixpoint(
      graph, shapes, [&](int i, Span inputs, Span outputs, Span forward) -> absl::Status {
        const Node& node = *graph.nodes()[i];
        ShapeContext context(node.call(), inputs, outputs, forward);
        absl::Status status = node.op()->shape()(context);
        if (status.ok()) return status;
        return absl::Status(status.code(), absl::StrCat(Describe(node), ": ", status.message(),
                                                        DescribeInputs(node, inputs)));
      });
}

absl::Status CheckShapesComplete(const IndexedGraph& graph,
                                 const std::vector<PartialShape>& shapes) {
  std::vector<std::string> missing;
  std::string undecided;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.nodes()[i];
    for (int e = graph.first_entry(i); e < graph.first_entry(i + 1); ++e) {
      if (shapes[e].IsFull()) {
        // Whoever has the shape may count its elements and their bytes.
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
        std::vector<std::string> inputs;
        for (const NodeEntry& input : node.inputs()) {
          inputs.push_back(
              absl::StrCat(OutputName(input), " ", shapes[graph.entry(input)].ToString()));
        }
        undecided = absl::StrCat("; the first node without a shape is ", Describe(node),
                                 " with inputs ", absl::StrJoin(inputs, ", "));
      }
    }
  }
  if (missing.empty() && undecided.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("not enough is known to infer every shape; unknown variables: ",
                   missing.empty() ? "none" : absl::StrJoin(missing, ", "), undecided));
}

namespace {

absl::StatusOr<InferredShapes> Infer(const Symbol& symbol, const KnownShapes& known,
                                     bool must_complete) {
  const IndexedGraph graph(symbol.outputs());
  COOPER_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, VariableShapes(graph, known));
  if (!known.empty()) {
    const std::vector<std::string> inputs = symbol.ListInputs();
    for (const auto& [name, shape] : known) {
      if (std::find(inputs.begin(), inputs.end(), name) == inputs.end()) {
        return absl::NotFoundError(absl::StrCat("a shape is given for '", name,
                                                "', which is no variable of the graph; those are ",
                                                absl::StrJoin(inputs, ", ")));
      }
    }
  }
  COOPER_RETURN_IF_ERROR(InferEntryShapes(graph, shapes));
  if (must_complete) COOPER_RETURN_IF_ERROR(CheckShapesComplete(graph, shapes));

  InferredShapes result;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    if (!graph.nodes()[i]->is_variable()) continue;
    (graph.is_aux(i) ? result.auxs : result.args).push_back(shapes[graph.first_entry(i)]);
  }
  for (const NodeEntry& output : symbol.outputs()) {
    result.outputs.push_back(shapes[graph.entry(output)]);
  }
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
