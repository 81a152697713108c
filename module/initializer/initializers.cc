#include "module/initializer/initializers.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "module/initializer/bilinear_kernel.h"
#include "module/initializer/initializer_registry.h"
#include "module/initializer/json_number.h"
#include "module/initializer/orthogonal_matrix.h"
#include "ndarray/base/philox.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/random/fill_random.h"
#include "symbol/schema/param_text.h"

namespace cooper::init {
namespace {

absl::Status FillRandomly(RandomType type, const InitDesc& desc, const NDArray& values,
                          uint64_t seed, double scale) {
  return FillWithRandom({values.raw_data(), values.dtype(), values.size(), values.context()}, type,
                        scale, Philox(seed, RandomStreamOf(desc.name)));
}

const char* Name(FactorType type) {
  return type == FactorType::kAvg ? "avg" : type == FactorType::kIn ? "in" : "out";
}

std::string DumpsOne(absl::string_view name, absl::string_view key, double value) {
  return absl::StrCat("[\"", name, "\", {\"", key, "\": ", JsonNumber(value), "}]");
}

class ConstantInitializer : public NamePatternInitializer {
 public:
  ConstantInitializer(std::string name, std::vector<double> values)
      : name_(std::move(name)), values_(std::move(values)) {}

  bool fills_anywhere() const override { return true; }

  absl::Status FillWeight(const InitDesc& desc, const NDArray& values, uint64_t) const override {
    if (values_.size() == 1) return values.Fill(values_[0]);
    if (static_cast<int64_t>(values_.size()) != values.size()) {
      return absl::InvalidArgumentError(absl::StrCat("initializer constant: '", desc.name, "' is ",
                                                     values.shape().ToString(), ", but there are ",
                                                     values_.size(), " values"));
    }
    COOPER_ASSIGN_OR_RETURN(const NDArray given,
                            NDArray::FromVector<double>(values.shape(), values_));
    return values.CopyFrom(given);
  }

  std::string Dumps() const override {
    if (name_ != "constant") return absl::StrCat("[\"", name_, "\", {}]");
    if (values_.size() == 1) return DumpsOne(name_, "value", values_[0]);
    return absl::StrCat(
        "[\"constant\", {\"value\": [",
        absl::StrJoin(values_, ", ",
                      [](std::string* out, double v) { out->append(JsonNumber(v)); }),
        "]}]");
  }

 private:
  const std::string name_;
  const std::vector<double> values_;
};

class ScaledInitializer : public NamePatternInitializer {
 public:
  ScaledInitializer(RandomType type, double scale) : type_(type), scale_(scale) {}

  bool fills_anywhere() const override { return true; }

  absl::Status FillWeight(const InitDesc& desc, const NDArray& values,
                          uint64_t seed) const override {
    return FillRandomly(type_, desc, values, seed, scale_);
  }

  std::string Dumps() const override {
    return type_ == RandomType::kUniform ? DumpsOne("uniform", "scale", scale_)
                                         : DumpsOne("normal", "sigma", scale_);
  }

 private:
  const RandomType type_;
  const double scale_;
};

class XavierInitializer : public NamePatternInitializer {
 public:
  XavierInitializer(const XavierOptions& options, std::string dumps)
      : options_(options), dumps_(std::move(dumps)) {}

  bool fills_anywhere() const override { return true; }

  absl::Status FillWeight(const InitDesc& desc, const NDArray& values,
                          uint64_t seed) const override {
    const Shape& shape = values.shape();
    if (shape.rank() < 2) {
      return absl::InvalidArgumentError(absl::StrCat("initializer xavier: '", desc.name, "' is ",
                                                     shape.ToString(),
                                                     ", expected at least two dimensions"));
    }
    const auto area = static_cast<double>(shape.Product(2, shape.rank()));
    const double fan_in = static_cast<double>(shape[1]) * area;
    const double fan_out = static_cast<double>(shape[0]) * area;
    const double factor = options_.factor_type == FactorType::kAvg  ? (fan_in + fan_out) / 2
                          : options_.factor_type == FactorType::kIn ? fan_in
                                                                    : fan_out;
    return FillRandomly(options_.rnd_type, desc, values, seed,
                        std::sqrt(options_.magnitude / factor));
  }

  std::string Dumps() const override { return dumps_; }

