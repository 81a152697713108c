// Runs networks/<case>: a whole network in prediction, in one step of training, and after it was
// saved and loaded. Its arrays are computed, and its results are compared by digests, as
// tests/golden/README.md describes.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "io/batch/data_batch.h"
#include "io/batch/data_desc.h"
#include "io/iterators/byte_stream.h"
#include "module/kwargs/json_kwargs.h"
#include "module/network/module.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/array/ndarray.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"
#include "symbol/inference/infer_shape.h"
#include "symbol/json/json.h"
#include "tests/conformance/case_context.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"
#include "tests/conformance/graph_case.h"
#include "tests/conformance/scratch_folder.h"
#include "zlib.h"

ABSL_FLAG(std::string, write_networks, "",
          "a folder for the checkpoints of the cases of networks, NAME-symbol.json and so on");

namespace cooper::conformance {
namespace {

// Returns element `i` of the numbers in [0, 1) that belong to a name, of which `seed` is the
// CRC-32.
double FillValue(uint32_t seed, int64_t i) {
  uint32_t x = static_cast<uint32_t>(i) * 2654435761u + seed;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return (x ^ (x >> 16)) / 4294967296.0;
}

uint32_t SeedOf(const std::string& name) {
  return static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(name.data()), static_cast<uInt>(name.size())));
}

// Returns an array of `value`(number in [0, 1)).
template <typename Fn>
absl::StatusOr<NDArray> Fill(const std::string& name, const Shape& shape, DType dtype, Fn value) {
  const uint32_t seed = SeedOf(name);
  COOPER_ASSIGN_OR_RETURN(const NDArray array, NDArray::Empty(shape, DType::kFloat64));
  COOPER_ASSIGN_OR_RETURN(const absl::Span<double> values, array.Data<double>());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = value(FillValue(seed, static_cast<int64_t>(i)));
  }
  return array.AsType(dtype);
}

// Fills an array with the numbers of a range, [low, high].
absl::StatusOr<NDArray> FillRange(const std::string& name, const Shape& shape, DType dtype,
                                  const Json& range) {
  const double low = range.at(0).get<double>(), high = range.at(1).get<double>();
  return Fill(name, shape, dtype, [&](double u) { return low + (high - low) * u; });
}

// A network's results, reduced to a few numbers: see Digest() in make_network_cases.py.
class Digests {
 public:
  // `all` are the expected digests of results that are judged together: an array may differ by
  // `rtol` of its root mean square, or of a hundredth of the largest one.
  Digests(const Json& all, double rtol) : rtol_(rtol) {
    for (const Json& digest : all) floor_ = std::max(floor_, 1e-2 * digest.at(1).get<double>());
  }

  absl::Status Compare(const std::string& what, const NDArray& got, const Json& expected) const {
    COOPER_RETURN_IF_ERROR(
        CompareTexts(absl::StrCat("shape of ", what),
                     Json(std::vector<int64_t>(got.shape().begin(), got.shape().end())).dump(),
                     expected.at(0).dump()));
    COOPER_ASSIGN_OR_RETURN(const NDArray array, got.CopyTo(Context::Cpu()));
    COOPER_ASSIGN_OR_RETURN(const std::vector<double> values, array.ToVector<double>());
    const auto size = static_cast<int64_t>(values.size());
    double squares = 0, product = 0;
    const uint32_t probe = SeedOf("probe");
    for (int64_t i = 0; i < size; ++i) {
      squares += values[i] * values[i];
      product += values[i] * (2 * FillValue(probe, i) - 1);
    }
    const double rms = expected.at(1).get<double>();
    const double allowed = rtol_ * std::max(rms, floor_);
    const auto check = [&](absl::string_view number, double value, size_t k, double tolerance) {
      return CompareNumbers(absl::StrCat(what, " ", number), value, expected.at(k).get<double>(),
                            {.rtol = rtol_, .atol = tolerance});
    };
    COOPER_RETURN_IF_ERROR(
        check("root mean square", size == 0 ? 0 : std::sqrt(squares / size), 1, allowed));
    COOPER_RETURN_IF_ERROR(check("product", product, 2, allowed * std::sqrt(size)));
    const int64_t samples = std::min<int64_t>(size, 8);
    for (int64_t k = 0; k < samples; ++k) {
      const int64_t i = k * size / samples;
      COOPER_RETURN_IF_ERROR(check(absl::StrCat("element ", i), values[i], 3 + k, allowed));
    }
    return absl::OkStatus();
  }

 private:
  double rtol_;
  double floor_ = 0;
};

class NetworkCase {
 public:
  explicit NetworkCase(const std::string& folder)
      : name_(std::filesystem::path(folder).filename().string()),
        folder_(folder),
        json_(ReadJson(folder + "/case.json")),
        trains_(json_.contains("optimizer")) {}

