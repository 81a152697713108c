#include "ndarray/base/dtype.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

constexpr DType kAll[] = {
#define COOPER_DTYPE(enumerator, code, type, name) DType::enumerator,
    COOPER_DTYPES(COOPER_DTYPE)
#undef COOPER_DTYPE
};

}  // namespace

int64_t SizeOf(DType dtype) {
  return DispatchDType(dtype,
                       [](auto tag) -> int64_t { return sizeof(typename decltype(tag)::type); });
}

const char* DTypeName(DType dtype) {
  switch (dtype) {
#define COOPER_DTYPE(enumerator, code, type, name) \
  case DType::enumerator:                          \
    return name;
    COOPER_DTYPES(COOPER_DTYPE)
#undef COOPER_DTYPE
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
