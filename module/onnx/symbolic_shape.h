#ifndef COOPER_MODULE_ONNX_SYMBOLIC_SHAPE_H_
#define COOPER_MODULE_ONNX_SYMBOLIC_SHAPE_H_

// Finds how the extents of a network's arrays depend on extents of its inputs that are left open,
// such as the batch size and the length. The shape rules of operators work on numbers, so shapes
// are inferred for several values of each open extent, and a formula is fitted to the results. The
// last sample, which changes all values at once, checks the formulas.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ndarray/base/shape.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/inference/infer_shape.h"

namespace cooper {

// An extent of an input as the caller gives it: a number, or a name for an open extent. All extents
// of one name are equal. The `extent` of an open one is a value for which the network is valid, as
// the length of an unrolled network; 0: any.
struct InputDim {
  std::string symbol;
  int64_t extent = 0;
};

// Shapes of inputs by name.
using InputDims = std::map<std::string, std::vector<InputDim>>;

// An extent as a formula of open extents: scale * (product of symbols) + offset. A number has no
// symbols and the scale 0. Not known: none of these formulas fits.
struct Extent {
  bool known = true;
  int64_t scale = 0;
  std::vector<int> symbols;  // positions in SymbolicShapes::symbols, ascending
  int64_t offset = 0;

  bool is_number() const { return known && symbols.empty(); }
  int64_t number() const { return offset; }
  bool is_symbol() const { return known && symbols.size() == 1 && scale == 1 && offset == 0; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

using SymbolicShape = std::vector<Extent>;

// Returns the numbers of a shape without symbols. Requires that all are numbers (IsFixed).
Shape FixedShape(const SymbolicShape& shape);
// Returns whether all extents are numbers.
bool IsFixed(const SymbolicShape& shape);

// The place of an input's axis.
struct InputAxis {
  std::string input;
  int axis = 0;
};

// The shapes of all entries of a graph.
struct SymbolicShapes {
  std::vector<std::string> symbols;    // names of the open extents, in the order of the inputs
  std::vector<InputAxis> sources;      // by symbol: an axis that has it
  std::vector<SymbolicShape> entries;  // by entry of the graph

  // Returns the formula as a text, "2*batch*length", "length-4"; empty if it is not known.
  std::string Text(const Extent& extent) const;
};

// Returns values for the open extents of `inputs`, by name: those given, and larger ones for
// others. kInvalidArgument, naming the symbol, if two inputs give one symbol different extents.
absl::StatusOr<std::map<std::string, int64_t>> SampleExtents(const InputDims& inputs);

// Returns the shapes of `inputs` with `extents` in place of symbols.
KnownShapes ShapesAt(const InputDims& inputs, const std::map<std::string, int64_t>& extents);

// Infers the shapes of all entries. `parameters` has the shapes of the other variables; those of
// labels may be missing. kInvalidArgument, with the error of shape inference, naming the symbol or
// the extents, if the network does not accept the inputs.
absl::StatusOr<SymbolicShapes> InferSymbolicShapes(const IndexedGraph& graph,
                                                   const KnownShapes& parameters,
                                                   const InputDims& inputs);

}  // namespace cooper

#endif  // COOPER_MODULE_ONNX_SYMBOLIC_SHAPE_H_
