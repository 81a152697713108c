#include "module/fit/id_sources.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/ops/loss/ctc_loss_param.h"
#include "symbol/ops/loss/softmax_output_param.h"
#include "symbol/ops/nn/embedding_param.h"
#include "symbol/schema/is_op.h"
#include "symbol/schema/node.h"

namespace cooper {
namespace {

// Values with more elements are not traced element by element: ids that are only a part of such a
// value are not checked.
constexpr int64_t kMaxTraced = int64_t{1} << 24;

// Returns the inputs whose elements a node moves to its outputs without computing any; an empty
// span for other nodes. The facts of the schema tell, except for reverse, which has no such fact.
absl::Span<const NodeEntry> MovedInputs(const Node& node) {
  if (node.is_variable() || node.inputs().empty()) return {};
  const OpSchema& op = *node.op();
  if (op.join_axis()) return node.inputs();
  const bool moves = op.keeps_elements() || op.transposed_axes() || op.split_axis() || op.slice() ||
                     IsOp(node, "reverse");
  return absl::MakeConstSpan(node.inputs()).first(moves ? 1 : 0);
}

// The variables and the moving operators that an entry comes from.
struct Origin {
  std::set<std::string> variables;
  std::vector<const Node*> moves;  // the operators between them and the entry
  bool has_all = true;             // whether no operator leaves out elements
  bool in_order = true;            // whether no operator reorders elements
};

Origin OriginOf(const NodeEntry& entry) {
  Origin origin;
  std::set<const Node*> seen;
  std::vector<const Node*> open = {entry.node.get()};
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    if (node->is_variable()) {
      origin.variables.insert(node->name());
      continue;
    }
    const absl::Span<const NodeEntry> inputs = MovedInputs(*node);
    if (inputs.empty()) continue;  // the entry is computed
    origin.moves.push_back(node);
    if (node->op()->split_axis() || node->op()->slice()) origin.has_all = false;
    if (!node->op()->keeps_elements()) origin.in_order = false;
    for (const NodeEntry& input : inputs) open.push_back(input.node.get());
  }
  return origin;
}

// The origin of each element of a value: the offset of its variable in the concatenation of all
// inputs plus the element's index in the variable; -1 for a computed element.
using Locations = std::vector<int64_t>;

std::vector<int64_t> RowMajorStrides(const Shape& shape) {
  std::vector<int64_t> strides;
  for (int axis = 1; axis <= shape.rank(); ++axis) {
    strides.push_back(shape.Product(axis, shape.rank()));
  }
  return strides;
}

// Returns the elements of `from` at begin + the sum of index[a] * strides[a], for all indices below
// `extents` in row-major order.
Locations Gather(const Locations& from, int64_t begin, const std::vector<int64_t>& extents,
                 const std::vector<int64_t>& strides) {
  Locations to;
  std::vector<int64_t> index(extents.size(), 0);
  const int64_t count = PartialShape(extents).num_elements();
  to.reserve(count);
  int64_t at = begin;
  while (static_cast<int64_t>(to.size()) < count) {
    to.push_back(from[at]);
    for (size_t axis = extents.size(); axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < extents[axis]) break;
      at -= extents[axis] * strides[axis];
      index[axis] = 0;
    }
  }
  return to;
}

// Computes the Locations of entries on demand, and keeps them, so that each node is computed once.
class LocationMap {
 public:
  LocationMap(const IndexedGraph& graph, const std::vector<PartialShape>& shapes,
              const KnownShapes& known)
      : graph_(graph), shapes_(shapes) {
    for (const auto& [name, shape] : known) {
      begins_[name] = size_;
      size_ += shape.num_elements();
    }
  }

  // Returns the locations of the entry, whose origin is given; null if a shape on the way is
  // unknown or has more than kMaxTraced elements.
  const Locations* Find(const NodeEntry& entry, const Origin& origin) {
    std::vector<const Node*> moves = origin.moves;
    std::sort(moves.begin(), moves.end(), [this](const Node* a, const Node* b) {
      return graph_.node_index(a) < graph_.node_index(b);  // inputs come first
    });
    for (const Node* node : moves) {
      if (found_.contains(node)) continue;
      for (const NodeEntry& input : MovedInputs(*node)) {
        if (!found_.contains(input.node.get()) && !AddUnmoved(*input.node)) return nullptr;
      }
      if (!AddMoved(*node)) return nullptr;
    }
    if (!found_.contains(entry.node.get()) && !AddUnmoved(*entry.node)) return nullptr;
    return &found_.at(entry.node.get())[entry.index];
  }

  // Returns the elements of `input` that are among `locations`, in rising order.
  std::vector<int64_t> ElementsOf(const std::string& input, absl::Span<const int64_t> locations,
                                  int64_t size) const {
    const int64_t begin = begins_.at(input);
    std::vector<int64_t> elements;
    for (const int64_t at : locations) {
      if (at >= begin && at < begin + size) elements.push_back(at - begin);
    }
    std::sort(elements.begin(), elements.end());
    elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
    return elements;
  }

