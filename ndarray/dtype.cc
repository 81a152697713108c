#include "ndarray/dtype.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

constexpr DType kAll[] = {DType::kFloat32, DType::kFloat64, DType::kFloat16,
                          DType::kUint8,   DType::kInt32,   DType::kInt8,
                          DType::kInt64,   DType::kBool,    DType::kBfloat16};

}  // namespace

int64_t SizeOf(DType dtype) {
  return DispatchDType(dtype,
                       [](auto tag) -> int64_t { return sizeof(typename decltype(tag)::type); });
}

const char* DTypeName(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
    case DType::kFloat16:
      return "float16";
    case DType::kUint8:
      return "uint8";
    case DType::kInt32:
      return "int32";
    case DType::kInt8:
      return "int8";
    case DType::kInt64:
      return "int64";
    case DType::kBool:
      return "bool";
    case DType::kBfloat16:
      return "bfloat16";
  }
  return "invalid";
}

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 ||
         dtype == DType::kBfloat16;
}

absl::StatusOr<DType> DTypeFromCode(int64_t code) {
  for (DType dtype : kAll) {
    if (static_cast<int64_t>(dtype) == code) return dtype;
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown dtype code ", code));
}

absl::StatusOr<DType> DTypeFromName(absl::string_view name) {
  for (DType dtype : kAll) {
    if (name == DTypeName(dtype)) return dtype;
  }
  return absl::InvalidArgumentError(absl::StrCat("unknown dtype '", name, "'"));
}

std::ostream& operator<<(std::ostream& os, DType dtype) { return os << DTypeName(dtype); }

}  // namespace cooper
