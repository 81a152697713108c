#include "module/onnx/export_onnx.h"

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "module/onnx/constant_values.h"
#include "module/onnx/node_export.h"
#include "module/onnx/onnx_file.h"
#include "module/onnx/onnx_graph.h"
#include "module/onnx/recurrence.h"
#include "module/predict/inference_network.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/indexed_graph.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/schema/node.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

constexpr int kMinOpset = 13, kMaxOpset = 17;

// Shapes and dtypes of the variables of a network other than its inputs.
struct Parameters {
  KnownShapes shapes;
  KnownTypes types;
};

Parameters ParametersOf(const Symbol& symbol, const ArrayMap& args, const ArrayMap& auxs) {
  Parameters parameters;
  const auto add = [&](const std::vector<std::string>& names, const ArrayMap& arrays) {
    for (const std::string& name : names) {
      const NDArray array = FindArray(arrays, name);
      if (array.is_null()) continue;
      parameters.shapes[name] = array.shape();
      parameters.types[name] = array.dtype();
    }
  };
  const VariableNames names = symbol.ListVariables();
  add(names.args, args);
  add(names.auxs, auxs);
  return parameters;
}

// Adds the dtypes of inputs and labels: those given, those that follow from the parameters, else
// float32.
absl::Status AddInputTypes(const InferenceNetwork& network, const KnownTypes& given,
                           KnownTypes& types) {
  for (const auto& [name, dtype] : given) {
    if (!absl::c_linear_search(network.inputs, name)) {
      return absl::InvalidArgumentError(absl::StrCat("types: there is no input '", name, "'"));
    }
    types[name] = dtype;
  }
  COOPER_ASSIGN_OR_RETURN(const InferredTypes inferred, InferTypePartial(network.symbol, types));
  const std::vector<std::string> names = network.symbol.ListArguments();
  for (size_t i = 0; i < names.size(); ++i) {
    types.emplace(names[i], inferred.args[i].value_or(DType::kFloat32));
  }
  return absl::OkStatus();
}

absl::Status CheckOptions(const InferenceNetwork& network, const InputDims& inputs,
                          const OnnxOptions& options) {
  if (options.opset < kMinOpset || options.opset > kMaxOpset) {
    return absl::InvalidArgumentError(
        absl::StrCat("opset ", options.opset, ", expected ", kMinOpset, " to ", kMaxOpset));
  }
  if (!network.missing_auxs.empty()) {
    return absl::NotFoundError(
        absl::StrCat("auxiliary state '", network.missing_auxs[0], "' is not in the parameters"));
  }
  COOPER_ASSIGN_OR_RETURN(const auto extents, SampleExtents(inputs));
  return CheckInputs(network, ShapesAt(inputs, extents));
}

std::vector<OnnxDim> DimsOf(const SymbolicShape& shape, const SymbolicShapes& shapes) {
  std::vector<OnnxDim> dims;
  for (const Extent& extent : shape) {
    OnnxDim& dim = dims.emplace_back();
    if (extent.is_number()) {
      dim.extent = extent.number();
    } else {
      dim.symbol = shapes.Text(extent);
    }
  }
  return dims;
}

// Exports the nodes of one network.
class Exporter {
 public:
  Exporter(const InferenceNetwork& network, const Symbol& symbol, const ArrayMap& args,
           const ArrayMap& auxs)
      : network_(network), symbol_(symbol), args_(args), auxs_(auxs), indexed_(symbol.outputs()) {}

  absl::StatusOr<OnnxModel> Run(const Parameters& parameters, const InputDims& inputs,
                                const OnnxOptions& options) {
    COOPER_RETURN_IF_ERROR(CheckOperators());
    COOPER_RETURN_IF_ERROR(Infer(parameters, inputs));
    OnnxGraph graph(options.opset, source_.shapes);
    graph.model().graph_name = "network";
    values_.resize(indexed_.num_entries());
    // The names of outputs are promised; inner values with the same names get others.
    output_names_ = network_.symbol.ListOutputs();
    for (std::string& name : output_names_) {
      if (!absl::c_linear_search(network_.inputs, name)) name = graph.NewName(name);
    }
    for (int i = 0; i < indexed_.num_nodes(); ++i) {
      COOPER_RETURN_IF_ERROR(ExportNode(i, graph));
    }
    AddOutputs(graph);
    return graph.Finish();
  }

