// Runs initializers/: deterministic values, and distributions of random ones.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "module/initializer/by_name.h"
#include "module/initializer/create_initializer.h"
#include "module/initializer/initializer.h"
#include "module/kwargs/json_kwargs.h"
#include "ndarray/base/status_macros.h"
#include "tests/conformance/case_data.h"
#include "tests/conformance/case_runner.h"

namespace cooper::conformance {
namespace {

using InitializerPtr = std::shared_ptr<const Initializer>;

absl::StatusOr<InitializerPtr> MakeSimple(const std::string& name, const Json& kwargs) {
  COOPER_ASSIGN_OR_RETURN(Kwargs parsed, KwargsFromJson(kwargs.dump()));
  return CreateInitializer(name, parsed);
}

absl::StatusOr<InitializerPtr> MakeInitializer(const std::string& folder, const Json& json) {
  const std::string name = json.at("initializer").get<std::string>();
  if (name == "load") {
    COOPER_ASSIGN_OR_RETURN(Arrays arrays,
                            ReadArrays(folder + "/" + json.at("params_file").get<std::string>()));
    InitializerPtr default_init;
    if (!json.at("default_init").is_null()) {
      COOPER_ASSIGN_OR_RETURN(default_init,
                              MakeSimple(json.at("default_init").at(0).get<std::string>(),
                                         json.at("default_init").at(1)));
    }
    return init::Load(arrays, default_init);
  }
  if (name == "mixed") {
    std::vector<std::pair<std::string, InitializerPtr>> patterns;
    for (size_t i = 0; i < json.at("patterns").size(); ++i) {
      const Json& inner = json.at("initializers").at(i);
      COOPER_ASSIGN_OR_RETURN(InitializerPtr initializer,
                              MakeSimple(inner.at(0).get<std::string>(), inner.at(1)));
      patterns.emplace_back(json.at("patterns").at(i).get<std::string>(), initializer);
    }
    return init::Mixed(std::move(patterns));
  }
  return MakeSimple(name, json.at("kwargs"));
}

InitDesc DescFromJson(const Json& array) {
  InitDesc desc;
  desc.name = array.at("name").get<std::string>();
  desc.plain_name = array.at("attrs").is_null();
  if (!desc.plain_name) desc.attrs = array.at("attrs").get<std::map<std::string, std::string>>();
  return desc;
}

absl::Status RunExactCase(const std::string& folder) {
  const Json json = ReadJson(folder + "/case.json");
  COOPER_ASSIGN_OR_RETURN(InitializerPtr initializer, MakeInitializer(folder, json));
  Arrays values;
  if (json.at("error").size() < json.at("arrays").size()) {
    COOPER_ASSIGN_OR_RETURN(values, ReadArrays(folder + "/values.params"));
  }
  for (const Json& item : json.at("arrays")) {
    const InitDesc desc = DescFromJson(item);
    COOPER_ASSIGN_OR_RETURN(NDArray array,
                            NDArray::Full(Shape(item.at("shape").get<std::vector<int64_t>>()), -7));
    const absl::Status status = initializer->Init(desc, array, /*seed=*/0);
    const Json& errors = json.at("error");
    if (std::find(errors.begin(), errors.end(), desc.name) != errors.end()) {
      if (status.ok()) return absl::UnknownError(desc.name + " is accepted, expected an error");
      continue;
    }
    COOPER_RETURN_IF_ERROR(status);
    COOPER_ASSIGN_OR_RETURN(NDArray expected, FindArray(values, desc.name));
    COOPER_RETURN_IF_ERROR(CompareArrays(desc.name, array, expected, {.rtol = 1e-6, .atol = 1e-7}));
  }
  if (!json.contains("dumps") || json.at("dumps").is_null()) return absl::OkStatus();
  return CompareTexts("dumps", initializer->Dumps(), json.at("dumps").get<std::string>());
}

// Returns the values of arrays of that shape with different seeds.
absl::StatusOr<std::vector<double>> Draw(const Initializer& initializer, const Json& json) {
  const Shape shape(json.at("shape").get<std::vector<int64_t>>());
  const size_t samples = json.value("samples", static_cast<size_t>(shape.num_elements()));
  std::vector<double> values;
  for (uint64_t seed = 1; values.size() < samples; ++seed) {
    COOPER_ASSIGN_OR_RETURN(NDArray array, NDArray::Zeros(shape));
    InitDesc desc;
    desc.name = "x_weight";
    COOPER_RETURN_IF_ERROR(initializer.Init(desc, array, seed));
    COOPER_ASSIGN_OR_RETURN(std::vector<double> drawn, array.ToVector<double>());
    values.insert(values.end(), drawn.begin(), drawn.end());
  }
  return values;
}

struct Moments {
  double mean = 0;
  double std = 0;
};

Moments MomentsOf(const std::vector<double>& values) {
  Moments moments;
  const double count = static_cast<double>(values.size());
  for (double value : values) moments.mean += value / count;
  for (double value : values) moments.std += std::pow(value - moments.mean, 2) / count;
  moments.std = std::sqrt(moments.std);
  return moments;
}

// Checks the standard deviation to 10 %, and the mean to five standard errors.
absl::Status CheckMoments(const std::vector<double>& values, double mean, double std) {
  const Moments got = MomentsOf(values);
  COOPER_RETURN_IF_ERROR(
      CompareNumbers("standard deviation", got.std, std, {.rtol = 0.1, .atol = 0}));
  const double standard_error = std / std::sqrt(static_cast<double>(values.size()));
  return CompareNumbers("mean", got.mean, mean, {.rtol = 0, .atol = 5 * standard_error});
}

// Checks the products of rows (or columns) of the matrix (first extent, all others).
absl::Status CheckOrthogonal(const std::vector<double>& values, int64_t rows, const Json& expect) {
  const int64_t columns = static_cast<int64_t>(values.size()) / rows;
  const bool by_rows = expect.at("side") == "rows";
  const int64_t count = by_rows ? rows : columns, length = by_rows ? columns : rows;
  const auto at = [&](int64_t vector, int64_t k) {
    return by_rows ? values[vector * columns + k] : values[k * columns + vector];
  };
  const Tolerance tolerance = {.rtol = 0, .atol = expect.at("atol").get<double>()};
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      double product = 0;
      for (int64_t k = 0; k < length; ++k) product += at(i, k) * at(j, k);
      COOPER_RETURN_IF_ERROR(CompareNumbers(absl::StrCat("product of ", i, " and ", j), product,
                                            i == j ? expect.at("gram").get<double>() : 0,
                                            tolerance));
    }
  }
  return absl::OkStatus();
}