 private:
  std::optional<Shape> ShapeOf(const Node& node, int output) const {
    const PartialShape& shape = shapes_[graph_.first_entry(graph_.node_index(&node)) + output];
    if (!shape.IsFull() || shape.num_elements() > kMaxTraced) return std::nullopt;
    return shape.ToShape();
  }

  // Adds a variable, or an operator that computes its outputs.
  bool AddUnmoved(const Node& node) {
    std::vector<Locations> outputs;
    for (int k = 0; k < node.num_outputs(); ++k) {
      const std::optional<Shape> shape = ShapeOf(node, k);
      if (!shape.has_value()) return false;
      Locations& locations = outputs.emplace_back(shape->num_elements(), -1);
      const auto begin = begins_.find(node.name());
      if (node.is_variable() && begin != begins_.end()) {
        std::iota(locations.begin(), locations.end(), begin->second);
      }
    }
    found_[&node] = std::move(outputs);
    return true;
  }

  bool AddMoved(const Node& node) {
    const OpSchema& op = *node.op();
    const NodeEntry& data = node.inputs()[0];
    const std::optional<Shape> whole = ShapeOf(*data.node, data.index);
    const std::optional<Shape> part = ShapeOf(node, 0);
    if (!whole.has_value() || !part.has_value()) return false;
    const Locations& from = found_.at(data.node.get())[data.index];
    if (op.join_axis()) return AddJoined(node, *part);
    if (op.split_axis()) return AddSplit(node, *whole, from);
    std::vector<int64_t> extents(whole->rank()), strides = RowMajorStrides(*whole);
    int64_t begin = 0;
    if (op.transposed_axes()) {
      const std::vector<int> axes = op.transposed_axes()(node.call(), whole->rank());
      const std::vector<int64_t> old = strides;
      for (int axis = 0; axis < whole->rank(); ++axis) {
        extents[axis] = (*whole)[axes[axis]];
        strides[axis] = old[axes[axis]];
      }
    } else if (op.slice()) {
      for (int axis = 0; axis < whole->rank(); ++axis) {
        const SliceRange range = op.slice()(node.call(), axis, *whole, *part);
        begin += range.begin * strides[axis];
        extents[axis] = range.extent;
        strides[axis] *= range.step;
      }
    } else {  // in order, or reversed, which is the same set
      found_[&node] = std::vector<Locations>(node.num_outputs(), from);
      return true;
    }
    found_[&node] = {Gather(from, begin, extents, strides)};
    return true;
  }

  // Adds a node whose outputs follow each other along an axis of its input.
  bool AddSplit(const Node& node, const Shape& whole, const Locations& from) {
    int axis = node.op()->split_axis()(node.call());
    if (axis < 0) axis += whole.rank();
    const int64_t outer = whole.Product(0, axis);
    const int64_t inner = whole.Product(axis + 1, whole.rank());
    std::vector<Locations> outputs(node.num_outputs());
    int64_t begin = 0;
    for (int k = 0; k < node.num_outputs(); ++k) {
      const std::optional<Shape> part = ShapeOf(node, k);
      if (!part.has_value()) return false;
      const int64_t width = outer == 0 ? 0 : part->num_elements() / outer;
      outputs[k] = Gather(from, begin, {outer, width}, {whole[axis] * inner, 1});
      begin += width;
    }
    found_[&node] = std::move(outputs);
    return true;
  }

  // Adds a node whose inputs follow each other along an axis of its output.
  bool AddJoined(const Node& node, const Shape& joined) {
    int axis = node.op()->join_axis()(node.call());
    if (axis < 0) axis += joined.rank();
    const int64_t outer = joined.Product(0, axis);
    Locations locations;
    locations.reserve(joined.num_elements());
    for (int64_t row = 0; row < outer; ++row) {
      for (const NodeEntry& input : node.inputs()) {
        const Locations& from = found_.at(input.node.get())[input.index];
        const int64_t width = static_cast<int64_t>(from.size()) / outer;
        locations.insert(locations.end(), from.begin() + row * width,
                         from.begin() + (row + 1) * width);
      }
    }
    found_[&node] = {std::move(locations)};
    return true;
  }

  const IndexedGraph& graph_;
  const std::vector<PartialShape>& shapes_;
  std::map<std::string, int64_t> begins_;
  int64_t size_ = 0;
  absl::flat_hash_map<const Node*, std::vector<Locations>> found_;
};

// An input of an operator that takes ids.
struct Reader {
  NodeEntry entry;
  IdSource ids;  // `input` is not set
  // The number of elements that are read, from the first on; absent: all.
  std::optional<int64_t> first = {};
  bool has_lengths = false;  // whether another input has the lengths of rows
};