 private:
  // Finds operators without a counterpart before anything is computed.
  absl::Status CheckOperators() const {
    for (const Node* node : indexed_.nodes()) {
      if (node->is_variable()) continue;
      const OnnxRule* rule = FindOnnxRule(*node->op());
      if (rule != nullptr && rule->fn != nullptr) continue;
      return absl::UnimplementedError(absl::StrCat(
          Describe(*node), " cannot be exported to ONNX: ",
          rule == nullptr ? "the operator has no rule (module/onnx/node_export.h)" : rule->text));
    }
    return absl::OkStatus();
  }

  absl::Status Infer(const Parameters& parameters, const InputDims& inputs) {
    source_.graph = &indexed_;
    COOPER_ASSIGN_OR_RETURN(source_.shapes,
                            InferSymbolicShapes(indexed_, parameters.shapes, inputs));
    COOPER_ASSIGN_OR_RETURN(auto types, VariableTypes(indexed_, parameters.types));
    COOPER_RETURN_IF_ERROR(InferEntryTypes(indexed_, types));
    for (const std::optional<DType>& type : types) {
      source_.types.push_back(type.value_or(DType::kFloat32));
    }
    source_.read.resize(indexed_.num_entries());
    for (const NodeEntry& output : symbol_.outputs()) source_.read[indexed_.entry(output)] = true;
    for (const Node* node : indexed_.nodes()) {
      for (const NodeEntry& input : node->inputs()) source_.read[indexed_.entry(input)] = true;
    }
    source_.constant = [this](const NodeEntry& entry) {
      return ConstantValue(entry, args_, auxs_);
    };
    return absl::OkStatus();
  }

  OnnxValueInfo Info(const std::string& name, int entry) const {
    return {name, source_.types[entry], DimsOf(source_.shapes.entries[entry], source_.shapes)};
  }

  // Names a variable. Those that nothing reads in the end are removed by AddOutputs.
  absl::Status AddVariable(const NodePtr& owner, int entry, OnnxGraph& graph) {
    const std::string& name = owner->name();
    if (absl::c_linear_search(network_.inputs, name)) {
      values_[entry] = graph.NewName(name);
      graph.model().inputs.push_back(Info(values_[entry], entry));
      return absl::OkStatus();
    }
    if (absl::c_linear_search(network_.unread_labels, name)) return absl::OkStatus();
    COOPER_ASSIGN_OR_RETURN(const NDArray array, ConstantValue({owner, 0}, args_, auxs_));
    values_[entry] = graph.AddTensor(name, array);
    return absl::OkStatus();
  }

  absl::Status ExportNode(int i, OnnxGraph& graph) {
    const Node& node = *indexed_.nodes()[i];
    const int first = indexed_.first_entry(i);
    const NodePtr owner = OwnerOf(i);
    if (node.is_variable()) return AddVariable(owner, first, graph);
    NodeExport c(source_, {owner, 0}, values_, graph);
    COOPER_RETURN_IF_ERROR(FindOnnxRule(*node.op())->fn(c));
    for (int output = 0; output < node.num_outputs(); ++output) {
      const auto it = c.returned().find(output);
      if (it != c.returned().end()) {
        values_[first + output] = it->second;
        if (source_.read[first + output]) {
          graph.model().inner_values.push_back(Info(it->second, first + output));
        }
      } else if (source_.read[first + output]) {
        return c.Refuse(absl::StrCat("its output '", node.op()->OutputNames(node.call())[output],
                                     "' is needed"));
      }
    }
    return absl::OkStatus();
  }

  // Returns shared ownership of node `i`.
  NodePtr OwnerOf(int i) {
    if (owners_.empty()) {
      owners_.resize(indexed_.num_nodes());
      const auto own = [this](const NodeEntry& entry) {
        owners_[indexed_.node_index(entry.node.get())] = entry.node;
      };
      for (const NodeEntry& output : symbol_.outputs()) own(output);
      for (const Node* node : indexed_.nodes()) {
        for (const NodeEntry& input : node->inputs()) own(input);
      }
    }
    return owners_[i];
  }

  // Gives the outputs their names, and removes what nothing reads.
  void AddOutputs(OnnxGraph& graph);

  const InferenceNetwork& network_;
  const Symbol& symbol_;
  const ArrayMap& args_;
  const ArrayMap& auxs_;
  const IndexedGraph indexed_;
  std::vector<NodePtr> owners_;  // by node
  OnnxSource source_;
  std::vector<std::string> values_;  // by entry
  std::vector<std::string> output_names_;
};

