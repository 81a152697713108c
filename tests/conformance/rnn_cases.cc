// Runs rnn/: unrolled cells, the length of the RNN operator's parameters, checkpoints of cells.

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/symbol.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/graph_case.h"
#include "tests/conformance/rnn_cells.h"

namespace cooper::conformance {
namespace {

// Returns the execution of an operator's case: a training run with the gradients of all arguments.
Json ExecutionOf(const Json& json, const Symbol& symbol) {
  Json execution = {{"mode", "train"}, {"backward", true}, {"grad_req", Json::object()}};
  execution["rtol"] = json.at("rtol");
  execution["atol"] = json.at("atol");
  for (const std::string& name : symbol.ListArguments()) execution["grad_req"][name] = "write";
  return execution;
}

// Returns `io` with the head gradients that MXNet uses. If an output is listed twice (an output of
// the last step is also a final state), MXNet uses only the last head gradient, while cooper sums
// them: the others become zero.
absl::StatusOr<Arrays> WithLastHeadGradients(const Symbol& symbol, Arrays io) {
  for (int i = 0; i < symbol.num_outputs(); ++i) {
    for (int j = i + 1; j < symbol.num_outputs(); ++j) {
      const auto it = io.find(absl::StrCat("ograd:", i));
      if (!(symbol.outputs()[i] == symbol.outputs()[j]) || it == io.end()) continue;
      COOPER_ASSIGN_OR_RETURN(it->second, NDArray::Zeros(it->second.shape(), it->second.dtype()));
    }
  }
  return io;
}

absl::Status CheckUnrolledGraph(const SymbolFile& file, const Arrays& io, const Json& json) {
  const Symbol& symbol = file.symbol;
  COOPER_RETURN_IF_ERROR(CompareNames("arguments", symbol.ListArguments(), json.at("arguments")));
  COOPER_RETURN_IF_ERROR(CompareNames("outputs", symbol.ListOutputs(), json.at("outputs")));
  KnownShapes known;
  for (const auto& [name, shape] : json.at("inputs").items()) known[name] = ShapeFromJson(shape);
  COOPER_ASSIGN_OR_RETURN(InferredShapes shapes, InferShape(symbol, known));
  const std::vector<std::string> names = symbol.ListArguments();
  for (size_t i = 0; i < names.size(); ++i) {
    COOPER_RETURN_IF_ERROR(CompareShapes(absl::StrCat("shape of ", names[i]), shapes.args[i],
                                         json.at("arg_shapes").at(names[i])));
  }
  COOPER_ASSIGN_OR_RETURN(const Arrays arrays, WithLastHeadGradients(symbol, io));
  COOPER_RETURN_IF_ERROR(CheckExecution(symbol, arrays, ExecutionOf(json, symbol)));
  return CheckSaved(file);
}

// Checks that the stack of plain cells of a fused cell gives the same outputs.
absl::Status CheckUnfusedGraph(const Symbol& symbol, const Arrays& io, const Json& json) {
  COOPER_RETURN_IF_ERROR(
      CompareNames("arguments", symbol.ListArguments(), json.at("unfused_arguments")));
  // Omits the final states, whose shapes differ: in a fused cell they are one array.
  Arrays unfused = {{"arg:data", io.at("arg:data")}};
  for (int i = 0; i < json.at("num_output_symbols").get<int>(); ++i) {
    const std::string name = absl::StrCat("out:", i);
    COOPER_ASSIGN_OR_RETURN(unfused[name], FindArray(io, name));
  }
  for (const auto& [name, array] : WithPrefix(io, "unfused_arg:")) unfused["arg:" + name] = array;
  Json execution = ExecutionOf(json, symbol);
  execution["backward"] = false;
  return CheckExecution(symbol, unfused, execution);
}

// Checks that cooper's own cell unrolls to a graph with the same names, shapes and outputs.
absl::Status CheckCell(const RNNCellPtr& cell, const Arrays& io, const Json& json) {
  COOPER_RETURN_IF_ERROR(CheckStateInfo(*cell, json.at("state_info")));
  COOPER_ASSIGN_OR_RETURN(Symbol symbol, UnrollCell(*cell, json));
  COOPER_RETURN_IF_ERROR(
      CompareNames("arguments of the unrolled cell", symbol.ListArguments(), json.at("arguments")));
  COOPER_RETURN_IF_ERROR(
      CompareNames("outputs of the unrolled cell", symbol.ListOutputs(), json.at("outputs")));
  Json execution = ExecutionOf(json, symbol);
  execution["backward"] = false;
  COOPER_RETURN_IF_ERROR(CheckExecution(symbol, io, execution));
  if (!json.contains("unpacked_names")) return absl::OkStatus();
  Arrays weights = WithPrefix(io, "arg:");
  for (const auto& [name, shape] : json.at("inputs").items()) weights.erase(name);
  return CheckPacking(*cell, weights, WithPrefix(io, "unpacked:"));
}

absl::Status RunCellCase(const std::string& folder) {
  const Json json = ReadJson(folder + "/case.json");
  COOPER_ASSIGN_OR_RETURN(Arrays io, ReadArrays(folder + "/io.params"));
  COOPER_ASSIGN_OR_RETURN(SymbolFile file, ReadSymbolFile(folder + "/symbol.json"));
  COOPER_RETURN_IF_ERROR(CheckUnrolledGraph(file, io, json));
  COOPER_ASSIGN_OR_RETURN(RNNCellPtr cell, MakeCell(json));
  COOPER_RETURN_IF_ERROR(CheckCell(cell, io, json));
  if (!json.contains("unfused_arguments")) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(SymbolFile unfused_file, ReadSymbolFile(folder + "/unfused-symbol.json"));
  COOPER_RETURN_IF_ERROR(CheckUnfusedGraph(unfused_file.symbol, io, json));
  COOPER_ASSIGN_OR_RETURN(RNNCellPtr unfused, Unfused(cell));
  COOPER_ASSIGN_OR_RETURN(Symbol symbol, UnrollCell(*unfused, json));
  return CheckUnfusedGraph(symbol, io, json);
}

// Checks that a checkpoint holds unpacked weights, and that loading it with the cell packs them.
absl::Status RunCheckpoint(const std::string& folder) {
  const Json json = ReadJson(folder + "/case.json");
  const Json& description = json.at("cell");
  if (description.at("type") != "FusedRNNCell" || description.at("mode") != "lstm") {
    return absl::UnimplementedError("cell " + description.dump());
  }
  const FusedRNNCell cell(description.at("num_hidden").get<int64_t>(),
                          {.num_layers = description.at("num_layers").get<int>(),
                           .mode = RNNMode::kLstm,
                           .prefix = description.at("prefix").get<std::string>()});
  COOPER_ASSIGN_OR_RETURN(Symbol symbol, LoadSymbol(folder + "/prefix-symbol.json"));
  COOPER_ASSIGN_OR_RETURN(Arrays file, ReadArrays(folder + "/prefix-0002.params"));
  std::vector<std::string> names;
  for (const auto& [name, array] : file) names.push_back(name);
  COOPER_RETURN_IF_ERROR(CompareNames("names in the file", names, json.at("file_names")));
  COOPER_ASSIGN_OR_RETURN(Arrays packed, ReadArrays(folder + "/packed.params"));
  packed = WithPrefix(packed, "arg:");
  names.clear();
  for (const auto& [name, array] : packed) names.push_back(name);
  COOPER_RETURN_IF_ERROR(CompareNames("names of packed arrays", names, json.at("packed_names")));
  return CheckPacking(cell, packed, WithPrefix(file, "arg:"));
}

absl::Status RunParameterSize(const Json& json) {
  COOPER_ASSIGN_OR_RETURN(
      Symbol rnn,
      Symbol::Create("RNN", {.name = "rnn",
                             .inputs = {Symbol::Variable("data")},
                             .named = {},
                             .attrs = {{"mode", json.at("mode").get<std::string>()},
                                       {"num_layers", json.at("num_layers").dump()},
                                       {"state_size", json.at("state_size").dump()},
                                       {"bidirectional", json.at("bidirectional") ? "1" : "0"}}}));
  const int64_t input_size = json.at("input_size").get<int64_t>();
  COOPER_ASSIGN_OR_RETURN(InferredShapes shapes, InferShape(rnn, {{"data", {7, 2, input_size}}}));
  return CompareShapes("shape of the parameters", shapes.args.at(1),
                       Json::array({json.at("parameter_size")}));
}

void RunRnn(CaseRunner& runner) {
  runner.RunFolders("rnn/cells", RunCellCase);
  runner.Run("rnn/checkpoint", [&] { return RunCheckpoint(runner.root() + "/rnn/checkpoint"); });
  const Json sizes = ReadJson(runner.root() + "/rnn/parameter_sizes.json");
  for (const Json& json : sizes.at("cases")) {
    const std::string name =
        absl::StrCat("rnn/parameter_sizes/", json.at("mode").get<std::string>(), "_l",
                     json.at("num_layers").dump(), "_bi", json.at("bidirectional") ? 1 : 0, "_",
                     json.at("input_size").dump(), "_", json.at("state_size").dump());
    runner.Run(name, [&] { return RunParameterSize(json); });
  }
}

const CategoryRegistrar registered("rnn", RunRnn);

}  // namespace
}  // namespace cooper::conformance
