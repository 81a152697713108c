#ifndef COOPER_MODULE_ONNX_NODE_EXPORT_H_
#define COOPER_MODULE_ONNX_NODE_EXPORT_H_

// How operators are written in ONNX. Each source of module/onnx/ops registers the operators of one
// family; linking it is enough:
//
//   absl::Status ExportFlatten(NodeExport& c) { ... }
//   COOPER_ONNX_EXPORT(Flatten, "Flatten", ExportFlatten);
//
// Operators that have no counterpart are registered with the reason (ops/refused.cc), so that the
// table of operators is complete.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "module/onnx/onnx_graph.h"
#include "module/onnx/onnx_model.h"
#include "module/onnx/symbolic_shape.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"

namespace cooper {

// The graph that is exported: what is known of its entries, by entry of `graph`.
struct OnnxSource {
  const IndexedGraph* graph = nullptr;
  SymbolicShapes shapes;
  std::vector<DType> types;
  std::vector<bool> read;  // whether a node or the model's outputs read the entry
  // Returns the elements of an entry that depends on parameters alone, on the CPU. Errors: those of
  // the computation; kFailedPrecondition if it depends on an input.
  std::function<absl::StatusOr<NDArray>(const NodeEntry&)> constant;
};

// One node that is being exported: its parameters, its inputs as values of the ONNX graph, and
// functions that add nodes. An exporter ends with Return for each output that is read.
class NodeExport {
 public:
  NodeExport(const OnnxSource& source, const NodeEntry& first_output,
             const std::vector<std::string>& values, OnnxGraph& graph);

  const Node& node() const { return *node_.node; }
  // Returns the operator's parameters; P must be its struct.
  template <typename P>
  const P& param() const {
    return node().call().param<P>();
  }
  int opset() const { return graph_.opset(); }
  OnnxGraph& graph() { return graph_; }

  int num_inputs() const { return static_cast<int>(node().inputs().size()); }
  // Return the value, shape and dtype of input `i`, and shape and dtype of output `i`.
  const std::string& input(int i) const;
  const SymbolicShape& shape(int i) const;
  int rank(int i) const { return static_cast<int>(shape(i).size()); }
  DType type(int i) const;
  const SymbolicShape& out_shape(int i = 0) const;
  DType out_type(int i = 0) const;
  // Returns the values of all inputs.
  std::vector<std::string> inputs() const;
  // Returns whether output `i` is needed.
  bool is_read(int i) const;
  // Returns the elements of input `i`. kUnimplemented, naming the node, unless it depends on
  // parameters alone.
  absl::StatusOr<NDArray> Constant(int i) const;
  // Returns the elements of output 0 of a node that reads only the shapes of its inputs, here
  // `shapes`, or has none. Errors: that of Refuse.
  absl::StatusOr<NDArray> Value(const std::vector<Shape>& shapes) const;

  // Adds a node and returns its output.
  std::string Emit(absl::string_view op_type, std::vector<std::string> inputs,
                   OnnxAttrs attrs = {});
  std::vector<std::string> EmitMany(absl::string_view op_type, std::vector<std::string> inputs,
                                    int num_outputs, OnnxAttrs attrs = {});
  std::string Ints(const std::vector<int64_t>& values) { return graph_.Ints(values); }
  // Returns a scalar of the dtype of output 0.
  std::string Scalar(double value) { return graph_.Scalar(value, out_type()); }
  std::string Weights(absl::string_view suffix, const NDArray& array);
  // Returns `value` in another dtype.
  std::string Cast(const std::string& value, DType from, DType to);
  // Returns `value` of `from` extents with `to` extents. An empty `from` is not known.
  absl::StatusOr<std::string> Reshape(const std::string& value, const SymbolicShape& from,
                                      const SymbolicShape& to);
  std::string Transpose(const std::string& value, const std::vector<int64_t>& axes);
  std::string Squeeze(const std::string& value, const std::vector<int64_t>& axes);
  std::string Unsqueeze(const std::string& value, const std::vector<int64_t>& axes);
  // Returns elements [begin, end) of an axis.
  std::string Slice(const std::string& value, int64_t axis, int64_t begin, int64_t end);
  // Returns the extents as a vector of int64. Error: that of Refuse for an extent that is not
  // known.
  absl::StatusOr<std::string> ShapeValue(const SymbolicShape& shape);
  // Returns the numbers 0, 1, ... below `extent` as a vector of int64.
  absl::StatusOr<std::string> Range(const Extent& extent);

  // Makes `value` output `i` of the node.
  void Return(int i, std::string value) { returned_[i] = std::move(value); }
  void Return(std::string value) { Return(0, std::move(value)); }
  const std::map<int, std::string>& returned() const { return returned_; }

  // Refuse returns kUnimplemented, "Pooling 'pool1' cannot be exported to ONNX: REASON".
  // NeedsNumbers returns OK if all extents are numbers, else the error of Refuse with a reason that
  // names `what`.
  absl::Status Refuse(absl::string_view reason) const;
  absl::Status NeedsNumbers(const SymbolicShape& shape, absl::string_view what) const;

 private:
  const OnnxSource& source_;
  const NodeEntry node_;
  const std::vector<std::string>& values_;  // by entry of the graph
  OnnxGraph& graph_;
  std::map<int, std::string> returned_;
};

// How an operator is exported: by a function, or not, for a reason.
struct OnnxRule {
  using Fn = absl::Status (*)(NodeExport& c);
  std::string text;  // the operators of ONNX that it becomes, or the reason
  Fn fn = nullptr;   // null: it cannot be exported
};

// Returns the rule of an operator, or of the folder that declares it (OpSchema::family); null if
// there is neither. Thread-safe after registration.
const OnnxRule* FindOnnxRule(const OpSchema& op);

// Registers operators. A second rule of one operator is a bug in cooper and ends the program.
struct OnnxRegistrar {
  OnnxRegistrar(std::initializer_list<const char*> ops, const char* text, OnnxRule::Fn fn);
};

// Registers the reason why no operator of a folder can be exported.
struct OnnxFamilyRegistrar {
  OnnxFamilyRegistrar(const char* family, const char* reason);
};

// COOPER_ONNX_EXPORT(op, text, fn), for an operator whose name is an identifier.
#define COOPER_ONNX_EXPORT(op, text, fn) \
  static const ::cooper::OnnxRegistrar cooper_onnx_export_##op({#op}, text, fn)

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_NODE_EXPORT_H_
