// rnn/: unrolled cells, the length of the RNN operator's parameters, checkpoints of cells.

#include <string>

#include "absl/strings/str_cat.h"
#include "ndarray/status_macros.h"
#include "symbol/infer_shape.h"
#include "symbol/symbol.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/graph_case.h"

namespace cooper::conformance {
namespace {

// As an operator's case: a training run with the gradients of all arguments.
Json ExecutionOf(const Json& json, const Symbol& symbol) {
  Json execution = {{"mode", "train"}, {"backward", true}, {"grad_req", Json::object()}};
  execution["rtol"] = json.at("rtol");
  execution["atol"] = json.at("atol");
  for (const std::string& name : symbol.ListArguments()) execution["grad_req"][name] = "write";
  return execution;
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
  COOPER_RETURN_IF_ERROR(CheckExecution(symbol, io, ExecutionOf(json, symbol)));
  return CheckSaved(file);
}

// The stack of plain cells that a fused cell stands for gives the same outputs.
absl::Status CheckUnfusedGraph(const SymbolFile& file, const Arrays& io, const Json& json) {
  COOPER_RETURN_IF_ERROR(
      CompareNames("arguments", file.symbol.ListArguments(), json.at("unfused_arguments")));
  Arrays unfused;
  for (const auto& [name, array] : io) {
    if (name.rfind("out:", 0) == 0 || name == "arg:data") unfused[name] = array;
  }
  for (const auto& [name, array] : WithPrefix(io, "unfused_arg:")) unfused["arg:" + name] = array;
  Json execution = ExecutionOf(json, file.symbol);
  execution["backward"] = false;
  return CheckExecution(file.symbol, unfused, execution);
}

absl::Status RunCellCase(const std::string& folder) {
  const Json json = ReadJson(folder + "/case.json");
  COOPER_ASSIGN_OR_RETURN(Arrays io, ReadArrays(folder + "/io.params"));
  COOPER_ASSIGN_OR_RETURN(SymbolFile file, ReadSymbolFile(folder + "/symbol.json"));
  COOPER_RETURN_IF_ERROR(CheckUnrolledGraph(file, io, json));
  if (json.contains("unfused_arguments")) {
    COOPER_ASSIGN_OR_RETURN(SymbolFile unfused, ReadSymbolFile(folder + "/unfused-symbol.json"));
    COOPER_RETURN_IF_ERROR(CheckUnfusedGraph(unfused, io, json));
  }
  return absl::OkStatus();
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
  for (const std::string& name : ListFolder(runner.root() + "/rnn/cells")) {
    const std::string folder = "rnn/cells/" + name;
    runner.Run(folder, [&] { return RunCellCase(absl::StrCat(runner.root(), "/", folder)); });
  }
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
