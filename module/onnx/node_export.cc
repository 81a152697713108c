#include "module/onnx/node_export.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "module/onnx/constant_values.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"

namespace cooper {
namespace {

std::map<std::string, OnnxRule>& Rules() {
  static auto* rules = new std::map<std::string, OnnxRule>();
  return *rules;
}

std::map<std::string, OnnxRule>& RulesOfFamilies() {
  static auto* rules = new std::map<std::string, OnnxRule>();
  return *rules;
}

}  // namespace

const OnnxRule* FindOnnxRule(const OpSchema& op) {
  const auto it = Rules().find(op.name());
  if (it != Rules().end()) return &it->second;
  const auto family = RulesOfFamilies().find(op.family());
  return family == RulesOfFamilies().end() ? nullptr : &family->second;
}

OnnxFamilyRegistrar::OnnxFamilyRegistrar(const char* family, const char* reason) {
  CHECK(RulesOfFamilies().emplace(family, OnnxRule{reason, nullptr}).second)
      << family << " has two ONNX rules";
}

OnnxRegistrar::OnnxRegistrar(std::initializer_list<const char*> ops, const char* text,
                             OnnxRule::Fn fn) {
  for (const char* op : ops) {
    CHECK(Rules().emplace(op, OnnxRule{text, fn}).second) << op << " has two ONNX rules";
  }
}

NodeExport::NodeExport(const OnnxSource& source, const NodeEntry& first_output,
                       const std::vector<std::string>& values, OnnxGraph& graph)
    : source_(source), node_(first_output), values_(values), graph_(graph) {}

const std::string& NodeExport::input(int i) const {
  return values_[source_.graph->entry(node().inputs()[i])];
}

const SymbolicShape& NodeExport::shape(int i) const {
  return source_.shapes.entries[source_.graph->entry(node().inputs()[i])];
}

DType NodeExport::type(int i) const {
  return source_.types[source_.graph->entry(node().inputs()[i])];
}

const SymbolicShape& NodeExport::out_shape(int i) const {
  return source_.shapes.entries[source_.graph->entry(node_) + i];
}

DType NodeExport::out_type(int i) const { return source_.types[source_.graph->entry(node_) + i]; }

std::vector<std::string> NodeExport::inputs() const {
  std::vector<std::string> all;
  for (int i = 0; i < num_inputs(); ++i) all.push_back(input(i));
  return all;
}

bool NodeExport::is_read(int i) const { return source_.read[source_.graph->entry(node_) + i]; }

absl::StatusOr<NDArray> NodeExport::Constant(int i) const {
  absl::StatusOr<NDArray> array = source_.constant(node().inputs()[i]);
  if (array.ok()) return array;
  return Refuse(absl::StrCat("input '", node().op()->InputNames(node().call())[i],
                             "' must depend on parameters alone: ", array.status().message()));
}

absl::StatusOr<NDArray> NodeExport::Value(const std::vector<Shape>& shapes) const {
  std::vector<DType> types;
  for (int i = 0; i < num_inputs(); ++i) types.push_back(type(i));
  absl::StatusOr<NDArray> value = ValueFromShapes(node(), shapes, types);
  return value.ok() ? value : Refuse(value.status().message());
}

std::vector<std::string> NodeExport::EmitMany(absl::string_view op_type,
                                              std::vector<std::string> inputs, int num_outputs,
                                              OnnxAttrs attrs) {
  return graph_.AddNode(node().name(), op_type, std::move(inputs), std::move(attrs), num_outputs);
}

std::string NodeExport::Emit(absl::string_view op_type, std::vector<std::string> inputs,
                             OnnxAttrs attrs) {
  return EmitMany(op_type, std::move(inputs), 1, std::move(attrs))[0];
}

std::string NodeExport::Weights(absl::string_view suffix, const NDArray& array) {
  return graph_.AddTensor(absl::StrCat(node().name(), "/", suffix), array);
}

std::string NodeExport::Cast(const std::string& value, DType from, DType to) {
  if (from == to) return value;
  return Emit("Cast", {value}, {{"to", int64_t{OnnxDataType(to)}}});
}

absl::StatusOr<std::string> NodeExport::Reshape(const std::string& value, const SymbolicShape& from,
                                                const SymbolicShape& to) {
  if (from == to) return value;
  // Extents that are no numbers: those of data at the same place are 0 in ONNX, another may be -1.
  std::vector<int64_t> codes;
  int inferred = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i].is_number()) {
      codes.push_back(to[i].number());
    } else if (i < from.size() && to[i] == from[i] && to[i].known) {
      codes.push_back(0);
    } else {
      codes.push_back(-1);
      ++inferred;
    }
  }
  if (inferred <= 1) return Emit("Reshape", {value, Ints(codes)});
  COOPER_ASSIGN_OR_RETURN(const std::string shape, ShapeValue(to));
  return Emit("Reshape", {value, shape});
}

std::string NodeExport::Transpose(const std::string& value, const std::vector<int64_t>& axes) {
  return Emit("Transpose", {value}, {{"perm", axes}});
}

std::string NodeExport::Squeeze(const std::string& value, const std::vector<int64_t>& axes) {
  return Emit("Squeeze", {value, Ints(axes)});
}

std::string NodeExport::Unsqueeze(const std::string& value, const std::vector<int64_t>& axes) {
  return Emit("Unsqueeze", {value, Ints(axes)});
}

std::string NodeExport::Slice(const std::string& value, int64_t axis, int64_t begin, int64_t end) {
  return Emit("Slice", {value, Ints({begin}), Ints({end}), Ints({axis})});
}

absl::StatusOr<std::string> NodeExport::ShapeValue(const SymbolicShape& shape) {
  if (absl::c_all_of(shape, [](const Extent& extent) { return extent.known; })) {
    return graph_.ShapeValue(shape);
  }
  return Refuse("it needs an extent that no formula of the open extents gives; give numbers");
}

absl::StatusOr<std::string> NodeExport::Range(const Extent& extent) {
  const std::string zero = graph_.Scalar(0, DType::kInt64), one = graph_.Scalar(1, DType::kInt64);
  if (extent.is_number()) {
    const double count = static_cast<double>(extent.number());
    return Emit("Range", {zero, graph_.Scalar(count, DType::kInt64), one});
  }
  // Sums of ones: onnx infers no shape of a Range whose limit is computed.
  COOPER_ASSIGN_OR_RETURN(const std::string count, ShapeValue({extent}));
  return Emit("CumSum", {Emit("Expand", {one, count}), zero}, {{"exclusive", int64_t{1}}});
}

absl::Status NodeExport::Refuse(absl::string_view reason) const {
  return absl::UnimplementedError(
      absl::StrCat(Describe(node()), " cannot be exported to ONNX: ", reason));
}

absl::Status NodeExport::NeedsNumbers(const SymbolicShape& shape, absl::string_view what) const {
  if (IsFixed(shape)) return absl::OkStatus();
  return Refuse(absl::StrCat("the extents of ", what, " must be numbers"));
}

}  // namespace cooper