Reader ReaderOf(const Node& node, int input, const char* name, int64_t limit) {
  Reader reader{.entry = node.inputs()[input]};
  reader.ids.reader = absl::StrCat("the ", name, " of ", Describe(node));
  reader.ids.limit = limit;
  return reader;
}

std::optional<Reader> CtcReader(const Node& node, const PartialShape& scores,
                                const PartialShape& labels) {
  if (scores.rank() != 3 || labels.rank() != 2) return std::nullopt;
  const auto& param = node.call().param<CtcLossParam>();
  // One class is the blank. If it is the first one, 0 also pads the labels.
  const bool first = param.blank_label == CtcLossParam::kFirst;
  Reader reader = ReaderOf(node, 1, "label", first ? scores[2] : scores[2] - 1);
  if (!first) reader.ids.ignored = -1;
  reader.ids.row_length = labels[1];
  reader.ids.row_end = first ? 0 : -1;
  reader.has_lengths = param.use_label_lengths;
  if (reader.has_lengths) {
    const Node& lengths = *node.inputs()[param.label_lengths()].node;
    if (lengths.is_variable()) reader.ids.lengths = lengths.name();
  }
  return reader;
}

// Returns the input of `node` that holds ids; nullopt if there is none. shape_of(i) returns the
// known shape of input i.
std::optional<Reader> FindReader(const Node& node,
                                 absl::FunctionRef<const PartialShape&(int i)> shape_of) {
  if (IsOp(node, "Embedding")) {
    return ReaderOf(node, 0, "data", node.call().param<EmbeddingParam>().input_dim);
  }
  const bool softmax = IsOp(node, "SoftmaxOutput"), svm = IsOp(node, "SVMOutput");
  if (!softmax && !svm && !IsOp(node, "softmax_cross_entropy") && !IsOp(node, "CTCLoss")) {
    return std::nullopt;
  }
  const PartialShape &scores = shape_of(0), &labels = shape_of(1);
  if (!scores.IsFull() || !labels.IsFull() || scores.rank() == 0) return std::nullopt;
  if (IsOp(node, "CTCLoss")) return CtcReader(node, scores, labels);
  // Labels of the shape of the scores are probabilities.
  if (scores == labels) return std::nullopt;
  Reader reader = ReaderOf(node, 1, "label", scores[scores.rank() - 1]);
  // With one column of scores an SVM tells two classes apart, so ids beyond the column are valid.
  if (svm && reader.ids.limit == 1) return std::nullopt;
  if (!softmax) return reader;
  const auto& param = node.call().param<SoftmaxOutputParam>();
  if (param.use_ignore) reader.ids.ignored = param.ignore_label;
  if (param.multi_output && scores.rank() > 1) {
    reader.ids.limit = scores[1];
  } else if (!param.preserve_shape && scores.rank() > 1) {
    reader.ids.limit = PartialShape(scores.dims().subspan(1)).num_elements();
    // The label may have more elements than there are rows.
    if (labels.num_elements() > scores[0]) reader.first = scores[0];
  }
  return reader;
}

}  // namespace

absl::StatusOr<std::vector<IdSource>> FindIdSources(const Symbol& symbol,
                                                    const KnownShapes& known) {
  COOPER_RETURN_IF_ERROR(symbol.status());
  const IndexedGraph graph(symbol.outputs());
  COOPER_ASSIGN_OR_RETURN(std::vector<PartialShape> shapes, VariableShapes(graph, known));
  COOPER_RETURN_IF_ERROR(InferEntryShapes(graph, shapes));
  LocationMap map(graph, shapes, known);
  std::vector<IdSource> sources;
  for (const Node* node : graph.nodes()) {
    std::optional<Reader> reader = FindReader(*node, [&](int i) -> const PartialShape& {
      return shapes[graph.entry(node->inputs()[i])];
    });
    if (!reader.has_value()) continue;
    const Origin origin = OriginOf(reader->entry);
    if (!origin.in_order || !origin.has_all || origin.variables.size() != 1) {
      if (reader->has_lengths) continue;  // the rows that the lengths belong to are unknown
      reader->ids.row_length = 0;
    } else if (reader->has_lengths && !known.contains(reader->ids.lengths)) {
      continue;
    }
    const Locations* read = nullptr;
    if (!origin.has_all || reader->first.has_value()) {
      read = map.Find(reader->entry, origin);
      if (read == nullptr) continue;
    }
    for (const std::string& name : origin.variables) {
      const auto it = known.find(name);
      if (it == known.end()) continue;
      IdSource& source = sources.emplace_back(reader->ids);
      source.input = name;
      if (read == nullptr) continue;
      source.elements = map.ElementsOf(
          name, absl::MakeConstSpan(*read).first(reader->first.value_or(read->size())),
          it->second.num_elements());
    }
  }
  return sources;
}

}  // namespace cooper
