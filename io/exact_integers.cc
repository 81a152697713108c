#include "io/exact_integers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// All integers from -ExactBelow() to ExactBelow() are exact in the float.
template <typename Float>
constexpr int64_t ExactBelow() {
  if (std::is_same_v<Float, Float16>) return int64_t{1} << 11;
  if (std::is_same_v<Float, BFloat16>) return int64_t{1} << 8;
  return int64_t{1} << std::numeric_limits<ComputeType<Float>>::digits;
}

// The least and the greatest of a range of integers that are all exact.
template <typename To>
constexpr std::pair<int64_t, int64_t> ExactRange() {
  if constexpr (std::is_same_v<To, bool>) {
    return {0, 1};
  } else if constexpr (std::is_integral_v<To>) {
    return {std::numeric_limits<To>::min(), std::numeric_limits<To>::max()};
  } else {
    return {-ExactBelow<To>(), ExactBelow<To>()};
  }
}

// Of a value outside of that range.
template <typename To>
bool IsExact(int64_t value) {
  if constexpr (std::is_integral_v<To>) {
    return false;
  } else {
    const auto held = static_cast<double>(static_cast<ComputeType<To>>(ConvertElement<To>(value)));
    return held >= -0x1p63 && held < 0x1p63 && static_cast<int64_t>(held) == value;
  }
}

template <typename From, typename To>
absl::Status Check(const RaggedArray& values) {
  constexpr std::pair<int64_t, int64_t> kExact = ExactRange<To>();
  if (kExact.first <= std::numeric_limits<From>::min() &&
      kExact.second >= std::numeric_limits<From>::max()) {
    return absl::OkStatus();
  }
  for (int64_t i = 0; i < values.size(); ++i) {
    const auto* begin = static_cast<const From*>(values.data(i));
    const From* end = begin + values.shape(i).num_elements();
    From least = 0, greatest = 0;  // one pass that is vectorised
    for (const From* value = begin; value != end; ++value) {
      least = std::min(least, *value);
      greatest = std::max(greatest, *value);
    }
    if (least >= kExact.first && greatest <= kExact.second) continue;
    const From* wrong = std::find_if(begin, end, [&](From value) {
      return (value < kExact.first || value > kExact.second) && !IsExact<To>(value);
    });
    if (wrong == end) continue;
    return absl::InvalidArgumentError(absl::StrCat("sample ", i, " has the value ",
                                                   static_cast<int64_t>(*wrong), ", which ",
                                                   DTypeName(DTypeOf<To>()), " does not hold"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckIntegersAreExact(const RaggedArray& values, DType dtype) {
  return DispatchDType(values.dtype(), [&](auto from_tag) -> absl::Status {
    using From = typename decltype(from_tag)::type;
    if constexpr (!kIsInteger<From>) {
      return absl::OkStatus();
    } else {
      return DispatchDType(
          dtype, [&](auto to_tag) { return Check<From, typename decltype(to_tag)::type>(values); });
    }
  });
}

bool HoldsInteger(DType dtype, int64_t value) {
  return DispatchDType(dtype, [value](auto tag) {
    using To = typename decltype(tag)::type;
    constexpr std::pair<int64_t, int64_t> kExact = ExactRange<To>();
    return (value >= kExact.first && value <= kExact.second) || IsExact<To>(value);
  });
}

bool IsExactIn(DType dtype, double value) {
  return DispatchDType(dtype, [value](auto tag) {
    using To = typename decltype(tag)::type;
    const bool is_integer = value == std::trunc(value) && std::abs(value) <= 0x1p53;
    if (!std::is_integral_v<To> && !is_integer) return true;
    return static_cast<double>(static_cast<ComputeType<To>>(ConvertElement<To>(value))) == value;
  });
}

}  // namespace cooper