absl::Status RunDistribution(const Json& json) {
  COOPER_ASSIGN_OR_RETURN(InitializerPtr initializer,
                          MakeSimple(json.at("initializer").get<std::string>(), json.at("kwargs")));
  COOPER_ASSIGN_OR_RETURN(std::vector<double> values, Draw(*initializer, json));
  const Json& expect = json.at("expect");
  const std::string kind = expect.at("kind").get<std::string>();
  if (kind == "normal") {
    return CheckMoments(values, expect.at("mean").get<double>(), expect.at("std").get<double>());
  }
  if (kind == "orthogonal") {
    return CheckOrthogonal(values, json.at("shape").at(0).get<int64_t>(), expect);
  }
  if (kind != "uniform") return absl::UnimplementedError("kind of distribution: " + kind);
  const double low = expect.at("low").get<double>(), high = expect.at("high").get<double>();
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  if (*min < low || *max > high) {
    return absl::UnknownError(
        absl::StrCat("values in [", *min, ", ", *max, "], expected [", low, ", ", high, "]"));
  }
  return CheckMoments(values, (low + high) / 2, (high - low) / std::sqrt(12));
}

absl::Status RunRule(const Json& json) {
  COOPER_ASSIGN_OR_RETURN(InitializerPtr initializer,
                          MakeSimple(json.at("initializer").get<std::string>(), json.at("kwargs")));
  COOPER_ASSIGN_OR_RETURN(NDArray array,
                          NDArray::Zeros(Shape(json.at("shape").get<std::vector<int64_t>>())));
  InitDesc desc;
  desc.name = json.at("name").get<std::string>();
  const bool ok = initializer->Init(desc, array, 0).ok();
  return CompareTexts("ends with", ok ? "ok" : "error", json.at("expect").get<std::string>());
}

void RunInitializers(CaseRunner& runner) {
  runner.RunFolders("initializers/exact", RunExactCase);
  const Json file = ReadJson(runner.root() + "/initializers/distributions.json");
  int number = 0;
  const auto name_of = [&](const char* kind, const Json& json) {
    return absl::StrCat("initializers/", kind, "/", number++, "_",
                        json.at("initializer").get<std::string>());
  };
  for (const Json& json : file.at("cases")) {
    runner.Run(name_of("distributions", json), [&] { return RunDistribution(json); });
  }
  number = 0;
  for (const Json& json : file.at("rules")) {
    runner.Run(name_of("rules", json), [&] { return RunRule(json); });
  }
}

const CategoryRegistrar registered("initializers", RunInitializers);

}  // namespace
}  // namespace cooper::conformance