  absl::Status Run() {
    COOPER_RETURN_IF_ERROR(ReadSymbol());
    COOPER_RETURN_IF_ERROR(CheckSaved(file_));
    COOPER_RETURN_IF_ERROR(MakeArrays());
    COOPER_ASSIGN_OR_RETURN(std::unique_ptr<Module> module,
                            Module::Create(file_.symbol, Options()));
    COOPER_RETURN_IF_ERROR(module->Bind(BindOptions(trains_)));
    COOPER_RETURN_IF_ERROR(module->InitParams({.arg_params = args_, .aux_params = auxs_}));
    COOPER_RETURN_IF_ERROR(module->ForwardToEvaluate(batch_));
    COOPER_RETURN_IF_ERROR(CompareOutputs(*module, "predict", json_.at("predict")));
    if (trains_) COOPER_RETURN_IF_ERROR(Train(*module));
    return SaveAndLoad(*module);
  }

 private:
  absl::Status ReadSymbol() {
    COOPER_ASSIGN_OR_RETURN(const auto stream, ByteStream::Open(folder_ + "/symbol.json.gz"));
    char buffer[65536];
    for (;;) {
      COOPER_ASSIGN_OR_RETURN(const int64_t size, stream->Read(buffer, sizeof(buffer)));
      if (size == 0) break;
      file_.text.append(buffer, static_cast<size_t>(size));
    }
    COOPER_ASSIGN_OR_RETURN(file_.symbol, SymbolFromJson(file_.text));
    return absl::OkStatus();
  }

  // Returns the array of an input of the case, or of a parameter whose range is `given`.
  absl::StatusOr<NDArray> Array(const std::string& name, const Shape& shape, const Json& given) {
    const auto value = values_.find(name);
    if (value != values_.end()) return value->second;
    if (given.is_array()) {
      COOPER_ASSIGN_OR_RETURN(const DType dtype, DTypeFromName(json_.value("dtype", "float32")));
      return FillRange(name, shape, dtype, given);
    }
    COOPER_ASSIGN_OR_RETURN(const DType dtype, DTypeFromName(given.value("dtype", "float32")));
    if (given.contains("range")) return FillRange(name, shape, dtype, given.at("range"));
    const double below = given.at("below").get<double>();
    return Fill(name, shape, dtype, [&](double u) { return std::floor(below * u); });
  }

  absl::Status MakeArrays() {
    if (std::filesystem::exists(folder_ + "/values.params")) {
      COOPER_ASSIGN_OR_RETURN(values_, ReadArrays(folder_ + "/values.params"));
    }
    KnownShapes known;
    for (const auto& [name, array] : values_) known[name] = PartialShape(array.shape());
    for (const auto& [name, input] : json_.at("inputs").items()) {
      const Shape shape(input.at("shape").get<std::vector<int64_t>>());
      COOPER_ASSIGN_OR_RETURN(const NDArray array, Array(name, shape, input));
      known[name] = PartialShape(shape);
      const bool is_label = absl::EndsWith(name, "label");
      (is_label ? batch_.label : batch_.data).push_back(array);
      (is_label ? labels_ : data_)
          .push_back({.name = name, .shape = shape, .dtype = array.dtype(), .layout = ""});
    }
    COOPER_ASSIGN_OR_RETURN(const InferredShapes shapes, InferShape(file_.symbol, known));
    const auto fill = [&](const std::vector<std::string>& names,
                          const std::vector<PartialShape>& inferred, ArrayMap& to) -> absl::Status {
      for (size_t i = 0; i < names.size(); ++i) {
        if (json_.at("inputs").contains(names[i])) continue;
        const Json range = json_.at("params").value(names[i], Json());
        COOPER_ASSIGN_OR_RETURN(to[names[i]], Array(names[i], inferred[i].ToShape(), range));
      }
      return absl::OkStatus();
    };
    COOPER_RETURN_IF_ERROR(fill(file_.symbol.ListArguments(), shapes.args, args_));
    return fill(file_.symbol.ListAuxiliaryStates(), shapes.auxs, auxs_);
  }

  ModuleOptions Options() const {
    ModuleOptions options;
    options.data_names.clear();
    options.label_names.clear();
    for (const DataDesc& desc : data_) options.data_names.push_back(desc.name);
    for (const DataDesc& desc : labels_) options.label_names.push_back(desc.name);
    options.compute.contexts = {CaseContext()};
    options.compute.fixed_param_names =
        json_.value("fixed", Json::array()).get<std::vector<std::string>>();
    return options;
  }

  ModuleBindOptions BindOptions(bool for_training) const {
    return {.data_shapes = data_, .label_shapes = labels_, .for_training = for_training};
  }

