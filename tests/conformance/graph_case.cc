#include "tests/conformance/graph_case.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/executor.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/inference/infer_type.h"
#include "symbol/json/json.h"
#include "tests/conformance/case_context.h"
#include "tests/conformance/disabled_passes.h"

namespace cooper::conformance {
namespace {

// Compares `got`, in the order of `names`, with an object by name.
template <typename T, typename Compare>
absl::Status CompareByName(const std::string& what, const std::vector<std::string>& names,
                           const std::vector<T>& got, const Json& expected, Compare compare) {
  if (names.size() != expected.size()) {
    return absl::UnknownError(
        absl::StrCat("there are ", names.size(), " of ", what, ", expected ", expected.size()));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const auto it = expected.find(names[i]);
    if (it == expected.end()) {
      return absl::UnknownError(absl::StrCat(what, " '", names[i], "' is not expected"));
    }
    COOPER_RETURN_IF_ERROR(compare(absl::StrCat(what, " of ", names[i]), got[i], *it));
  }
  return absl::OkStatus();
}

template <typename T, typename Compare>
absl::Status CompareInOrder(const std::string& what, const std::vector<T>& got,
                            const Json& expected, Compare compare) {
  if (got.size() != expected.size()) {
    return absl::UnknownError(
        absl::StrCat("there are ", got.size(), " of ", what, ", expected ", expected.size()));
  }
  for (size_t i = 0; i < got.size(); ++i) {
    COOPER_RETURN_IF_ERROR(compare(absl::StrCat(what, " ", i), got[i], expected[i]));
  }
  return absl::OkStatus();
}

absl::Status CompareTypes(const std::string& what, std::optional<DType> got, const Json& expected) {
  return CompareTexts(what, got.has_value() ? DTypeName(*got) : "?", expected.get<std::string>());
}

using NamedContexts = std::map<std::string, Context>;

absl::StatusOr<Arrays> CopyAll(const Arrays& arrays, const NamedContexts& contexts) {
  Arrays copies;
  for (const auto& [name, array] : arrays) {
    const auto context = contexts.find(name);
    COOPER_ASSIGN_OR_RETURN(
        copies[name], array.CopyTo(context == contexts.end() ? CaseContext() : context->second));
  }
  return copies;
}

// Returns the contexts that the program chooses for variables; empty if all are CaseContext().
absl::StatusOr<NamedContexts> ContextsOf(const Symbol& symbol, BindOptions options,
                                         const Arrays& args, const Arrays& auxs) {
  NamedContexts contexts;
  if (!options.fallback) return contexts;
  options.args = args;
  options.auxs = auxs;
  COOPER_ASSIGN_OR_RETURN(const auto compiled, Executor::Compile(symbol, options));
  const Program& program = compiled->program();
  for (size_t i = 0; i < program.arg_names.size(); ++i) {
    contexts[program.arg_names[i]] = compiled->arg_contexts()[i];
  }
  for (size_t i = 0; i < program.aux_names.size(); ++i) {
    contexts[program.aux_names[i]] = compiled->aux_contexts()[i];
  }
  return contexts;
}

// Returns gradient buffers: those of the case, else filled with a value that must be overwritten.
absl::StatusOr<Arrays> MakeGradients(const Arrays& io, const Arrays& args,
                                     const std::map<std::string, WriteReq>& reqs,
                                     const NamedContexts& contexts) {
  Arrays grads;
  const Arrays initial = WithPrefix(io, "grad_init:");
  for (const auto& [name, req] : reqs) {
    if (req == WriteReq::kNull) continue;
    COOPER_ASSIGN_OR_RETURN(NDArray arg, FindArray(args, name));
    const auto it = initial.find(name);
    if (it != initial.end()) {
      grads[name] = it->second;
      continue;
    }
    const double garbage = req == WriteReq::kAdd     ? 0
                           : IsFloating(arg.dtype()) ? std::numeric_limits<double>::quiet_NaN()
                                                     : 77;
    COOPER_ASSIGN_OR_RETURN(grads[name], NDArray::Full(arg.shape(), garbage, arg.dtype()));
  }
  return CopyAll(grads, contexts);
}

constexpr Tolerance kExact = {.rtol = 0, .atol = 0};

// Checks that arguments are unchanged, except gamma of BatchNorm with fix_gamma, which MXNet
// overwrites too.
absl::Status CheckArgumentsUnchanged(const Executor& executor, const Arrays& args) {
  for (const auto& [name, array] : args) {
    if (absl::EndsWith(name, "gamma")) continue;
    COOPER_RETURN_IF_ERROR(CompareArrays(absl::StrCat("argument ", name, " afterwards"),
                                         executor.arg(name), array, kExact));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WriteReq> WriteReqFromJson(const Json& json) {
  if (json == "null") return WriteReq::kNull;
  if (json == "write") return WriteReq::kWrite;
  if (json == "add") return WriteReq::kAdd;
  return absl::InvalidArgumentError(absl::StrCat("unknown grad_req ", json.dump()));
}

absl::StatusOr<SymbolFile> ReadSymbolFile(const std::string& path) {
  SymbolFile file;
  COOPER_ASSIGN_OR_RETURN(file.text, ReadFile(path));
  COOPER_ASSIGN_OR_RETURN(file.symbol, SymbolFromJson(file.text));
  return file;
}

absl::Status CheckSaved(const SymbolFile& file) {
  const auto lines = [](const std::string& text) {
    const size_t begin = text.find("\"node_row_ptr\"");
    const size_t end = text.find(']', begin);
    return std::vector<std::string>(absl::StrSplit(
        begin == std::string::npos ? text : text.substr(0, begin) + text.substr(end), '\n'));
  };
  const std::vector<std::string> got = lines(SymbolToJson(file.symbol));
  const std::vector<std::string> expected = lines(file.text);
  for (size_t i = 0; i < expected.size() || i < got.size(); ++i) {
    COOPER_RETURN_IF_ERROR(CompareTexts(absl::StrCat("line ", i + 1, " of the saved symbol"),
                                        i < got.size() ? got[i] : "nothing",
                                        i < expected.size() ? expected[i] : "nothing"));
  }
  return absl::OkStatus();
}

absl::Status CheckInferShape(const Symbol& symbol, const Json& json, bool partial) {
  KnownShapes known;
  for (const auto& [name, shape] : json.at("known").items()) known[name] = ShapeFromJson(shape);
  COOPER_ASSIGN_OR_RETURN(InferredShapes got,
                          partial ? InferShapePartial(symbol, known) : InferShape(symbol, known));
  COOPER_RETURN_IF_ERROR(
      CompareByName("shape", symbol.ListArguments(), got.args, json.at("arg"), CompareShapes));
  COOPER_RETURN_IF_ERROR(
      CompareInOrder("shape of output", got.outputs, json.at("out"), CompareShapes));
  return CompareByName("shape", symbol.ListAuxiliaryStates(), got.auxs, json.at("aux"),
                       CompareShapes);
}

absl::Status CheckInferType(const Symbol& symbol, const Json& json) {
  KnownTypes known;
  for (const auto& [name, type] : json.at("known").items()) {
    COOPER_ASSIGN_OR_RETURN(known[name], DTypeFromName(type.get<std::string>()));
  }
  COOPER_ASSIGN_OR_RETURN(InferredTypes got, InferType(symbol, known));
  COOPER_RETURN_IF_ERROR(
      CompareByName("dtype", symbol.ListArguments(), got.args, json.at("arg"), CompareTypes));
  COOPER_RETURN_IF_ERROR(
      CompareInOrder("dtype of output", got.outputs, json.at("out"), CompareTypes));
  return CompareByName("dtype", symbol.ListAuxiliaryStates(), got.auxs, json.at("aux"),
                       CompareTypes);
}

// Checks that the plan is within 2 percent of its lower bound, plus the rounding of small blocks.
absl::Status CheckPlan(const MemoryReport& memory) {
  const int64_t allowed = memory.lower_bound + std::max<int64_t>(memory.lower_bound / 50, 256);
  if (memory.planned_bytes <= allowed) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the plan takes ", memory.planned_bytes,
                                          " bytes, its lower bound is ", memory.lower_bound));
}

absl::Status CheckExecution(const Symbol& symbol, const Arrays& io, const Json& json) {
  const Tolerance tolerance = Tolerance::FromJson(json);
  const Arrays args = WithPrefix(io, "arg:"), auxs = WithPrefix(io, "aux:");
  BindOptions options;
  options.context = CaseContext();
  options.fallback = CaseFallback();
  options.disabled_passes = DisabledPasses();
  for (const auto& [name, req] : json.at("grad_req").items()) {
    COOPER_ASSIGN_OR_RETURN(options.grad_reqs[name], WriteReqFromJson(req));
  }
  COOPER_ASSIGN_OR_RETURN(const NamedContexts contexts, ContextsOf(symbol, options, args, auxs));
  COOPER_ASSIGN_OR_RETURN(options.args, CopyAll(args, contexts));
  COOPER_ASSIGN_OR_RETURN(options.auxs, CopyAll(auxs, contexts));
  const bool backward = json.at("backward").get<bool>();
  if (backward) {
    COOPER_ASSIGN_OR_RETURN(options.grads, MakeGradients(io, args, options.grad_reqs, contexts));
  }
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor,
                          Executor::Bind(symbol, std::move(options)));
  COOPER_RETURN_IF_ERROR(CheckPlan(executor->memory()));
  COOPER_RETURN_IF_ERROR(executor->Forward(json.at("mode") == "train"));
  COOPER_ASSIGN_OR_RETURN(absl::Span<const NDArray> outputs, executor->outputs());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto expected = io.find(absl::StrCat("out:", i));
    if (expected == io.end()) continue;
    COOPER_RETURN_IF_ERROR(
        CompareArrays(absl::StrCat("output ", i), outputs[i], expected->second, tolerance));
  }
  if (backward) {
    std::vector<NDArray> heads;
    for (size_t i = 0; io.contains(absl::StrCat("ograd:", i)); ++i) {
      COOPER_ASSIGN_OR_RETURN(heads.emplace_back(),
                              io.at(absl::StrCat("ograd:", i)).CopyTo(outputs[i].context()));
    }
    COOPER_RETURN_IF_ERROR(executor->Backward(heads));
    for (const auto& [name, expected] : WithPrefix(io, "grad:")) {
      COOPER_RETURN_IF_ERROR(CompareArrays(absl::StrCat("gradient of ", name), executor->grad(name),
                                           expected, tolerance));
    }
  }
  COOPER_RETURN_IF_ERROR(CheckArgumentsUnchanged(*executor, args));
  for (const auto& [name, before] : auxs) {
    const auto after = io.find(absl::StrCat("aux_after:", name));
    COOPER_RETURN_IF_ERROR(CompareArrays(absl::StrCat("auxiliary state ", name),
                                         executor->aux(name),
                                         after == io.end() ? before : after->second, tolerance));
  }
  return absl::OkStatus();
}

}  // namespace cooper::conformance
