#include "module/onnx/onnx_graph.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "glog/logging.h"
#include "ndarray/base/shape.h"

namespace cooper {

std::string OnnxGraph::NewName(absl::string_view wanted) {
  std::string name(wanted);
  if (names_.contains(name)) {
    int& number = next_number_[name];
    do {
      name = absl::StrCat(wanted, "_", ++number);
    } while (names_.contains(name));
  }
  names_.insert(name);
  return name;
}

std::vector<std::string> OnnxGraph::AddNode(const std::string& name, absl::string_view op_type,
                                            std::vector<std::string> inputs, OnnxAttrs attrs,
                                            int num_outputs) {
  OnnxNode node{
      .op_type = std::string(op_type), .inputs = std::move(inputs), .attrs = std::move(attrs)};
  for (int i = 0; i < num_outputs; ++i) {
    node.outputs.push_back(NewName(absl::StrCat(name, "/", op_type)));
  }
  node.name = node.outputs[0];  // unique, as ONNX Runtime wants it
  model_.nodes.push_back(std::move(node));
  return model_.nodes.back().outputs;
}

std::string OnnxGraph::AddTensor(absl::string_view wanted, const NDArray& array) {
  model_.initializers.push_back({NewName(wanted), array});
  return model_.initializers.back().name;
}

std::string OnnxGraph::Ints(const std::vector<int64_t>& values) {
  std::string& name = ints_[values];
  if (name.empty()) {
    // Text that starts with a digit is no variable's name in most languages, and so rarely taken.
    const auto array = NDArray::FromVector<int64_t>({static_cast<int64_t>(values.size())}, values);
    CHECK(array.ok()) << array.status();
    name = AddTensor(absl::StrCat("const/", absl::StrJoin(values, ",")), *array);
  }
  return name;
}

std::string OnnxGraph::Scalar(double value, DType dtype) {
  std::string& name = scalars_[{value, dtype}];
  if (name.empty()) {
    const auto array = NDArray::Full({}, value, dtype);
    CHECK(array.ok()) << array.status();
    name = AddTensor(absl::StrCat("const/", DTypeName(dtype), "/", value), *array);
  }
  return name;
}

std::string OnnxGraph::ExtentValue(const Extent& extent) {
  CHECK(extent.known);
  if (extent.is_number()) return Ints({extent.number()});
  std::string& name = extents_[shapes_.Text(extent)];
  if (!name.empty()) return name;
  std::string value;
  for (int symbol : extent.symbols) {
    const std::string& text = shapes_.symbols[symbol];
    std::string& factor = extents_[text];
    if (factor.empty()) {
      const InputAxis& source = shapes_.sources[symbol];
      const std::string shape = AddNode(text, "Shape", {source.input})[0];
      factor = AddNode(text, "Gather", {shape, Ints({source.axis})}, {{"axis", int64_t{0}}})[0];
    }
    value = value.empty() ? factor : AddNode("extent", "Mul", {value, factor})[0];
  }
  if (extent.scale != 1) value = AddNode("extent", "Mul", {value, Ints({extent.scale})})[0];
  if (extent.offset != 0) value = AddNode("extent", "Add", {value, Ints({extent.offset})})[0];
  return name = value;
}

std::string OnnxGraph::ShapeValue(const SymbolicShape& shape) {
  if (IsFixed(shape)) {
    const Shape fixed = FixedShape(shape);
    return Ints({fixed.begin(), fixed.end()});
  }
  std::string text = "(";
  for (const Extent& extent : shape) absl::StrAppend(&text, shapes_.Text(extent), ",");
  std::string& name = extents_[text];
  if (name.empty()) {
    std::vector<std::string> extents;
    for (const Extent& extent : shape) extents.push_back(ExtentValue(extent));
    name = AddNode("shape", "Concat", std::move(extents), {{"axis", int64_t{0}}})[0];
  }
  return name;
}

}  // namespace cooper