  // Compares the outputs of the last forward pass with digests.
  absl::Status CompareOutputs(const Module& module, const char* what, const Json& expected) const {
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, module.GetOutputs());
    if (outputs.size() != expected.size()) {
      return absl::UnknownError(absl::StrCat(outputs.size(), " outputs"));
    }
    const Digests digests(expected, rtol_);
    for (size_t i = 0; i < outputs.size(); ++i) {
      COOPER_RETURN_IF_ERROR(
          digests.Compare(absl::StrCat(what, ": output ", i), outputs[i], expected[i]));
    }
    return absl::OkStatus();
  }

  // Runs a step of training and compares what it computes and leaves.
  absl::Status Train(Module& module) const {
    InitOptimizerOptions optimizer{.optimizer = "sgd"};
    COOPER_ASSIGN_OR_RETURN(optimizer.optimizer_params,
                            KwargsFromJson(json_.at("optimizer").dump()));
    COOPER_RETURN_IF_ERROR(module.InitOptimizer(optimizer));
    COOPER_RETURN_IF_ERROR(module.Forward(batch_, /*is_train=*/true));
    COOPER_RETURN_IF_ERROR(CompareOutputs(module, "outputs", json_.at("outputs")));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<const NDArray> outputs, module.GetOutputs());
    std::vector<NDArray> heads;
    for (const NDArray& output : outputs) {
      COOPER_ASSIGN_OR_RETURN(heads.emplace_back(),
                              FillRange(absl::StrCat("head", heads.size()), output.shape(),
                                        output.dtype(), Json::array({-1, 1})));
      COOPER_ASSIGN_OR_RETURN(heads.back(), heads.back().CopyTo(output.context()));
    }
    COOPER_RETURN_IF_ERROR(module.Backward(heads));
    const Digests digests(json_.at("grads"), rtol_);
    for (const auto& [name, expected] : json_.at("grads").items()) {
      COOPER_ASSIGN_OR_RETURN(const NDArray grad, module.GetGrad(name));
      COOPER_RETURN_IF_ERROR(digests.Compare("gradient of " + name, grad, expected));
    }
    COOPER_ASSIGN_OR_RETURN(const ModuleParams params, module.GetParams());
    const Digests states(json_.at("auxs"), rtol_);
    for (const auto& [name, expected] : json_.at("auxs").items()) {
      COOPER_RETURN_IF_ERROR(
          states.Compare("auxiliary state " + name, params.auxs.at(name), expected));
    }
    COOPER_RETURN_IF_ERROR(module.Update());
    COOPER_RETURN_IF_ERROR(module.ForwardToEvaluate(batch_));
    return CompareOutputs(module, "after", json_.at("after"));
  }

  // Compares the symbol of a checkpoint, and the outputs of a module and of MXNet that loaded it.
  absl::Status SaveAndLoad(const Module& module) const {
    const ScratchFolder scratch;
    const std::string kept = absl::GetFlag(FLAGS_write_networks);
    const std::string prefix = absl::StrCat(kept.empty() ? scratch.path() : kept, "/", name_);
    COOPER_RETURN_IF_ERROR(module.SaveCheckpoint(prefix, 1));
    COOPER_ASSIGN_OR_RETURN(const SymbolFile saved, ReadSymbolFile(prefix + "-symbol.json"));
    COOPER_RETURN_IF_ERROR(
        CompareTexts("the saved symbol", saved.text, SymbolToJson(file_.symbol)));
    COOPER_ASSIGN_OR_RETURN(const ParamsList params, ReadParamsFile(ParamsPath(prefix, 1)));
    if (params.entries.empty() ||
        params.entries[0].np_shape != absl::StrContains(saved.text, "is_np_shape")) {
      return absl::UnknownError("MXNet cannot read symbol and arrays in one mode");
    }
    COOPER_ASSIGN_OR_RETURN(const std::unique_ptr<Module> loaded,
                            Module::Load(prefix, 1, false, Options()));
    COOPER_RETURN_IF_ERROR(loaded->Bind(BindOptions(/*for_training=*/false)));
    COOPER_RETURN_IF_ERROR(loaded->Forward(batch_, /*is_train=*/false));
    const char* const key = trains_ ? "after" : "predict";
    COOPER_RETURN_IF_ERROR(CompareOutputs(*loaded, key, json_.at(key)));
    // MXNet has predicted with such files.
    const Json mxnet = ReadJson(folder_ + "/../loaded.json");
    if (!mxnet.contains(name_)) return absl::NotFoundError("loaded.json lacks the network");
    return CompareOutputs(*loaded, "loaded by MXNet", mxnet.at(name_));
  }

  std::string name_, folder_;
  Json json_;
  bool trains_;
  double rtol_ = json_.at("rtol").get<double>();
  SymbolFile file_;
  Arrays values_;
  DataBatch batch_;
  std::vector<DataDesc> data_, labels_;
  ArrayMap args_, auxs_;
};

void RunNetworks(CaseRunner& runner) {
  runner.RunFolders("networks",
                    [](const std::string& folder) { return NetworkCase(folder).Run(); });
}

const CategoryRegistrar registered("networks", RunNetworks);

}  // namespace
}  // namespace cooper::conformance
