// Runs files/: symbol and parameter files of all versions, and malformed ones.

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"

namespace cooper::conformance {
namespace {

absl::Status CompareShapeList(const std::string& what, const std::vector<PartialShape>& got,
                              const Json& expected) {
  std::string got_text, expected_text;
  for (const PartialShape& shape : got) absl::StrAppend(&got_text, shape.ToString(), " ");
  for (const Json& shape : expected) {
    absl::StrAppend(&expected_text, ShapeFromJson(shape).ToString(), " ");
  }
  return CompareTexts(what, got_text, expected_text);
}

absl::Status CheckSymbol(const Symbol& symbol, const Json& expected) {
  COOPER_RETURN_IF_ERROR(
      CompareNames("arguments", symbol.ListArguments(), expected.at("arguments")));
  COOPER_RETURN_IF_ERROR(CompareNames("outputs", symbol.ListOutputs(), expected.at("outputs")));
  COOPER_RETURN_IF_ERROR(CompareNames("auxiliary states", symbol.ListAuxiliaryStates(),
                                      expected.at("auxiliary_states")));
  COOPER_RETURN_IF_ERROR(CompareNames("internals", symbol.GetInternals().ListOutputs(),
                                      expected.at("internal_outputs")));
  COOPER_RETURN_IF_ERROR(
      CompareTexts("attr_dict", Json(symbol.AttrDict()).dump(), expected.at("attr_dict").dump()));
  const Json& infer_shape = expected.at("infer_shape");
  KnownShapes known;
  for (const auto& [name, shape] : infer_shape.at("known").items()) {
    known[name] = ShapeFromJson(shape);
  }
  COOPER_ASSIGN_OR_RETURN(InferredShapes got, InferShape(symbol, known));
  COOPER_RETURN_IF_ERROR(CompareShapeList("argument shapes", got.args, infer_shape.at("arg")));
  COOPER_RETURN_IF_ERROR(CompareShapeList("output shapes", got.outputs, infer_shape.at("out")));
  return CompareShapeList("auxiliary shapes", got.auxs, infer_shape.at("aux"));
}

// Checks that a saved symbol is read as the same symbol and saved again as the same text.
absl::Status RunSymbolCase(const std::string& stem) {
  const Json expected = ReadJson(stem + ".expect.json");
  COOPER_ASSIGN_OR_RETURN(Symbol symbol, LoadSymbol(stem + ".json"));
  COOPER_RETURN_IF_ERROR(CheckSymbol(symbol, expected));
  const std::string text = SymbolToJson(symbol);
  COOPER_ASSIGN_OR_RETURN(Symbol again, SymbolFromJson(text));
  COOPER_RETURN_IF_ERROR(CheckSymbol(again, expected));
  return CompareTexts("the symbol saved twice", SymbolToJson(again), text);
}

absl::Status CompareValues(const std::string& what, const NDArray& got, const Json& expected) {
  COOPER_ASSIGN_OR_RETURN(std::vector<double> values, got.ToVector<double>());
  if (values.size() != expected.size()) {
    return absl::UnknownError(
        absl::StrCat(what, " has ", values.size(), " elements, expected ", expected.size()));
  }
  if (got.dtype() == DType::kInt64) {  // a double does not hold every int64
    COOPER_ASSIGN_OR_RETURN(std::vector<int64_t> exact, got.ToVector<int64_t>());
    return CompareTexts(what, Json(exact).dump(), expected.dump());
  }
  for (size_t i = 0; i < values.size(); ++i) {
    COOPER_RETURN_IF_ERROR(CompareNumbers(absl::StrCat(what, "[", i, "]"), values[i],
                                          NumberFromJson(expected[i]), {.rtol = 0, .atol = 0}));
  }
  return absl::OkStatus();
}

absl::Status CheckEntry(const ParamsEntry& entry, const Json& expected) {
  const std::string stype =
      StorageTypeName(entry.sparse ? entry.sparse->type : StorageType::kDefault);
  COOPER_RETURN_IF_ERROR(CompareTexts("stype", stype, expected.at("stype").get<std::string>()));
  COOPER_RETURN_IF_ERROR(CompareTexts("dtype", DTypeName(entry.array.dtype()),
                                      expected.at("dtype").get<std::string>()));
  const auto check_shape = [&](const char* key, const Shape& got) {
    return CompareTexts(key, Json(std::vector<int64_t>(got.begin(), got.end())).dump(),
                        expected.at(key).dump());
  };
  COOPER_RETURN_IF_ERROR(CompareValues("data", entry.array, expected.at("data")));
  if (!entry.sparse) return check_shape("shape", entry.array.shape());
  COOPER_RETURN_IF_ERROR(check_shape("shape", entry.sparse->shape));
  COOPER_RETURN_IF_ERROR(check_shape("data_shape", entry.array.shape()));
  COOPER_RETURN_IF_ERROR(CompareValues("indices", entry.sparse->indices, expected.at("indices")));
  if (expected.contains("indptr")) {
    COOPER_RETURN_IF_ERROR(CompareValues("indptr", entry.sparse->indptr, expected.at("indptr")));
  }
  COOPER_ASSIGN_OR_RETURN(NDArray dense, ToDense(entry));
  return CompareValues("dense", dense, expected.at("dense"));
}

absl::Status CheckParams(const ParamsList& list, const Json& expected) {
  const Json& arrays = expected.at("arrays");
  if (list.named != expected.at("named").get<bool>() || list.entries.size() != arrays.size()) {
    return absl::UnknownError(
        absl::StrCat(list.entries.size(), list.named ? " named" : " unnamed", " arrays, expected ",
                     arrays.size(), expected.at("named").get<bool>() ? " named" : " unnamed"));
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < list.entries.size(); ++i) {
    if (list.named) names.push_back(list.entries[i].name);
    const absl::Status status = CheckEntry(list.entries[i], arrays[i]);
    if (!status.ok()) {
      return absl::UnknownError(absl::StrCat("array ", i, ": ", status.message()));
    }
  }
  return CompareNames("names", names, expected.at("names"));
}

// Checks a file of parameters. Also writes arrays with names, sparse ones as they came, and reads
// them again.
absl::Status RunParamsCase(const std::string& stem) {
  const Json expected = ReadJson(stem + ".expect.json");
  COOPER_ASSIGN_OR_RETURN(ParamsList list, ReadParamsFile(stem + ".params"));
  COOPER_RETURN_IF_ERROR(CheckParams(list, expected));
  if (!list.named) return absl::OkStatus();
  ParamsFormat format;
  COOPER_ASSIGN_OR_RETURN(const NamedArrays arrays, LoadNamedArrays(stem + ".params", &format));
  COOPER_ASSIGN_OR_RETURN(std::string bytes, SerializeNamedArrays(arrays, format));
  COOPER_ASSIGN_OR_RETURN(ParamsList again, ParseParams(bytes));
  return CheckParams(again, expected);
}

// Reads bytes as a file of that kind, and everything that can be queried afterwards.
absl::Status ReadAs(const std::string& kind, absl::string_view bytes) {
  if (kind == "json") {
    COOPER_ASSIGN_OR_RETURN(Symbol symbol, SymbolFromJson(bytes));
    symbol.ListOutputs();
    symbol.AttrDict();
    SymbolToJson(symbol);
    return absl::OkStatus();
  }
  if (kind == "params") return ParseParams(bytes).status();
  return absl::InternalError(absl::StrCat("unknown kind of file: ", kind));
}

absl::Status MustReject(const std::string& kind, absl::string_view bytes) {
  const absl::Status status = ReadAs(kind, bytes);
  if (status.ok()) return absl::UnknownError("accepted, expected an error");
  return status.code() == absl::StatusCode::kInternal ? status : absl::OkStatus();
}

absl::Status RunBadFile(const std::string& path, const Json& file) {
  COOPER_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  if (file.at("must") == "reject") return MustReject(file.at("kind").get<std::string>(), bytes);
  if (file.at("must") != "no_crash") {
    return absl::UnimplementedError(absl::StrCat("must: ", file.at("must").dump()));
  }
  ReadAs(file.at("kind").get<std::string>(), bytes).IgnoreError();
  return absl::OkStatus();
}

void RunBad(CaseRunner& runner) {
  const std::string folder = runner.root() + "/files/bad/";
  const Json manifest = ReadJson(folder + "manifest.json");
  for (const Json& file : manifest.at("files")) {
    const std::string name = file.at("file").get<std::string>();
    runner.Run("files/bad/" + name, [&] { return RunBadFile(folder + name, file); });
  }
  for (const Json& cut : manifest.at("truncations")) {
    const std::string name = cut.at("file").get<std::string>();
    const std::string kind = cut.at("kind").get<std::string>();
    for (const char* key : {"reject_offsets", "no_crash_offsets"}) {
      for (const Json& offset : cut.at(key)) {
        runner.Run(absl::StrCat("files/bad/", name, "@", offset.get<int64_t>()),
                   [&]() -> absl::Status {
                     COOPER_ASSIGN_OR_RETURN(std::string bytes, ReadFile(folder + name));
                     bytes.resize(offset.get<size_t>());
                     if (key == std::string("reject_offsets")) return MustReject(kind, bytes);
                     ReadAs(kind, bytes).IgnoreError();
                     return absl::OkStatus();
                   });
      }
    }
  }
}

// Runs `run` on each X for which there is X.expect.json.
void RunExpected(CaseRunner& runner, const std::string& folder,
                 absl::Status (*run)(const std::string&)) {
  const std::string suffix = ".expect.json";
  for (const std::string& name : ListFolder(absl::StrCat(runner.root(), "/", folder))) {
    if (name.size() <= suffix.size() || name.substr(name.size() - suffix.size()) != suffix) {
      continue;
    }
    const std::string stem = absl::StrCat(folder, "/", name.substr(0, name.size() - suffix.size()));
    runner.Run(stem, [&] { return run(absl::StrCat(runner.root(), "/", stem)); });
  }
}

void RunFiles(CaseRunner& runner) {
  RunExpected(runner, "files/symbol", RunSymbolCase);
  RunExpected(runner, "files/params", RunParamsCase);
  RunBad(runner);
}

const CategoryRegistrar registered("files", RunFiles);

}  // namespace
}  // namespace cooper::conformance
