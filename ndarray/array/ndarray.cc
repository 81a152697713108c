#include "ndarray/array/ndarray.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "ndarray/array/device.h"
#include "ndarray/array/fill.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Converts `count` elements within CPU memory.
void ConvertElements(DType to, void* dst, DType from, const void* src, int64_t count) {
  if (count == 0) return;  // arrays without elements may have no memory, which memmove refuses
  if (to == from) {
    std::memmove(dst, src, static_cast<size_t>(count * SizeOf(to)));
    return;
  }
  DispatchDType(from, [&](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    DispatchDType(to, [&](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      const From* in = static_cast<const From*>(src);
      To* out = static_cast<To*>(dst);
      for (int64_t i = 0; i < count; ++i) out[i] = ConvertElement<To>(in[i]);
    });
  });
}

}  // namespace

absl::StatusOr<NDArray> NDArray::Empty(Shape shape, DType dtype, Context context) {
  COOPER_ASSIGN_OR_RETURN(shape, Shape::Create(shape.dims()));
  COOPER_ASSIGN_OR_RETURN(auto storage,
                          Storage::Allocate(shape.num_elements() * SizeOf(dtype), context));
  return NDArray(std::move(storage), 0, std::move(shape), dtype);
}

absl::StatusOr<NDArray> NDArray::Zeros(Shape shape, DType dtype, Context context) {
  COOPER_ASSIGN_OR_RETURN(shape, Shape::Create(shape.dims()));
  COOPER_ASSIGN_OR_RETURN(auto storage,
                          Storage::AllocateZeros(shape.num_elements() * SizeOf(dtype), context));
  return NDArray(std::move(storage), 0, std::move(shape), dtype);
}

absl::StatusOr<NDArray> NDArray::Full(Shape shape, double value, DType dtype, Context context) {
  COOPER_ASSIGN_OR_RETURN(NDArray array, Empty(std::move(shape), dtype, context));
  COOPER_RETURN_IF_ERROR(array.Fill(value));
  return array;
}

absl::StatusOr<NDArray> NDArray::FromBytes(const Shape& shape, DType dtype, const void* data,
                                           int64_t count) {
  COOPER_RETURN_IF_ERROR(Shape::Create(shape.dims()).status());
  if (shape.num_elements() != count) {
    return absl::InvalidArgumentError(absl::StrCat("shape ", shape.ToString(), " has ",
                                                   shape.num_elements(), " elements, but ", count,
                                                   " values came"));
  }
  COOPER_ASSIGN_OR_RETURN(NDArray array, Empty(shape, dtype));
  std::copy_n(static_cast<const char*>(data), array.size_bytes(),
              static_cast<char*>(array.raw_data()));
  return array;
}

absl::StatusOr<NDArray> NDArray::View(std::shared_ptr<Storage> storage, int64_t byte_offset,
                                      Shape shape, DType dtype) {
  COOPER_ASSIGN_OR_RETURN(shape, Shape::Create(shape.dims()));
  const int64_t bytes = shape.num_elements() * SizeOf(dtype);
  if (storage == nullptr || byte_offset < 0 || byte_offset > storage->bytes() - bytes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a view of ", bytes, " bytes at offset ", byte_offset, " does not fit into a storage of ",
        storage == nullptr ? 0 : storage->bytes(), " bytes"));
  }
  return NDArray(std::move(storage), byte_offset, std::move(shape), dtype);
}

absl::Status NDArray::CheckAccess(DType dtype) const {
  if (is_null()) return absl::FailedPreconditionError("the array is null");
  if (dtype != dtype_) {
    return absl::InvalidArgumentError(
        absl::StrCat("elements are ", DTypeName(dtype_), ", requested as ", DTypeName(dtype)));
  }
  if (!context().is_cpu()) {
    return absl::FailedPreconditionError(
        absl::StrCat("elements are on ", context().ToString(), ", not in CPU memory"));
  }
  return absl::OkStatus();
}

absl::StatusOr<NDArray> NDArray::Slice(int64_t begin, int64_t end) const {
  if (is_null() || shape_.rank() == 0 || begin < 0 || end < begin || end > shape_[0]) {
    return absl::InvalidArgumentError(absl::StrCat("cannot slice rows [", begin, ", ", end,
                                                   ") of an array of shape ", shape_.ToString()));
  }
  Shape shape = shape_;
  shape[0] = end - begin;
  const int64_t row_bytes = shape_.Product(1, shape_.rank()) * SizeOf(dtype_);
  return NDArray(storage_, byte_offset_ + begin * row_bytes, std::move(shape), dtype_);
}

absl::StatusOr<NDArray> NDArray::At(int64_t index) const {
  if (is_null() || shape_.rank() == 0 || index < 0 || index >= shape_[0]) {
    return absl::InvalidArgumentError(
        absl::StrCat("row ", index, " is out of range for an array of shape ", shape_.ToString()));
  }
  Shape shape = shape_;
  shape.erase(0);
  const int64_t row_bytes = shape.num_elements() * SizeOf(dtype_);
  return NDArray(storage_, byte_offset_ + index * row_bytes, std::move(shape), dtype_);
}

