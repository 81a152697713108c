#include "module/predict/bound_predictor.h"

#include <atomic>
#include <cstring>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "module/predict/parameter_arrays.h"
#include "ndarray/base/default_seed.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"
#include "symbol/json/json.h"

namespace cooper {
namespace {

struct Params {
  ArrayMap args;
  ArrayMap auxs;
  std::string first_unprefixed_name;  // empty if any name begins with "arg:" or "aux:"
};

// Returns the arrays called arg:NAME and aux:NAME whose names are known. Others are ignored, as in
// MXNet.
absl::StatusOr<Params> ReadParams(absl::string_view bytes, const VariableNames& names) {
  if (bytes.empty()) return absl::InvalidArgumentError("the file of parameters is empty");
  COOPER_ASSIGN_OR_RETURN(const ParamsList list, ParseParams(bytes));
  if (!list.named && !list.entries.empty()) {
    return absl::InvalidArgumentError("the file of parameters has arrays without names");
  }
  Params params;
  bool prefixed = false;
  int64_t bytes_left = kMaxDenseBytes;
  for (const ParamsEntry& entry : list.entries) {
    const bool is_arg = absl::StartsWith(entry.name, "arg:");
    if (!is_arg && !absl::StartsWith(entry.name, "aux:")) continue;
    prefixed = true;
    const std::string name = entry.name.substr(4);
    if (!absl::c_linear_search(is_arg ? names.args : names.auxs, name)) continue;
    if (entry.array.is_null()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "parameter '", name, "' is null: it was saved before it had a shape and elements"));
    }
    COOPER_ASSIGN_OR_RETURN(
        NDArray array, AddContext(ToDenseWithin(entry, &bytes_left), "parameter '", name, "'"));
    (is_arg ? params.args : params.auxs)[name] = std::move(array);
  }
  if (!prefixed && !list.entries.empty()) params.first_unprefixed_name = list.entries[0].name;
  return params;
}

// Refuses a file without these prefixes, such as one of Gluon's save_parameters, which would leave
// all parameters zero.
absl::Status CheckPrefixes(const Params& params, const InferenceNetwork& network,
                           const KnownShapes& shapes) {
  if (params.first_unprefixed_name.empty()) return absl::OkStatus();
  std::vector<std::string> needed = network.missing_auxs;
  needed.insert(needed.end(), network.inputs.begin(), network.inputs.end());
  for (const std::string& name : needed) {
    if (shapes.contains(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "the file of parameters has none for '", name, "' nor for others: its names, '",
        params.first_unprefixed_name, "' first, are not arg:NAME or aux:NAME (as Gluon's export ",
        "writes them, and save_parameters does not)"));
  }
  return absl::OkStatus();
}

// Returns "; there is no input 'date'; did you mean 'data'?" for the first name that is not in
// `known`, else nothing. MXNet ignores unknown names, so they are mentioned only in errors.
std::string UnknownName(const KnownShapes& shapes, const std::vector<std::string>& known) {
  for (const auto& [name, shape] : shapes) {
    if (absl::c_linear_search(known, name)) continue;
    return absl::StrCat("; there is no input '", name, "'", DidYouMean(name, known));
  }
  return "";
}

absl::Status SetValues(const ArrayMap& values, const Executor& executor) {
  for (const auto& [name, value] : values) {
    const NDArray input = executor.arg(name);
    if (input.shape() != value.shape()) {
      return absl::InvalidArgumentError(
          absl::StrCat("input '", name, "' is ", input.shape().ToString(),
                       ", but the file of parameters has ", value.shape().ToString(), " for it"));
    }
    COOPER_RETURN_IF_ERROR(input.CopyFrom(value));
  }
  return absl::OkStatus();
}