 private:
  const XavierOptions options_;
  const std::string dumps_;
};

class OrthogonalInitializer : public NamePatternInitializer {
 public:
  OrthogonalInitializer(double scale, RandomType rand_type)
      : scale_(scale), rand_type_(rand_type) {}

  absl::Status FillWeight(const InitDesc& desc, const NDArray& values,
                          uint64_t seed) const override {
    if (values.shape().rank() < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("initializer orthogonal: '", desc.name, "' is a scalar"));
    }
    COOPER_RETURN_IF_ERROR(FillRandomly(rand_type_, desc, values, seed, 1));
    COOPER_ASSIGN_OR_RETURN(const absl::Span<float> out, values.Data<float>());
    Orthonormalize(values.shape()[0], out);
    for (float& x : out) x *= static_cast<float>(scale_);
    return absl::OkStatus();
  }

  std::string Dumps() const override {
    return absl::StrCat("[\"orthogonal\", {\"scale\": ", JsonNumber(scale_), ", \"rand_type\": \"",
                        rand_type_ == RandomType::kUniform ? "uniform" : "normal", "\"}]");
  }

 private:
  const double scale_;
  const RandomType rand_type_;
};

class BilinearInitializer : public NamePatternInitializer {
 public:
  absl::Status FillWeight(const InitDesc& desc, const NDArray& values, uint64_t) const override {
    return FillBilinear(desc.name, values);
  }
  std::string Dumps() const override { return "[\"bilinear\", {}]"; }
};

class LstmBiasInitializer : public NamePatternInitializer {
 public:
  explicit LstmBiasInitializer(double forget_bias) : forget_bias_(forget_bias) {}

  bool fills_anywhere() const override { return true; }

  absl::Status FillWeight(const InitDesc& desc, const NDArray& values, uint64_t) const override {
    if (values.shape().rank() < 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("initializer lstmbias: '", desc.name, "' is a scalar"));
    }
    COOPER_RETURN_IF_ERROR(values.Fill(0));
    const int64_t num_hidden = values.shape()[0] / 4;
    COOPER_ASSIGN_OR_RETURN(const NDArray forget, values.Slice(num_hidden, 2 * num_hidden));
    return forget.Fill(forget_bias_);
  }

  std::string Dumps() const override { return DumpsOne("lstmbias", "forget_bias", forget_bias_); }

 private:
  const double forget_bias_;
};

}  // namespace

InitializerPtr Zero() {
  return std::make_unique<ConstantInitializer>("zero", std::vector<double>{0});
}

InitializerPtr One() {
  return std::make_unique<ConstantInitializer>("one", std::vector<double>{1});
}

InitializerPtr Constant(double value) { return Constant(std::vector<double>{value}); }

InitializerPtr Constant(std::vector<double> values) {
  return std::make_unique<ConstantInitializer>("constant", std::move(values));
}

InitializerPtr Uniform(double scale) {
  return std::make_unique<ScaledInitializer>(RandomType::kUniform, scale);
}

InitializerPtr Normal(double sigma) {
  return std::make_unique<ScaledInitializer>(RandomType::kGaussian, sigma);
}

InitializerPtr Xavier(const XavierOptions& options) {
  return std::make_unique<XavierInitializer>(
      options, absl::StrCat("[\"xavier\", {\"rnd_type\": \"",
                            options.rnd_type == RandomType::kUniform ? "uniform" : "gaussian",
                            "\", \"factor_type\": \"", Name(options.factor_type),
                            "\", \"magnitude\": ", JsonNumber(options.magnitude), "}]"));
}

InitializerPtr MsraPrelu(FactorType factor_type, double slope) {
  return std::make_unique<XavierInitializer>(
      XavierOptions{.rnd_type = RandomType::kGaussian,
                    .factor_type = factor_type,
                    .magnitude = 2 / (1 + slope * slope)},
      absl::StrCat("[\"msraprelu\", {\"factor_type\": \"", Name(factor_type),
                   "\", \"slope\": ", JsonNumber(slope), "}]"));
}

InitializerPtr Orthogonal(double scale, RandomType rand_type) {
  return std::make_unique<OrthogonalInitializer>(scale, rand_type);
}

InitializerPtr Bilinear() { return std::make_unique<BilinearInitializer>(); }

