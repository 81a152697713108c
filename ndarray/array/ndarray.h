#ifndef COOPER_NDARRAY_ARRAY_NDARRAY_H_
#define COOPER_NDARRAY_ARRAY_NDARRAY_H_

// A dense, row-major array: a cheap handle on shared Storage. Copying a handle copies no elements;
// Slice, At and Reshape give views of the same elements. As with a pointer, a const NDArray can
// still be written through.
//
// Threads may use handles of one array at the same time, but accesses to its elements are not
// synchronized on a CPU; on a device, the queue of the device orders the work on an array
// (queue_of.h).

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/context.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/shape.h"

namespace cooper {

// Elements are contiguous: strides follow from the shape.
class NDArray {
 public:
  // Holds no array: is_null().
  NDArray() = default;

  // Returns an array of uninitialised elements. kInvalidArgument for a shape that Shape::Create
  // refuses; else the errors of Storage::Allocate.
  static absl::StatusOr<NDArray> Empty(Shape shape, DType dtype = DType::kFloat32,
                                       Context context = Context::Cpu());
  // Return an array in which every element is zero, or `value` converted to the dtype. Errors are
  // those of Empty and of filling on the device.
  static absl::StatusOr<NDArray> Zeros(Shape shape, DType dtype = DType::kFloat32,
                                       Context context = Context::Cpu());
  static absl::StatusOr<NDArray> Full(Shape shape, double value, DType dtype = DType::kFloat32,
                                      Context context = Context::Cpu());

  // Return an array on the CPU with a copy of `values`, whose dtype follows from T.
  // kInvalidArgument if their number is not that of `shape`; else the errors of Empty.
  template <typename T>
  static absl::StatusOr<NDArray> FromSpan(const Shape& shape, absl::Span<const T> values) {
    return FromBytes(shape, DTypeOf<T>(), values.data(), static_cast<int64_t>(values.size()));
  }
  template <typename T>
  static absl::StatusOr<NDArray> FromVector(const Shape& shape, const std::vector<T>& values) {
    return FromSpan<T>(shape, absl::MakeConstSpan(values));
  }

  // Returns a view of `storage` that begins at `byte_offset`. The view shares ownership of the
  // storage. kInvalidArgument if the storage is null or the array does not fit into it.
  // `byte_offset` should be a multiple of the element size; this is not checked.
  static absl::StatusOr<NDArray> View(std::shared_ptr<Storage> storage, int64_t byte_offset,
                                      Shape shape, DType dtype);

  // Returns whether the handle holds no array. The accessors down to raw_data and ToString accept a
  // null array; all other calls return an error.
  bool is_null() const { return storage_ == nullptr; }
  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  // Returns the context of the storage; Context::Cpu() for a null array.
  Context context() const { return storage_ == nullptr ? Context::Cpu() : storage_->context(); }
  // Return the number of elements, and of their bytes; 0 for a null array.
  int64_t size() const { return is_null() ? 0 : shape_.num_elements(); }
  int64_t size_bytes() const { return size() * SizeOf(dtype_); }
  // Returns the storage, which may be larger than this array; null for a null array.
  const std::shared_ptr<Storage>& storage() const { return storage_; }

  // Returns a pointer to the first element, in device memory if the context is a device; null for a
  // null array.
  void* raw_data() const {
    return storage_ == nullptr ? nullptr : static_cast<char*>(storage_->data()) + byte_offset_;
  }

  // Returns the elements, which are valid as long as the storage: keep a handle. kInvalidArgument,
  // naming both dtypes, if the elements are not `T`s; kFailedPrecondition if they are not in CPU
  // memory or the array is null.
  template <typename T>
  absl::StatusOr<absl::Span<T>> Data() const {
    absl::Status status = CheckAccess(DTypeOf<T>());
    if (!status.ok()) return status;
    return absl::Span<T>(static_cast<T*>(raw_data()), static_cast<size_t>(size()));
  }

  // Return views, in constant time: rows [begin, end) of the first axis; row `index` without the
  // first axis; another shape with as many elements. kInvalidArgument, with the arguments and the
  // array's shape, if there is no such view.
  absl::StatusOr<NDArray> Slice(int64_t begin, int64_t end) const;
  absl::StatusOr<NDArray> At(int64_t index) const;
  absl::StatusOr<NDArray> Reshape(Shape shape) const;

  // Overwrites the elements with those of `source`, converting the dtype (dtype.h) and copying
  // between contexts. If both differ, elements are converted on the CPU. Waits for pending work on
  // both arrays (Device::Copy). On a CPU the two may overlap if their dtypes are equal. Errors:
  // kInvalidArgument if the shapes differ, kFailedPrecondition for a null array.
  absl::Status CopyFrom(const NDArray& source) const;
  // Overwrites every element with `value`, converted to the dtype. kFailedPrecondition for a null
  // array.
  absl::Status Fill(double value) const;

  // Return new arrays with elements of their own: on the same context, on another one, or of
  // another dtype. Errors: those of Empty and CopyFrom.
  absl::StatusOr<NDArray> Copy() const { return CopyTo(context()); }
  absl::StatusOr<NDArray> CopyTo(Context context) const;
  absl::StatusOr<NDArray> AsType(DType dtype) const;

  // Returns all elements in row-major order as `T`s, converted and copied to the host from any
  // device. kFailedPrecondition for a null array.
  template <typename T>
  absl::StatusOr<std::vector<T>> ToVector() const {
    std::vector<T> values(static_cast<size_t>(size()));
    absl::Status status = CopyOut(DTypeOf<T>(), values.data());
    if (!status.ok()) return status;
    return values;
  }

  // Describes the array without its elements, for messages: "(2, 3) float32 cpu(0)".
  std::string ToString() const;

 private:
  NDArray(std::shared_ptr<Storage> storage, int64_t byte_offset, Shape shape, DType dtype)
      : storage_(std::move(storage)),
        byte_offset_(byte_offset),
        shape_(std::move(shape)),
        dtype_(dtype) {}

  static absl::StatusOr<NDArray> FromBytes(const Shape& shape, DType dtype, const void* data,
                                           int64_t count);
  absl::Status CheckAccess(DType dtype) const;
  absl::Status CopyOut(DType dtype, void* out) const;

  std::shared_ptr<Storage> storage_;
  int64_t byte_offset_ = 0;
  Shape shape_;
  DType dtype_ = DType::kFloat32;
};

// Returns one array, on the context of the first, with the rows (slices of the first axis) of all
// arrays in order. kInvalidArgument if `arrays` is empty and, naming the array at fault, if one is
// null or a scalar or differs from the first in dtype or in an axis other than the first.
absl::StatusOr<NDArray> ConcatRows(absl::Span<const NDArray> arrays);

}  // namespace cooper

#endif  // COOPER_NDARRAY_ARRAY_NDARRAY_H_
