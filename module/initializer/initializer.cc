#include "module/initializer/initializer.h"

#include <memory>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "module/initializer/bilinear_kernel.h"
#include "module/initializer/create_initializer.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Calls `fill` with a float32 array on the CPU and copies it to `array`.
template <typename Fill>
absl::Status ThroughFloat(const NDArray& array, const Fill& fill) {
  if (array.dtype() == DType::kFloat32 && array.context().is_cpu()) return fill(array);
  COOPER_ASSIGN_OR_RETURN(const NDArray values, NDArray::Empty(array.shape()));
  COOPER_RETURN_IF_ERROR(fill(values));
  return array.CopyFrom(values);
}

absl::Status FillSpatialTransformerBias(const InitDesc& desc, const NDArray& values) {
  if (values.shape() != Shape({6})) {
    return absl::InvalidArgumentError(absl::StrCat("initializer: '", desc.name, "' is ",
                                                   values.shape().ToString(), ", expected (6,)"));
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray identity,
                          NDArray::FromVector<float>({6}, {1, 0, 0, 0, 1, 0}));
  return values.CopyFrom(identity);
}

bool EndsWithAny(absl::string_view name, std::initializer_list<absl::string_view> ends) {
  for (absl::string_view end : ends) {
    if (absl::EndsWith(name, end)) return true;
  }
  return false;
}

}  // namespace

absl::Status NamePatternInitializer::Init(const InitDesc& desc, const NDArray& array,
                                          uint64_t seed) const {
  InitDesc full = desc;
  if (full.global_init == nullptr) full.global_init = this;
  const auto attr = desc.attrs.find("__init__");
  if (attr == desc.attrs.end() || attr->second.empty()) return FillByName(full, array, seed);
  const auto own = CreateInitializerFromText(attr->second);
  if (!own.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("initializer: attribute __init__ of '",
                                                   desc.name, "': ", own.status().message()));
  }
  return (*own)->FillUnnamed(full, array, seed);
}

absl::Status NamePatternInitializer::FillUnnamed(const InitDesc& desc, const NDArray& array,
                                                 uint64_t seed) const {
  if (fills_anywhere()) return FillWeight(desc, array, seed);
  return ThroughFloat(array, [&](const NDArray& values) { return FillWeight(desc, values, seed); });
}

absl::Status NamePatternInitializer::FillByName(const InitDesc& desc, const NDArray& array,
                                                uint64_t seed) const {
  const absl::string_view name = desc.name;
  if (desc.plain_name) {
    if (absl::StartsWith(name, "upsampling")) {
      return ThroughFloat(array, [&](const NDArray& values) { return FillBilinear(name, values); });
    }
    if (absl::StartsWith(name, "stn_loc") && absl::EndsWith(name, "weight")) return array.Fill(0);
    if (absl::StartsWith(name, "stn_loc") && absl::EndsWith(name, "bias")) {
      return FillSpatialTransformerBias(desc, array);
    }
    if (EndsWithAny(name, {"moving_mean", "moving_inv_var", "moving_avg"})) return array.Fill(0);
    if (absl::EndsWith(name, "moving_var")) return array.Fill(1);
  }
  if (absl::EndsWith(name, "weight")) return FillUnnamed(desc, array, seed);
  if (EndsWithAny(name, {"bias", "beta", "min"})) return array.Fill(0);
  if (EndsWithAny(name, {"gamma", "max"})) return array.Fill(1);
  return absl::InvalidArgumentError(absl::StrCat(
      "initializer: no rule for '", name,
      "', whose name ends in none of weight, bias, gamma, beta, min, max: give the variable an "
      "initializer of its own (attribute __init__) or a value; what batches give has to be among "
      "the "
      "module's data_names"));
}

uint64_t RandomStreamOf(absl::string_view name) {
  // FNV-1a: stable over builds and machines, unlike absl::Hash.
  uint64_t hash = 0xCBF29CE484222325u;
  for (char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return hash;
}

}  // namespace cooper
