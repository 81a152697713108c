#include "ndarray/dlpack/dlpack_dtype.h"

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "ndarray/array/device.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr DType kAll[] = {
#define COOPER_DTYPE(enumerator, code, type, name) DType::enumerator,
    COOPER_DTYPES(COOPER_DTYPE)
#undef COOPER_DTYPE
};

uint8_t TypeCodeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kFloat16:
      return dlpack::kFloat;
    case DType::kBfloat16:
      return dlpack::kBfloat;
    case DType::kUint8:
      return dlpack::kUInt;
    case DType::kInt8:
    case DType::kInt32:
    case DType::kInt64:
      return dlpack::kInt;
    case DType::kBool:
      return dlpack::kBool;
  }
  return dlpack::kOpaqueHandle;  // not reached: DType values are checked where they enter
}

// Returns a name such as "uint16" or "complex64", or the number of an unknown code.
std::string NameOf(dlpack::DataType type) {
  const int bits = type.bits;
  switch (type.code) {
    case dlpack::kInt:
      return absl::StrCat("int", bits);
    case dlpack::kUInt:
      return absl::StrCat("uint", bits);
    case dlpack::kFloat:
      return absl::StrCat("float", bits);
    case dlpack::kOpaqueHandle:
      return "opaque handles";
    case dlpack::kBfloat:
      return absl::StrCat("bfloat", bits);
    case dlpack::kComplex:
      return absl::StrCat("complex", bits);
    case dlpack::kBool:
      return absl::StrCat("bool of ", bits, " bits");
    default:
      return absl::StrCat("type code ", int{type.code}, " of ", bits, " bits");
  }
}

}  // namespace

dlpack::DataType ToDLPackDType(DType dtype) {
  return {TypeCodeOf(dtype), static_cast<uint8_t>(8 * SizeOf(dtype)), 1};
}

absl::StatusOr<DType> FromDLPackDType(dlpack::DataType type) {
  if (type.lanes != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("elements are vectors of ", int{type.lanes}, " lanes of ", NameOf(type),
                     ", expected one lane; export the lanes as an axis"));
  }
  for (const DType dtype : kAll) {
    const dlpack::DataType own = ToDLPackDType(dtype);
    if (own.code == type.code && own.bits == type.bits) return dtype;
  }
  std::string names;
  for (const DType dtype : kAll)
    absl::StrAppend(&names, names.empty() ? "" : ", ", DTypeName(dtype));
  return absl::UnimplementedError(absl::StrCat("elements are ", NameOf(type), ", expected one of ",
                                               names, "; convert them before they are exported"));
}

absl::StatusOr<Context> FromDLPackDevice(dlpack::Device device) {
  if (device.type != dlpack::kCpu && device.type != dlpack::kCuda) {
    const char* name = device.type == dlpack::kCudaHost      ? " (pinned memory)"
                       : device.type == dlpack::kCudaManaged ? " (managed memory)"
                                                             : "";
    return absl::UnimplementedError(
        absl::StrCat("elements are on a device of type ", device.type, name,
                     ", expected kDLCPU (1) or kDLCUDA (2); copy them to one of these before they "
                     "are exported"));
  }
  const Context context =
      device.type == dlpack::kCpu ? Context::Cpu(device.id) : Context::Gpu(device.id);
  COOPER_RETURN_IF_ERROR(FindDevice(context).status());
  return context;
}

}  // namespace cooper