absl::StatusOr<NDArray> NDArray::Reshape(Shape shape) const {
  COOPER_ASSIGN_OR_RETURN(shape, Shape::Create(shape.dims()));
  if (is_null() || shape.num_elements() != size()) {
    return absl::InvalidArgumentError(absl::StrCat("cannot reshape ", shape_.ToString(), " to ",
                                                   shape.ToString(), ": ", size(), " and ",
                                                   shape.num_elements(), " elements"));
  }
  return NDArray(storage_, byte_offset_, std::move(shape), dtype_);
}

absl::Status NDArray::CopyFrom(const NDArray& source) const {
  if (is_null() || source.is_null()) {
    return absl::FailedPreconditionError("copy to or from a null array");
  }
  if (shape_ != source.shape_) {
    return absl::InvalidArgumentError(absl::StrCat("cannot copy an array of shape ",
                                                   source.shape_.ToString(), " into one of shape ",
                                                   shape_.ToString()));
  }
  if (dtype_ == source.dtype_) {
    return CopyBytes(raw_data(), context(), source.raw_data(), source.context(), size_bytes());
  }
  if (context().is_cpu() && source.context().is_cpu()) {
    ConvertElements(dtype_, raw_data(), source.dtype_, source.raw_data(), size());
    return absl::OkStatus();
  }
  // Elements are converted on the CPU side: devices copy bytes.
  COOPER_ASSIGN_OR_RETURN(NDArray on_cpu, source.CopyTo(Context::Cpu()));
  COOPER_ASSIGN_OR_RETURN(NDArray converted, Empty(shape_, dtype_));
  ConvertElements(dtype_, converted.raw_data(), on_cpu.dtype_, on_cpu.raw_data(), size());
  return CopyBytes(raw_data(), context(), converted.raw_data(), Context::Cpu(), size_bytes());
}

absl::Status NDArray::Fill(double value) const {
  if (is_null()) return absl::FailedPreconditionError("fill of a null array");
  if (size() == 0) return absl::OkStatus();
  if (value == 0 && !std::signbit(value)) {
    COOPER_ASSIGN_OR_RETURN(Device * device, FindDevice(context()));
    return device->FillZero(raw_data(), context(), size_bytes());
  }
  return cooper::Fill({raw_data(), dtype_, size(), context()}, value);
}

absl::StatusOr<NDArray> NDArray::CopyTo(Context context) const {
  COOPER_ASSIGN_OR_RETURN(NDArray copy, Empty(shape_, dtype_, context));
  COOPER_RETURN_IF_ERROR(copy.CopyFrom(*this));
  return copy;
}

absl::StatusOr<NDArray> NDArray::AsType(DType dtype) const {
  COOPER_ASSIGN_OR_RETURN(NDArray copy, Empty(shape_, dtype, context()));
  COOPER_RETURN_IF_ERROR(copy.CopyFrom(*this));
  return copy;
}

absl::Status NDArray::CopyOut(DType dtype, void* out) const {
  if (is_null()) return absl::FailedPreconditionError("the array is null");
  NDArray on_cpu = *this;
  if (!context().is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(on_cpu, CopyTo(Context::Cpu()));
  }
  ConvertElements(dtype, out, dtype_, on_cpu.raw_data(), size());
  return absl::OkStatus();
}

std::string NDArray::ToString() const {
  if (is_null()) return "null array";
  return absl::StrCat(shape_.ToString(), " ", DTypeName(dtype_), " ", context().ToString());
}

absl::StatusOr<NDArray> ConcatRows(absl::Span<const NDArray> arrays) {
  if (arrays.empty()) return absl::InvalidArgumentError("no arrays to join");
  int64_t rows = 0;
  Shape expected = arrays[0].shape();
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Shape& shape = arrays[i].shape();
    if (shape.rank() > 0 && shape.rank() == expected.rank()) {
      expected[0] = shape[0];
      rows += shape[0];
    }
    if (arrays[i].is_null() || shape.rank() == 0 || shape != expected ||
        arrays[i].dtype() != arrays[0].dtype()) {
      return absl::InvalidArgumentError(absl::StrCat("cannot join the rows of array ", i, ", ",
                                                     arrays[i].ToString(), ", and of array 0, ",
                                                     arrays[0].ToString()));
    }
  }
  expected[0] = rows;
  COOPER_ASSIGN_OR_RETURN(NDArray all,
                          NDArray::Empty(expected, arrays[0].dtype(), arrays[0].context()));
  rows = 0;
  for (const NDArray& array : arrays) {
    const int64_t begin = std::exchange(rows, rows + array.shape()[0]);
    COOPER_ASSIGN_OR_RETURN(const NDArray place, all.Slice(begin, rows));
    COOPER_RETURN_IF_ERROR(place.CopyFrom(array));
  }
  return all;
}

}  // namespace cooper