absl::Status CheckSize(absl::string_view what, const NDArray& array, int64_t size) {
  if (size == array.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " has ", array.size(), " elements, ",
                                                 array.ToString(), ", but size is ", size));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const BoundPredictor::Network>> BoundPredictor::ReadNetwork(
    const BoundPredictorOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, SymbolFromJson(options.symbol_json));
  auto network = std::make_shared<Network>();
  const VariableNames names = symbol.ListVariables();
  network->arguments = names.args;
  COOPER_ASSIGN_OR_RETURN(Params params, ReadParams(options.params, names));
  // MXNet's files may have values of inputs, such as the initial states of a recurrent network.
  ArrayMap values;
  for (const auto& [name, shape] : options.shapes) {
    if (auto value = params.args.extract(name)) values.insert(std::move(value));
  }
  COOPER_ASSIGN_OR_RETURN(network->inference, MakeInferenceNetwork(symbol, params.args, params.auxs,
                                                                   options.output_names));
  COOPER_RETURN_IF_ERROR(CheckPrefixes(params, network->inference, options.shapes));
  COOPER_ASSIGN_OR_RETURN(network->values,
                          OnContext(Among(values, network->inference.inputs), options.context));
  for (const auto& [name, shape] : InputShapes(*network, options.shapes)) {
    network->shaped.push_back(name);
  }
  for (const std::string& label : network->inference.unread_labels) params.args.erase(label);
  const VariableNames needed = network->inference.symbol.ListVariables();
  COOPER_ASSIGN_OR_RETURN(network->args,
                          OnContext(Among(params.args, needed.args), options.context));
  COOPER_ASSIGN_OR_RETURN(network->auxs,
                          OnContext(Among(params.auxs, needed.auxs), options.context));
  COOPER_RETURN_IF_ERROR(FindTypes(options.types, *network));
  // Binding reports contradictory shapes, so an error is ignored here.
  const auto inferred =
      InferShapePartial(network->inference.symbol, InputShapes(*network, options.shapes));
  const std::vector<std::string> args = network->inference.symbol.ListArguments();
  for (size_t i = 0; i < args.size() && inferred.ok(); ++i) {
    const auto it = network->args.find(args[i]);
    if (inferred->args[i].IsFull() || it == network->args.end()) continue;
    network->undetermined.emplace(args[i], it->second.shape());
  }
  return network;
}

absl::Status BoundPredictor::FindTypes(const KnownTypes& given, Network& network) {
  // As in MXNet the dtypes follow neither from the parameters nor from the symbol: a program that
  // names no dtypes provides floats.
  for (const std::string& name : network.inference.inputs) {
    const auto it = given.find(name);
    const NDArray value = FindArray(network.values, name);
    network.types[name] = !value.is_null()    ? value.dtype()
                          : it == given.end() ? DType::kFloat32
                                              : it->second;
  }
  return ParameterTypes().Convert(network.inference.symbol, network.types, network.args,
                                  network.auxs);
}

KnownShapes BoundPredictor::InputShapes(const Network& network, const KnownShapes& shapes) {
  KnownShapes inputs;
  for (const auto& [name, shape] : shapes) {
    // Other names are labels, inputs of outputs that were not requested, or unknown.
    if (absl::c_linear_search(network.inference.inputs, name)) inputs[name] = shape;
  }
  return inputs;
}

absl::StatusOr<std::vector<std::unique_ptr<BoundPredictor>>> BoundPredictor::Create(
    const BoundPredictorOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const auto network, ReadNetwork(options));
  BindOptions bind{.context = options.context,
                   .grad_req = WriteReq::kNull,
                   .args = network->args,
                   .auxs = network->auxs};
  bind.shapes = InputShapes(*network, options.shapes);
  bind.types = network->types;
  std::vector<std::unique_ptr<BoundPredictor>> predictors;
  std::shared_ptr<const CompiledProgram> compiled;
  static std::atomic<uint64_t> num_predictors = 0;
  for (int i = 0; i < options.count; ++i) {
    bind.random = std::make_shared<RandomState>(
        RandomState{.seed = DefaultSeed(), .replica = num_predictors++});
    auto executor = Executor::SimpleBind(network->inference.symbol, bind, compiled);
    if (!executor.ok()) {
      // An unknown name is likely a misspelt name of the missing input.
      const bool misses_shape = bind.shapes.size() < network->inference.inputs.size();
      return absl::Status(
          executor.status().code(),
          absl::StrCat(executor.status().message(),
                       misses_shape ? UnknownName(options.shapes, network->arguments) : ""));
    }
    COOPER_RETURN_IF_ERROR(SetValues(network->values, **executor));
    compiled = (*executor)->compiled();
    predictors.push_back(
        std::unique_ptr<BoundPredictor>(new BoundPredictor(network, *std::move(executor))));
  }
  return predictors;
}