InitializerPtr LstmBias(double forget_bias) {
  return std::make_unique<LstmBiasInitializer>(forget_bias);
}

namespace {

// The empty set of keyword arguments, for Zero and One.
struct NoOptions {};
// An array in MXNet's notation, lists inside lists; only the order of the numbers matters.
struct NestedNumbers {
  std::vector<double> values;
};
absl::Status ParseParamText(const std::string& text, NestedNumbers* numbers) {
  numbers->values.clear();
  for (const absl::string_view number :
       absl::StrSplit(text, absl::ByAnyChar("()[], "), absl::SkipEmpty())) {
    COOPER_RETURN_IF_ERROR(
        cooper::ParseParamText(std::string(number), &numbers->values.emplace_back()));
  }
  return absl::OkStatus();
}
std::string PrintParamText(const NestedNumbers& numbers) {
  return cooper::PrintParamText(numbers.values);
}
std::string ParamTypeName(const NestedNumbers*) { return "float or lists of float"; }

struct ConstantOptions {
  NestedNumbers value;
};
struct UniformOptions {
  double scale = 0.07;
};
struct NormalOptions {
  double sigma = 0.01;
};
struct MsraPreluOptions {
  FactorType factor_type = FactorType::kAvg;
  double slope = 0.25;
};
struct OrthogonalOptions {
  double scale = 1.414;
  RandomType rand_type = RandomType::kUniform;
};
struct LstmBiasOptions {
  double forget_bias = 1;
};

bool RegisterPlain(const std::vector<std::string>& names, InitializerPtr (*make)()) {
  return Initializers().Add<NoOptions>(
      names, [make](const NoOptions&) { return make(); }, [](auto&) {});
}

constexpr EnumNames<FactorType> kFactorTypes = {
    {"avg", FactorType::kAvg}, {"in", FactorType::kIn}, {"out", FactorType::kOut}};

const bool kRegistered[] = {
    RegisterPlain({"zero", "zeros"}, Zero),
    RegisterPlain({"one", "ones"}, One),
    RegisterPlain({"bilinear"}, Bilinear),
    Initializers().Add<ConstantOptions>(
        {"constant"}, [](const ConstantOptions& o) { return Constant(o.value.values); },
        [](auto& d) { d.Field("value", &ConstantOptions::value).Required(); }),
    Initializers().Add<UniformOptions>(
        {"uniform"}, [](const UniformOptions& o) { return Uniform(o.scale); },
        [](auto& d) { d.Field("scale", &UniformOptions::scale); }),
    Initializers().Add<NormalOptions>(
        {"normal"}, [](const NormalOptions& o) { return Normal(o.sigma); },
        [](auto& d) { d.Field("sigma", &NormalOptions::sigma); }),
    Initializers().Add<XavierOptions>(
        {"xavier"}, Xavier,
        [](auto& d) {
          d.Enum("rnd_type", &XavierOptions::rnd_type,
                 {{"uniform", RandomType::kUniform}, {"gaussian", RandomType::kGaussian}});
          d.Enum("factor_type", &XavierOptions::factor_type, kFactorTypes);
          d.Field("magnitude", &XavierOptions::magnitude);
        }),
    Initializers().Add<MsraPreluOptions>(
        {"msraprelu"}, [](const MsraPreluOptions& o) { return MsraPrelu(o.factor_type, o.slope); },
        [](auto& d) {
          d.Enum("factor_type", &MsraPreluOptions::factor_type, kFactorTypes);
          d.Field("slope", &MsraPreluOptions::slope);
        }),
    Initializers().Add<OrthogonalOptions>(
        {"orthogonal"}, [](const OrthogonalOptions& o) { return Orthogonal(o.scale, o.rand_type); },
        [](auto& d) {
          d.Field("scale", &OrthogonalOptions::scale);
          d.Enum("rand_type", &OrthogonalOptions::rand_type,
                 {{"uniform", RandomType::kUniform}, {"normal", RandomType::kGaussian}});
        }),
    Initializers().Add<LstmBiasOptions>(
        {"lstmbias"}, [](const LstmBiasOptions& o) { return LstmBias(o.forget_bias); },
        [](auto& d) { d.Field("forget_bias", &LstmBiasOptions::forget_bias); }),
};

}  // namespace
}  // namespace cooper::init
