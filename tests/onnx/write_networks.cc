// Writes networks with random weights as MXNet's files, and what cooper predicts with them, for
// compare_onnx.py:
//
//   write_networks --folder=DIR [--symbol=resnet18_v1-symbol.json --shape=1,3,224,224]
//
// DIR/networks.json lists the networks, the shapes to export them with, and runs: files of float32
// with the inputs and outputs. With --symbol the network is that of the file, with one input
// `data` of that shape; else those of network_list.h.

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "module/parameters/checkpoint.h"
#include "module/predict/predictor.h"
#include "ndarray/array/array_map.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/partial_shape.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"
#include "tests/onnx/network_list.h"
#include "tools/program_main.h"

ABSL_FLAG(std::string, folder, "", "where to write");
ABSL_FLAG(std::string, symbol, "", "symbol file of a network of images");
ABSL_FLAG(std::string, shape, "", "extents of its input, 1,3,224,224");

namespace cooper {
namespace {

// Returns an array of numbers uniform in [low, high).
absl::StatusOr<NDArray> Uniform(const Shape& shape, double low, double high, uint64_t stream) {
  COOPER_ASSIGN_OR_RETURN(const NDArray array, NDArray::Empty(shape));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<float> values, array.Data<float>());
  const Philox random(/*seed=*/1, stream);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(low + (high - low) * random.UniformAt(i));
  }
  return array;
}

// Returns values of a parameter: those that keep the size of activations, as Xavier's.
absl::StatusOr<NDArray> ParameterValue(const std::string& name, const Shape& shape,
                                       uint64_t stream) {
  if (absl::EndsWith(name, "var")) return Uniform(shape, 0.5, 1.5, stream);
  if (absl::EndsWith(name, "gamma")) return Uniform(shape, 0.7, 1.3, stream);
  if (shape.rank() < 2) return Uniform(shape, -0.2, 0.2, stream);
  const double fan_in = static_cast<double>(shape.num_elements()) / static_cast<double>(shape[0]);
  const double bound = std::sqrt(6 / fan_in);
  return Uniform(shape, -bound, bound, stream);
}

absl::StatusOr<NDArray> InputValue(const std::string& name, const Shape& shape,
                                   const TestNetwork& network, const KnownShapes& run,
                                   uint64_t stream) {
  if (absl::EndsWith(name, "length")) {
    return Uniform(shape, 1, static_cast<double>(network.max_length(run)) + 1, stream);
  }
  return Uniform(shape, 0, network.num_ids == 0 ? 1 : static_cast<double>(network.num_ids), stream);
}

absl::Status FillParameters(const Symbol& symbol, const KnownShapes& inputs, ArrayMap& args,
                            ArrayMap& auxs) {
  COOPER_ASSIGN_OR_RETURN(const InferredShapes shapes, InferShapePartial(symbol, inputs));
  const VariableNames names = symbol.ListVariables();
  uint64_t stream = 100;
  for (size_t i = 0; i < names.args.size(); ++i) {
    const std::string& name = names.args[i];
    if (inputs.contains(name) || absl::EndsWith(name, "label")) continue;
    COOPER_ASSIGN_OR_RETURN(args[name], ParameterValue(name, shapes.args[i].ToShape(), ++stream));
  }
  for (size_t i = 0; i < names.auxs.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(auxs[names.auxs[i]],
                            ParameterValue(names.auxs[i], shapes.auxs[i].ToShape(), ++stream));
  }
  return absl::OkStatus();
}

// Writes the elements, and returns their description in JSON.
absl::StatusOr<std::string> WriteArray(const std::string& folder, const std::string& name,
                                       const NDArray& array) {
  COOPER_RETURN_IF_ERROR(WriteFileAtomically(
      absl::StrCat(folder, "/", name),
      {static_cast<const char*>(array.raw_data()), static_cast<size_t>(array.size_bytes())}));
  return absl::StrCat("{\"shape\": [", absl::StrJoin(array.shape(), ", "), "], \"file\": \"", name,
                      "\"}");
}

