#include "symbol/visualization/print_summary.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/visualization/entry_shapes.h"
#include "symbol/visualization/printable_text.h"
#include "symbol/visualization/variable_role.h"

namespace cooper {
namespace {

constexpr int kNumColumns = 4;
using Row = std::array<std::string, kNumColumns>;

// Returns the last character positions of the columns.
absl::StatusOr<std::array<int, kNumColumns>> ColumnEnds(const SummaryOptions& options) {
  constexpr int kLongest = 1 << 16;
  if (options.line_length < 1 || options.line_length > kLongest) {
    return absl::InvalidArgumentError(absl::StrCat("line_length is ", options.line_length,
                                                   ", expected a value in [1, ", kLongest, "]"));
  }
  const std::vector<double>& p = options.positions;
  const double last = p.empty() ? 0 : p.back();
  const double unit = last <= 1 ? options.line_length : 1;
  std::array<int, kNumColumns> ends{};
  bool rising = p.size() == kNumColumns;
  for (int i = 0; rising && i < kNumColumns; ++i) {
    const double previous = i == 0 ? 0 : p[i - 1];
    rising = p[i] > previous && p[i] * unit <= kLongest;  // false for NaN
    if (rising) ends[i] = static_cast<int>(p[i] * unit);
  }
  if (rising) return ends;
  return absl::InvalidArgumentError(absl::StrCat("positions are (", absl::StrJoin(p, ", "),
                                                 "), expected four rising column ends"));
}

// Counts elements, as far as shapes are known.
class ElementCount {
 public:
  absl::Status Add(const Node& variable, const PartialShape& shape) {
    if (!shape.IsFull()) {
      ++num_unknown_;
      return absl::OkStatus();
    }
    const absl::StatusOr<Shape> full = Shape::Create(shape.dims());
    if (!full.ok() || full->num_elements() > std::numeric_limits<int64_t>::max() - num_elements_) {
      return absl::InvalidArgumentError(absl::StrCat(Describe(variable), ": with shape ",
                                                     shape.ToString(),
                                                     " there are too many elements to count"));
    }
    num_elements_ += full->num_elements();
    return absl::OkStatus();
  }

  std::string ToCell() const { return num_unknown_ > 0 ? "?" : absl::StrCat(num_elements_); }
  std::string ToTotal() const {
    if (num_unknown_ == 0) return absl::StrCat(num_elements_);
    return absl::StrCat("at least ", num_elements_, ", shapes of ", num_unknown_, " unknown");
  }

 private:
  int64_t num_elements_ = 0;
  int num_unknown_ = 0;
};

class Summary {
 public:
  Summary(const Symbol& symbol, const KnownShapes& known)
      : graph_(symbol.outputs()),
        roles_(VariableRoles(graph_, known)),
        counted_(graph_.num_nodes(), false) {}

  absl::Status Run(const Symbol& symbol, const KnownShapes& known) {
    COOPER_ASSIGN_OR_RETURN(shapes_, EntryShapes(symbol, graph_, known));
    for (int i = 0; i < graph_.num_nodes(); ++i) {
      const bool is_operator = !graph_.nodes()[i]->is_variable();
      if (is_operator || roles_[i] == VariableRole::kData) {
        COOPER_RETURN_IF_ERROR(AddLayer(i));
      }
    }
    // An output may be a variable that no operator uses.
    for (const NodeEntry& output : symbol.outputs()) {
      COOPER_RETURN_IF_ERROR(Count(graph_.node_index(output.node.get()), nullptr));
    }
    return absl::OkStatus();
  }

  // Returns the rows of each layer.
  const std::vector<std::vector<Row>>& layers() const { return layers_; }
  const ElementCount& params() const { return params_; }
  const ElementCount& auxs() const { return auxs_; }
  bool has_auxs() const {
    return std::find(roles_.begin(), roles_.end(), VariableRole::kAuxiliary) != roles_.end();
  }

