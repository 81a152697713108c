#include "module/initializer/create_initializer.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "module/initializer/fused_rnn.h"
#include "module/initializer/initializers.h"
#include "module/kwargs/json_kwargs.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

using Result = absl::StatusOr<std::unique_ptr<NamePatternInitializer>>;
using Factory = Result (*)(KwargReader& reader);

absl::Status BadChoice(absl::string_view argument, const std::string& value,
                       absl::string_view choices) {
  return absl::InvalidArgumentError(
      absl::StrCat("initializer: ", argument, " is '", value, "', expected ", choices));
}

absl::StatusOr<init::FactorType> FactorTypeFromName(const std::string& name) {
  if (name == "avg") return init::FactorType::kAvg;
  if (name == "in") return init::FactorType::kIn;
  if (name == "out") return init::FactorType::kOut;
  return BadChoice("factor_type", name, "'avg', 'in' or 'out'");
}

Result MakeZero(KwargReader& reader) {
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return init::Zero();
}

Result MakeOne(KwargReader& reader) {
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return init::One();
}

Result MakeConstant(KwargReader& reader) {
  std::vector<double> values;
  reader.Require("value");
  reader.Read("value", &values);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return init::Constant(std::move(values));
}

Result MakeUniform(KwargReader& reader) {
  double scale = 0.07;
  reader.Read("scale", &scale);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return init::Uniform(scale);
}

Result MakeNormal(KwargReader& reader) {
  double sigma = 0.01;
  reader.Read("sigma", &sigma);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return init::Normal(sigma);
}

Result MakeXavier(KwargReader& reader) {
  init::XavierOptions options;
  std::string rnd_type = "uniform";
  std::string factor_type = "avg";
  reader.Read("rnd_type", &rnd_type);
  reader.Read("factor_type", &factor_type);
  reader.Read("magnitude", &options.magnitude);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  if (rnd_type != "uniform" && rnd_type != "gaussian") {
    return BadChoice("rnd_type", rnd_type, "'uniform' or 'gaussian'");
  }
  options.rnd_type =
      rnd_type == "uniform" ? init::RandomType::kUniform : init::RandomType::kGaussian;
  COOPER_ASSIGN_OR_RETURN(options.factor_type, FactorTypeFromName(factor_type));
  return init::Xavier(options);
}

Result MakeMsraPrelu(KwargReader& reader) {
  std::string factor_type = "avg";
  double slope = 0.25;
  reader.Read("factor_type", &factor_type);
  reader.Read("slope", &slope);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  COOPER_ASSIGN_OR_RETURN(const init::FactorType type, FactorTypeFromName(factor_type));
  return init::MsraPrelu(type, slope);
}

Result MakeOrthogonal(KwargReader& reader) {
  double scale = 1.414;
  std::string rand_type = "uniform";
  reader.Read("scale", &scale);
  reader.Read("rand_type", &rand_type);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  if (rand_type != "uniform" && rand_type != "normal") {
    return BadChoice("rand_type", rand_type, "'uniform' or 'normal'");
  }
  return init::Orthogonal(
      scale, rand_type == "uniform" ? init::RandomType::kUniform : init::RandomType::kGaussian);
}

Result MakeBilinear(KwargReader& reader) {
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return init::Bilinear();
}

Result MakeLstmBias(KwargReader& reader) {
  double forget_bias = 1;
  reader.Read("forget_bias", &forget_bias);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  return init::LstmBias(forget_bias);
}

Result MakeFusedRnn(KwargReader& reader) {
  init::FusedRnnOptions options;
  std::optional<std::string> init;
  for (const char* name : {"num_hidden", "num_layers", "mode"}) reader.Require(name);
  reader.Read("init", &init);
  reader.Read("num_hidden", &options.num_hidden);
  reader.Read("num_layers", &options.num_layers);
  reader.Read("mode", &options.mode);
  reader.Read("bidirectional", &options.bidirectional);
  reader.Read("forget_bias", &options.forget_bias);
  COOPER_RETURN_IF_ERROR(reader.Finish());
  if (init.has_value()) {
    COOPER_ASSIGN_OR_RETURN(options.init, CreateInitializerFromText(*init));
  }
  return init::FusedRnn(std::move(options));
}

const std::map<std::string, Factory>& Factories() {
  static const auto* const factories = new std::map<std::string, Factory>{
      {"bilinear", MakeBilinear},
      {"constant", MakeConstant},
      {"fusedrnn", MakeFusedRnn},
      {"lstmbias", MakeLstmBias},
      {"msraprelu", MakeMsraPrelu},
      {"normal", MakeNormal},
      {"one", MakeOne},
      {"ones", MakeOne},
      {"orthogonal", MakeOrthogonal},
      {"uniform", MakeUniform},
      {"xavier", MakeXavier},
      {"zero", MakeZero},
      {"zeros", MakeZero},
  };
  return *factories;
}

}  // namespace

absl::StatusOr<std::unique_ptr<NamePatternInitializer>> CreateInitializer(absl::string_view name,
                                                                          const Kwargs& kwargs) {
  const std::string lower = absl::AsciiStrToLower(name);
  const auto it = Factories().find(lower);
  if (it == Factories().end()) {
    return absl::NotFoundError(absl::StrCat(
        "no initializer '", name, "', expected one of ",
        absl::StrJoin(Factories(), ", ",
                      [](std::string* out, const auto& entry) { out->append(entry.first); })));
  }
  KwargReader reader(absl::StrCat("initializer ", lower), kwargs);
  return it->second(reader);
}

absl::StatusOr<std::unique_ptr<NamePatternInitializer>> CreateInitializerFromText(
    absl::string_view text) {
  const absl::string_view trimmed = absl::StripAsciiWhitespace(text);
  if (!absl::StartsWith(trimmed, "[")) return CreateInitializer(trimmed);
  COOPER_ASSIGN_OR_RETURN(const auto parsed, NameAndKwargsFromJson(trimmed));
  return CreateInitializer(parsed.first, parsed.second);
}

}  // namespace cooper
