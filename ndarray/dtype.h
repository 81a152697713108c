#ifndef COOPER_NDARRAY_DTYPE_H_
#define COOPER_NDARRAY_DTYPE_H_

// Element types of an NDArray. The enumerators' values are MXNet's codes (mshadow/base.h), which
// stand in .params files and in attributes such as `__dtype__`.

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/float16.h"

namespace cooper {

enum class DType : int8_t {
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,
  kUint8 = 3,
  kInt32 = 4,
  kInt8 = 5,
  kInt64 = 6,
  kBool = 7,
  kBfloat16 = 12,
};

// Bytes of one element.
int64_t SizeOf(DType dtype);

// NumPy's name: "float32", "bool", ...
const char* DTypeName(DType dtype);

bool IsFloating(DType dtype);

// The dtype of an MXNet code or of a NumPy name. kInvalidArgument, with what came, for others.
absl::StatusOr<DType> DTypeFromCode(int64_t code);
absl::StatusOr<DType> DTypeFromName(absl::string_view name);

std::ostream& operator<<(std::ostream& os, DType dtype);

// The dtype whose elements are a `T`: DTypeOf<float>() is kFloat32.
template <typename T>
struct DTypeTraits;
template <>
struct DTypeTraits<float> {
  static constexpr DType kDType = DType::kFloat32;
};
template <>
struct DTypeTraits<double> {
  static constexpr DType kDType = DType::kFloat64;
};
template <>
struct DTypeTraits<Float16> {
  static constexpr DType kDType = DType::kFloat16;
};
template <>
struct DTypeTraits<uint8_t> {
  static constexpr DType kDType = DType::kUint8;
};
template <>
struct DTypeTraits<int32_t> {
  static constexpr DType kDType = DType::kInt32;
};
template <>
struct DTypeTraits<int8_t> {
  static constexpr DType kDType = DType::kInt8;
};
template <>
struct DTypeTraits<int64_t> {
  static constexpr DType kDType = DType::kInt64;
};
template <>
struct DTypeTraits<bool> {
  static constexpr DType kDType = DType::kBool;
};
template <>
struct DTypeTraits<BFloat16> {
  static constexpr DType kDType = DType::kBfloat16;
};

template <typename T>
constexpr DType DTypeOf() {
  return DTypeTraits<T>::kDType;
}

// Carries a type as a value, for DispatchDType.
template <typename T>
struct TypeTag {
  using type = T;
};

// Calls fn(TypeTag<T>()) with the element type T of `dtype` and returns its result.
template <typename Fn>
decltype(auto) DispatchDType(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kFloat32:
      return fn(TypeTag<float>());
    case DType::kFloat64:
      return fn(TypeTag<double>());
    case DType::kFloat16:
      return fn(TypeTag<Float16>());
    case DType::kUint8:
      return fn(TypeTag<uint8_t>());
    case DType::kInt32:
      return fn(TypeTag<int32_t>());
    case DType::kInt8:
      return fn(TypeTag<int8_t>());
    case DType::kInt64:
      return fn(TypeTag<int64_t>());
    case DType::kBool:
      return fn(TypeTag<bool>());
    case DType::kBfloat16:
      return fn(TypeTag<BFloat16>());
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

// Converts one element as static_cast does, by way of float for the 16-bit floats.
template <typename To, typename From>
To ConvertElement(From value) {
  return static_cast<To>(static_cast<ComputeType<To>>(static_cast<ComputeType<From>>(value)));
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_DTYPE_H_
