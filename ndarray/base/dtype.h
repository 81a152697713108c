#ifndef COOPER_NDARRAY_BASE_DTYPE_H_
#define COOPER_NDARRAY_BASE_DTYPE_H_

// Element types of an NDArray. The enumerators' values are MXNet's codes (mshadow/base.h), which
// occur in .params files and in attributes such as `__dtype__`.
//
// Kernels are templates over the element type; DispatchDType selects the instance at run time.

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/float16.h"
#include "ndarray/base/host_device.h"

namespace cooper {

// Lists all dtypes: X(enumerator, code, type of an element, name).
#define COOPER_DTYPES(X)             \
  X(kFloat32, 0, float, "float32")   \
  X(kFloat64, 1, double, "float64")  \
  X(kFloat16, 2, Float16, "float16") \
  X(kUint8, 3, uint8_t, "uint8")     \
  X(kInt32, 4, int32_t, "int32")     \
  X(kInt8, 5, int8_t, "int8")        \
  X(kInt64, 6, int64_t, "int64")     \
  X(kBool, 7, bool, "bool")          \
  X(kBfloat16, 12, BFloat16, "bfloat16")

// Other values do not occur: codes from files are checked by DTypeFromCode.
enum class DType : int8_t {
#define COOPER_DTYPE(enumerator, code, type, name) enumerator = code,
  COOPER_DTYPES(COOPER_DTYPE)
#undef COOPER_DTYPE
};

// Returns the bytes of one element.
int64_t SizeOf(DType dtype);

// Returns NumPy's name, a static string: "float32", "bool", ...
const char* DTypeName(DType dtype);

// Returns whether the dtype is one of the four floating-point types, the 16-bit ones included.
bool IsFloating(DType dtype);

// Return the dtype of an MXNet code or a NumPy name. kInvalidArgument, with the argument, if it is
// unknown.
absl::StatusOr<DType> DTypeFromCode(int64_t code);
absl::StatusOr<DType> DTypeFromName(absl::string_view name);

std::ostream& operator<<(std::ostream& os, DType dtype);

// Maps a C++ type to the dtype with such elements, for DTypeOf.
template <typename T>
struct DTypeTraits;
#define COOPER_DTYPE(enumerator, code, type, name)     \
  template <>                                          \
  struct DTypeTraits<type> {                           \
    static constexpr DType kDType = DType::enumerator; \
  };
COOPER_DTYPES(COOPER_DTYPE)
#undef COOPER_DTYPE

// Returns the dtype of elements T: DTypeOf<float>() is kFloat32. Does not compile if no dtype has
// elements T.
template <typename T>
constexpr DType DTypeOf() {
  return DTypeTraits<T>::kDType;
}

// Carries a type as a value, for DispatchDType.
template <typename T>
struct TypeTag {
  using type = T;
};

// Calls fn(TypeTag<T>()) with the element type T of `dtype` and returns its result; all instances
// must return one type. `fn` is compiled once for each dtype.
template <typename Fn>
decltype(auto) DispatchDType(DType dtype, Fn&& fn) {
  switch (dtype) {
#define COOPER_DTYPE(enumerator, code, type, name) \
  case DType::enumerator:                          \
    return fn(TypeTag<type>());
    COOPER_DTYPES(COOPER_DTYPE)
#undef COOPER_DTYPE
  }
  return fn(TypeTag<float>());  // not reached: DType values are checked where they enter
}

// The type in which arithmetic on elements of T is done: float for the 16-bit floats, else T.
template <typename T>
struct ComputeTypeOf {
  using type = T;
};
template <>
struct ComputeTypeOf<Float16> {
  using type = float;
};
template <>
struct ComputeTypeOf<BFloat16> {
  using type = float;
};
template <typename T>
using ComputeType = typename ComputeTypeOf<T>::type;

// Converts a float to an integer, dropping its fraction. Unlike static_cast the result is defined
// for every value: values beyond int32 or int64 give the nearest limit and NaN the minimum, so that
// a NaN label selects no class. 8-bit integers keep the lowest byte of the int32, as MXNet's do:
// 300 gives 44, -1 gives 255. Free of branches, so that compilers can vectorise loops over it.
template <typename To, typename From>
COOPER_HOST_DEVICE To IntegerOf(From value) {
  static_assert(std::is_floating_point_v<From> && std::is_integral_v<To>);
  using Whole = std::conditional_t<sizeof(To) < sizeof(int32_t), int32_t, To>;
  constexpr Whole kMin = std::numeric_limits<Whole>::min();
  constexpr Whole kGreatest = std::numeric_limits<Whole>::max();
  constexpr From kEnd = -static_cast<From>(kMin);  // a power of two: exact, unlike kGreatest
  const bool fits = (value >= -kEnd) & (value < kEnd);
  const Whole whole = static_cast<Whole>(fits ? value : From{0});
  const Whole end = value >= kEnd ? kGreatest : kMin;
  return static_cast<To>(fits ? whole : end);
}

// Converts one element: floats to integers with IntegerOf, 16-bit floats through float, all else as
// static_cast does.
template <typename To, typename From>
COOPER_HOST_DEVICE To ConvertElement(From value) {
  const auto number = static_cast<ComputeType<From>>(value);
  if constexpr (std::is_floating_point_v<ComputeType<From>> && std::is_integral_v<To> &&
                !std::is_same_v<To, bool>) {
    return IntegerOf<To>(number);
  } else {
    return static_cast<To>(static_cast<ComputeType<To>>(number));
  }
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_DTYPE_H_