// Computes one run, writes its arrays, and returns its description in JSON.
absl::StatusOr<std::string> WriteRun(const std::string& folder, const TestNetwork& network, int i,
                                     const ArrayMap& args, const ArrayMap& auxs) {
  const KnownShapes& shapes = network.runs[i];
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, network.symbol(shapes));
  COOPER_ASSIGN_OR_RETURN(const auto predictor, Predictor::Create(symbol, args, auxs));
  ArrayMap inputs;
  std::vector<std::string> input_texts, output_texts;
  for (const auto& [name, shape] : shapes) {
    COOPER_ASSIGN_OR_RETURN(inputs[name],
                            InputValue(name, shape.ToShape(), network, shapes, inputs.size()));
    COOPER_ASSIGN_OR_RETURN(
        const std::string text,
        WriteArray(folder, absl::StrCat(network.name, ".", i, ".", name), inputs[name]));
    input_texts.push_back(absl::StrCat("\"", name, "\": ", text));
  }
  COOPER_ASSIGN_OR_RETURN(const std::vector<NDArray> outputs, predictor->Predict(inputs));
  for (size_t k = 0; k < outputs.size(); ++k) {
    COOPER_ASSIGN_OR_RETURN(
        output_texts.emplace_back(),
        WriteArray(folder, absl::StrCat(network.name, ".", i, ".output", k), outputs[k]));
  }
  return absl::StrCat("{\"inputs\": {", absl::StrJoin(input_texts, ", "), "}, \"outputs\": [",
                      absl::StrJoin(output_texts, ", "), "]}");
}

absl::StatusOr<std::string> WriteNetwork(const std::string& folder, const TestNetwork& network) {
  ArrayMap args, auxs;
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, network.symbol(network.runs[0]));
  COOPER_RETURN_IF_ERROR(FillParameters(symbol, network.runs[0], args, auxs));
  COOPER_RETURN_IF_ERROR(
      SaveCheckpoint(absl::StrCat(folder, "/", network.name), 0, symbol, args, auxs));
  std::vector<std::string> runs;
  for (size_t i = 0; i < network.runs.size(); ++i) {
    COOPER_ASSIGN_OR_RETURN(runs.emplace_back(),
                            WriteRun(folder, network, static_cast<int>(i), args, auxs));
  }
  return absl::StrCat("{\"name\": \"", network.name, "\", \"shapes\": \"", network.shapes,
                      "\", \"detections\": ", network.detections ? "true" : "false",
                      ", \"runs\": [\n  ", absl::StrJoin(runs, ",\n  "), "]}");
}

absl::StatusOr<std::vector<TestNetwork>> Networks() {
  const std::string path = absl::GetFlag(FLAGS_symbol);
  if (path.empty()) return AllTestNetworks();
  COOPER_ASSIGN_OR_RETURN(const Symbol loss, LoadSymbol(path));
  // The scores too: with random weights, probabilities may be 0 and 1 alone.
  COOPER_ASSIGN_OR_RETURN(const Symbol symbol, Symbol::Group({loss, loss.GetChildren()[0]}));
  std::vector<int64_t> extents;
  for (absl::string_view text : absl::StrSplit(absl::GetFlag(FLAGS_shape), ',')) {
    if (!absl::SimpleAtoi(text, &extents.emplace_back())) {
      return absl::InvalidArgumentError("--shape: expected numbers with commas between");
    }
  }
  const std::string file = path.substr(path.rfind('/') + 1);
  TestNetwork network = {
      .name = file.substr(0, file.rfind("-symbol.json")),
      .shapes = absl::StrCat("data:batch,", absl::StrJoin(extents.begin() + 1, extents.end(), ",")),
      .symbol = [symbol](const KnownShapes&) { return symbol; },
      .runs = {{{"data", PartialShape(extents)}}}};
  extents[0] = 3;
  network.runs.push_back({{"data", PartialShape(extents)}});
  return std::vector<TestNetwork>{std::move(network)};
}

absl::Status Run() {
  const std::string folder = absl::GetFlag(FLAGS_folder);
  if (folder.empty()) return absl::InvalidArgumentError("--folder=DIR is missing");
  COOPER_ASSIGN_OR_RETURN(const std::vector<TestNetwork> networks, Networks());
  std::vector<std::string> texts;
  for (const TestNetwork& network : networks) {
    COOPER_ASSIGN_OR_RETURN(texts.emplace_back(), WriteNetwork(folder, network));
  }
  return WriteFileAtomically(folder + "/networks.json",
                             absl::StrCat("[\n", absl::StrJoin(texts, ",\n"), "\n]\n"));
}

}  // namespace
}  // namespace cooper

int main(int argc, char** argv) {
  return cooper::ProgramMain({.name = "write_networks",
                              .summary = "writes networks and predictions for compare_onnx.py",
                              .flags_of = "tests/onnx/"},
                             argc, argv, cooper::Run);
}