 private:
  absl::Status AddLayer(int i) {
    const Node& node = *graph_.nodes()[i];
    ElementCount params;
    std::vector<std::string> previous;
    for (const NodeEntry& input : node.inputs()) {
      const int k = graph_.node_index(input.node.get());
      COOPER_RETURN_IF_ERROR(Count(k, &params));
      if (!input.node->is_variable() || roles_[k] == VariableRole::kData) {
        previous.push_back(PrintableText(input.node->name()));
      }
    }
    const std::string type = node.is_variable() ? "null" : node.op()->name();
    std::vector<Row>& rows = layers_.emplace_back();
    rows.push_back({absl::StrCat(PrintableText(node.name()), "(", type, ")"), OutputShapes(i),
                    params.ToCell(), previous.empty() ? "" : previous[0]});
    for (size_t k = 1; k < previous.size(); ++k) rows.push_back({"", "", "", previous[k]});
    return absl::OkStatus();
  }

  // Adds the elements of node `i`, if it is an array that has not been counted, to the totals and
  // to its layer's count.
  absl::Status Count(int i, ElementCount* layer) {
    const Node& node = *graph_.nodes()[i];
    if (!node.is_variable() || counted_[i]) return absl::OkStatus();
    counted_[i] = true;
    const PartialShape& shape = shapes_[graph_.first_entry(i)];
    if (roles_[i] == VariableRole::kAuxiliary) return auxs_.Add(node, shape);
    if (roles_[i] != VariableRole::kParameter) return absl::OkStatus();
    if (layer != nullptr) COOPER_RETURN_IF_ERROR(layer->Add(node, shape));
    return params_.Add(node, shape);
  }

  std::string OutputShapes(int i) const {
    const Node& node = *graph_.nodes()[i];
    const int count = node.is_variable() ? 1 : node.op()->NumVisibleOutputs(node.call());
    const auto first = shapes_.begin() + graph_.first_entry(i);
    const bool equal =
        std::all_of(first, first + count, [&](const PartialShape& s) { return s == *first; });
    std::string text = count == 0 ? "" : ShapeWithoutBatch(*first);
    if (count < 2 || (equal && text.empty())) return text;
    if (equal) return absl::StrCat(text, " (", count, " outputs)");
    return absl::StrJoin(first, first + count, ", ", [](std::string* out, const PartialShape& s) {
      out->append(ShapeWithoutBatch(s));
    });
  }

  IndexedGraph graph_;
  std::vector<VariableRole> roles_;
  std::vector<bool> counted_;
  std::vector<PartialShape> shapes_;
  std::vector<std::vector<Row>> layers_;
  ElementCount params_;
  ElementCount auxs_;
};

// A field that is too long is truncated at its column's end, without a space behind it, as in
// MXNet's table.
void AppendRow(const Row& row, const std::array<int, kNumColumns>& ends, std::string* table) {
  std::string line;
  for (int i = 0; i < kNumColumns; ++i) {
    line += row[i];
    const absl::string_view kept = FirstCharacters(line, ends[i]);
    line.resize(kept.size());
    line.append(ends[i] - NumCharacters(line), ' ');
  }
  absl::StrAppend(table, line, "\n");
}

}  // namespace

absl::StatusOr<std::string> PrintSummary(const Symbol& symbol, const KnownShapes& shapes,
                                         const SummaryOptions& options) {
  std::array<int, kNumColumns> ends;
  COOPER_ASSIGN_OR_RETURN(ends, ColumnEnds(options));
  Summary summary(symbol, shapes);
  COOPER_RETURN_IF_ERROR(summary.Run(symbol, shapes));

  const std::string thin = std::string(options.line_length, '_') + "\n";
  const std::string thick = std::string(options.line_length, '=') + "\n";
  std::string table = thin;
  AppendRow({"Layer (type)", "Output Shape", "Param #", "Previous Layer"}, ends, &table);
  for (size_t i = 0; i < summary.layers().size(); ++i) {
    table += i == 0 ? thick : thin;
    for (const Row& row : summary.layers()[i]) AppendRow(row, ends, &table);
  }
  absl::StrAppend(&table, thick, "Total params: ", summary.params().ToTotal(), "\n");
  if (summary.has_auxs()) {
    absl::StrAppend(&table, "Total auxiliary: ", summary.auxs().ToTotal(), "\n");
  }
  return table + thin;
}

}  // namespace cooper