// Removes nodes and initializers that no output needs, such as the gamma of a BatchNorm with
// fix_gamma.
void RemoveUnused(OnnxModel& model) {
  std::map<std::string, bool> read;
  for (const OnnxValueInfo& output : model.outputs) read[output.name] = true;
  std::vector<OnnxNode> kept;
  for (auto node = model.nodes.rbegin(); node != model.nodes.rend(); ++node) {
    if (absl::c_none_of(node->outputs, [&](const std::string& name) { return read[name]; })) {
      continue;
    }
    for (const std::string& input : node->inputs) read[input] = true;
    kept.push_back(std::move(*node));
  }
  model.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
  const auto unused = [&](const auto& value) { return !read[value.name]; };
  std::erase_if(model.initializers, unused);
  // Values of removed nodes, and second names of inputs and outputs.
  std::map<std::string, bool> described;
  for (const OnnxValueInfo& value : model.inputs) described[value.name] = true;
  for (const OnnxValueInfo& value : model.outputs) described[value.name] = true;
  for (const OnnxTensor& tensor : model.initializers) described[tensor.name] = true;
  std::erase_if(model.inner_values, [&](const OnnxValueInfo& value) {
    return unused(value) || std::exchange(described[value.name], true);
  });
}

void Exporter::AddOutputs(OnnxGraph& graph) {
  OnnxModel& model = graph.model();
  // A value that a node computes takes the output's name; others are copied.
  std::map<std::string, std::string> renamed;
  std::map<std::string, bool> computed;
  for (const OnnxNode& node : model.nodes) {
    for (const std::string& output : node.outputs) computed[output] = true;
  }
  std::vector<std::pair<std::string, std::string>> copies;
  for (size_t k = 0; k < output_names_.size(); ++k) {
    const int entry = indexed_.entry(symbol_.outputs()[k]);
    std::string name = output_names_[k];
    const std::string& value = values_[entry];
    if (value == name) name = graph.NewName(absl::StrCat(name, "_output"));
    model.outputs.push_back(Info(name, entry));
    if (!computed[value] || !renamed.emplace(value, name).second) copies.push_back({value, name});
  }
  const auto rename = [&](std::string& name) {
    const auto it = renamed.find(name);
    if (it != renamed.end()) name = it->second;
  };
  for (auto& [value, name] : copies) {
    model.nodes.push_back(
        {.op_type = "Identity", .name = name, .inputs = {value}, .outputs = {name}});
  }
  for (OnnxNode& node : model.nodes) {
    absl::c_for_each(node.inputs, rename);
    absl::c_for_each(node.outputs, rename);
  }
  for (OnnxValueInfo& value : model.inner_values) rename(value.name);
  RemoveUnused(model);
}

}  // namespace

absl::StatusOr<OnnxModel> MakeOnnxModel(const Symbol& symbol, const ArrayMap& args,
                                        const ArrayMap& auxs, const InputDims& inputs,
                                        const OnnxOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const InferenceNetwork network,
                          MakeInferenceNetwork(symbol, args, auxs, options.output_names));
  COOPER_RETURN_IF_ERROR(CheckOptions(network, inputs, options));
  Parameters parameters = ParametersOf(network.symbol, args, auxs);
  COOPER_RETURN_IF_ERROR(AddInputTypes(network, options.types, parameters.types));
  Symbol exported = network.symbol;
  if (options.fuse_recurrence) {
    COOPER_ASSIGN_OR_RETURN(const auto extents, SampleExtents(inputs));
    KnownShapes shapes = parameters.shapes;
    shapes.merge(ShapesAt(inputs, extents));
    // A network that does not accept these shapes is reported below.
    auto fused = FuseRecurrence(exported, shapes, parameters.types);
    if (fused.ok()) exported = *std::move(fused);
  }
  return Exporter(network, exported, args, auxs).Run(parameters, inputs, options);
}

absl::Status ExportOnnx(const std::string& path, const Symbol& symbol, const ArrayMap& args,
                        const ArrayMap& auxs, const InputDims& inputs, const OnnxOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const OnnxModel model,
                          MakeOnnxModel(symbol, args, auxs, inputs, options));
  return WriteOnnxModel(model, path);
}

}  // namespace cooper
