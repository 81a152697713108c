#include "io/batch/exact_integers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// Returns n such that all integers from -n to n are exact in the float.
template <typename Float>
constexpr int64_t ExactBelow() {
  if (std::is_same_v<Float, Float16>) return int64_t{1} << 11;
  if (std::is_same_v<Float, BFloat16>) return int64_t{1} << 8;
  return int64_t{1} << std::numeric_limits<ComputeType<Float>>::digits;
}

// Returns the bounds of a range of integers that are all exact in To.
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

// Returns whether a value outside of ExactRange<To>() is exact in To.
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
constexpr bool HoldsAll() {
  if constexpr (std::is_same_v<From, To> || std::is_same_v<From, bool>) {
    return true;
  } else if constexpr (std::is_integral_v<From>) {
    return ExactRange<To>().first <= std::numeric_limits<From>::min() &&
           ExactRange<To>().second >= std::numeric_limits<From>::max();
  } else if constexpr (std::is_integral_v<To>) {
    return false;
  } else {  // To has as many digits and as large a range
    return std::is_same_v<To, double> ||
           (std::is_same_v<To, float> && !std::is_same_v<From, double>);
  }
}

// Returns the first integer in [begin, end) that changes when it is converted to To; `end` if there
// is none.
template <typename From, typename To>
const From* FirstChangedInteger(const From* begin, const From* end) {
  constexpr std::pair<int64_t, int64_t> kExact = ExactRange<To>();
  From least = 0, greatest = 0;  // one pass that is vectorised
  for (const From* value = begin; value != end; ++value) {
    least = std::min(least, *value);
    greatest = std::max(greatest, *value);
  }
  if (least >= kExact.first && greatest <= kExact.second) return end;
  return std::find_if(begin, end, [&](From value) {
    return (value < kExact.first || value > kExact.second) && !IsExact<To>(value);
  });
}

// Returns the value of `number`, which is in To's range, after a conversion to To.
template <typename To>
double Converted(double number) {
  return static_cast<double>(static_cast<ComputeType<To>>(ConvertElement<To>(number)));
}

template <typename To>
bool Changes(double value) {
  if constexpr (std::is_integral_v<To>) {
    // Computes 2^digits from half of the maximum, since a double cannot hold the maximum of an
    // int64.
    constexpr double kEnd = 2.0 * static_cast<double>(std::numeric_limits<To>::max() >> 1) + 2;
    const bool in_range =
        value >= static_cast<double>(std::numeric_limits<To>::min()) && value < kEnd;
    return !in_range || value != std::trunc(value);
  } else {
    const double converted = Converted<To>(value);
    if (value == std::trunc(value) && std::abs(value) <= 0x1p53) return converted != value;
    return std::isfinite(value) && !std::isfinite(converted);
  }
}

template <typename From, typename To>
const From* FirstChanged(const From* begin, const From* end) {
  if constexpr (HoldsAll<From, To>()) {
    return end;
  } else if constexpr (kIsInteger<From>) {
    return FirstChangedInteger<From, To>(begin, end);
  } else {
    return std::find_if(begin, end, [](From value) {
      return Changes<To>(static_cast<double>(static_cast<ComputeType<From>>(value)));
    });
  }
}

template <typename From, typename To>
absl::Status Check(const RaggedArray& values) {
  if (HoldsAll<From, To>()) return absl::OkStatus();
  for (int64_t i = 0; i < values.size(); ++i) {
    const auto* begin = static_cast<const From*>(values.data(i));
    const From* end = begin + values.shape(i).num_elements();
    const From* wrong = FirstChangedInteger<From, To>(begin, end);
    if (wrong == end) continue;
    return absl::InvalidArgumentError(absl::StrCat("sample ", i, " has the value ",
                                                   static_cast<int64_t>(*wrong), ", which ",
                                                   DTypeName(DTypeOf<To>()), " does not hold"));
  }
  return absl::OkStatus();
}

template <typename From, typename To>
absl::Status CheckArray(const NDArray& array) {
  if (HoldsAll<From, To>()) return absl::OkStatus();
  COOPER_ASSIGN_OR_RETURN(const NDArray on_cpu, OnCpu(array));
  const auto* begin = static_cast<const From*>(on_cpu.raw_data());
  const From* end = begin + on_cpu.size();
  const From* wrong = FirstChanged<From, To>(begin, end);
  if (wrong == end) return absl::OkStatus();
  const int64_t rows = array.shape().rank() > 0 ? array.shape()[0] : 1;
  std::string value;
  if constexpr (std::is_integral_v<From>) {
    value = absl::StrCat(static_cast<int64_t>(*wrong));
  } else {
    value = absl::StrFormat("%.17g", static_cast<double>(static_cast<ComputeType<From>>(*wrong)));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("row ", (wrong - begin) / std::max<int64_t>(1, array.size() / rows), " of ",
                   array.ToString(), " has the value ", value, ", which ", DTypeName(DTypeOf<To>()),
                   " does not hold; give an array of that dtype (NDArray::AsType)"));
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

absl::Status CheckExactIn(const NDArray& array, DType dtype) {
  if (array.dtype() == dtype || array.is_null() || array.size() == 0) return absl::OkStatus();
  return DispatchDType(array.dtype(), [&](auto from_tag) {
    return DispatchDType(dtype, [&](auto to_tag) {
      return CheckArray<typename decltype(from_tag)::type, typename decltype(to_tag)::type>(array);
    });
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