absl::StatusOr<std::unique_ptr<BoundPredictor>> BoundPredictor::Reshape(
    const KnownShapes& shapes) const {
  const KnownShapes inputs = InputShapes(*network_, shapes);
  for (const std::string& name : network_->shaped) {
    // MXNet refuses an input without a shape.
    if (const std::string unknown = UnknownName(shapes, network_->arguments);
        !inputs.contains(name) && !unknown.empty()) {
      return absl::InvalidArgumentError(absl::StrCat("input '", name, "' has no shape", unknown));
    }
  }
  // The shapes of other parameters follow from the inputs', and are compared below.
  KnownShapes known = inputs;
  known.insert(network_->undetermined.begin(), network_->undetermined.end());
  // The shapes of labels, which have no values, change with the inputs.
  COOPER_ASSIGN_OR_RETURN(auto executor, executor_->Reshape(known, /*partial_shaping=*/true,
                                                            /*allow_up_sizing=*/true));
  for (const auto& [name, array] : network_->args) {
    const NDArray now = executor->arg(name);
    if (now.shape() == array.shape()) continue;
    return absl::InvalidArgumentError(absl::StrCat("parameter '", name, "' is ",
                                                   array.shape().ToString(), ", these inputs need ",
                                                   now.shape().ToString()));
  }
  return std::unique_ptr<BoundPredictor>(new BoundPredictor(network_, std::move(executor)));
}

absl::Status BoundPredictor::SetInput(const std::string& name, const void* data, int64_t size) {
  // Any size is accepted, because nothing reads this label.
  if (absl::c_linear_search(network_->inference.unread_labels, name)) return absl::OkStatus();
  const NDArray array = executor_->arg(name);
  if (array.is_null()) {
    if (absl::c_linear_search(network_->arguments, name))
      return absl::OkStatus();  // not part of the network
    return absl::InvalidArgumentError(
        absl::StrCat("there is no input '", name, "'", DidYouMean(name, network_->arguments)));
  }
  COOPER_RETURN_IF_ERROR(CheckSize(absl::StrCat("input '", name, "'"), array, size));
  NDArray staged = array;
  if (!array.context().is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(staged, NDArray::Empty(array.shape(), array.dtype()));
  }
  std::memcpy(staged.raw_data(), data, static_cast<size_t>(size * SizeOf(array.dtype())));
  return array.context().is_cpu() ? absl::OkStatus() : array.CopyFrom(staged);
}

absl::Status BoundPredictor::CheckOutput(uint32_t index) const {
  const size_t count = executor_->output_shapes().size();
  if (index < count) return absl::OkStatus();
  return absl::OutOfRangeError(absl::StrCat("output ", index, " of a network of ", count));
}

absl::Status BoundPredictor::GetOutput(uint32_t index, void* data, int64_t size) const {
  COOPER_RETURN_IF_ERROR(CheckOutput(index));
  COOPER_ASSIGN_OR_RETURN(const auto outputs, executor_->outputs());
  NDArray output = outputs[index];
  COOPER_RETURN_IF_ERROR(CheckSize(absl::StrCat("output ", index), output, size));
  if (!output.context().is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(output, output.CopyTo(Context::Cpu()));
  }
  std::memcpy(data, output.raw_data(), static_cast<size_t>(size * SizeOf(output.dtype())));
  return absl::OkStatus();
}

absl::StatusOr<Shape> BoundPredictor::OutputShape(uint32_t index) const {
  COOPER_RETURN_IF_ERROR(CheckOutput(index));
  if (const auto outputs = executor_->outputs(); outputs.ok()) return (*outputs)[index].shape();
  return executor_->output_shapes()[index];
}

absl::StatusOr<DType> BoundPredictor::OutputType(uint32_t index) const {
  COOPER_RETURN_IF_ERROR(CheckOutput(index));
  const Program& program = executor_->compiled()->program();
  return program.values[program.outputs[index]].dtype;
}

}  // namespace cooper
