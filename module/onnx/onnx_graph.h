#ifndef COOPER_MODULE_ONNX_ONNX_GRAPH_H_
#define COOPER_MODULE_ONNX_ONNX_GRAPH_H_

// Builds the graph of an OnnxModel: names its values, adds constants, and computes extents that are
// known only when the model runs.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "module/onnx/onnx_model.h"
#include "module/onnx/symbolic_shape.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"

namespace cooper {

// A graph under construction. Values are identified by their names. Not thread-safe. Nodes are
// added in an order in which each reads only earlier values.
class OnnxGraph {
 public:
  // `shapes` must outlive this object; its sources name inputs of the graph.
  OnnxGraph(int opset, const SymbolicShapes& shapes) : shapes_(shapes) { model_.opset = opset; }

  int opset() const { return model_.opset; }
  // The model so far. Names in it must come from NewName.
  OnnxModel& model() { return model_; }
  // Ends the construction.
  OnnxModel Finish() { return std::move(model_); }

  // Returns `wanted`, or with a number behind it if it is taken. The name is taken from now on.
  std::string NewName(absl::string_view wanted);

  // Adds a node for the network's node `name`, with `num_outputs` outputs, and returns the names of
  // these, NAME/OP.
  std::vector<std::string> AddNode(const std::string& name, absl::string_view op_type,
                                   std::vector<std::string> inputs, OnnxAttrs attrs = {},
                                   int num_outputs = 1);

  // Adds weights. A CPU array is shared.
  std::string AddTensor(absl::string_view wanted, const NDArray& array);
  // Return a constant vector of int64 and a scalar of `dtype`, which the graph has once only.
  std::string Ints(const std::vector<int64_t>& values);
  std::string Scalar(double value, DType dtype);

  // Returns a vector of one int64, the extent, which must be known (Extent::known). It is a
  // constant or computed from the shape of an input.
  std::string ExtentValue(const Extent& extent);
  // Returns a vector of the extents, which must be known.
  std::string ShapeValue(const SymbolicShape& shape);

 private:
  OnnxModel model_;
  const SymbolicShapes& shapes_;
  std::set<std::string> names_;
  std::map<std::string, int> next_number_;            // by wanted name
  std::map<std::vector<int64_t>, std::string> ints_;  // names of constants
  std::map<std::pair<double, DType>, std::string> scalars_;
  std::map<std::string, std::string> extents_;  // names of computed extents, by formula
};

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_ONNX_GRAPH_H_
