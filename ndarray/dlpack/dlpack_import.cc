#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "ndarray/array/device.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/dlpack/dlpack.h"
#include "ndarray/dlpack/dlpack_dtype.h"
#include "ndarray/dlpack/dlpack_layout.h"

namespace cooper {
namespace {

// The largest number of axes, which guards against structs that were never filled in.
constexpr int32_t kMaxAxes = 64;

// A tensor whose fields have been checked.
struct Elements {
  char* data = nullptr;  // the first element
  Context context;
  Shape shape;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> strides;  // in elements
  // The addresses of all elements, in bytes from `data`: [begin, end).
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size_bytes() const { return shape.num_elements() * SizeOf(dtype); }
};

// Sets begin and end. kInvalidArgument if the distance between two elements is beyond int64.
absl::Status FindRange(Elements* elements) {
  const int64_t item = SizeOf(elements->dtype);
  int64_t low = 0, high = 0;  // in elements
  for (int axis = 0; axis < elements->shape.rank(); ++axis) {
    const int64_t stride = elements->strides[axis];
    int64_t reach = 0;
    int64_t& bound = stride < 0 ? low : high;
    if (__builtin_mul_overflow(elements->shape[axis] - 1, stride, &reach) ||
        __builtin_add_overflow(bound, reach, &bound)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "shape ", elements->shape.ToString(), " with strides (",
          absl::StrJoin(elements->strides, ", "), ") reaches beyond the address space"));
    }
  }
  const int64_t most = std::numeric_limits<int64_t>::max() / item / 2;
  if (low < -most || high >= most) {
    return absl::InvalidArgumentError(absl::StrCat(
        "strides (", absl::StrJoin(elements->strides, ", "), ") reach beyond the address space"));
  }
  elements->begin = low * item;
  elements->end = (high + 1) * item;
  return absl::OkStatus();
}

absl::StatusOr<Elements> Check(const dlpack::Tensor& tensor) {
  Elements elements;
  COOPER_ASSIGN_OR_RETURN(elements.dtype, FromDLPackDType(tensor.dtype));
  if (tensor.ndim < 0 || tensor.ndim > kMaxAxes) {
    return absl::InvalidArgumentError(
        absl::StrCat("ndim is ", tensor.ndim, ", expected 0 to ", kMaxAxes));
  }
  if (tensor.ndim > 0 && tensor.shape == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("the shape of a tensor of ", tensor.ndim, " axes is null"));
  }
  COOPER_ASSIGN_OR_RETURN(elements.shape,
                          Shape::Create(absl::MakeConstSpan(tensor.shape, tensor.ndim)));
  COOPER_ASSIGN_OR_RETURN(elements.context, FromDLPackDevice(tensor.device));
  const int rank = elements.shape.rank();
  for (int axis = 0; axis < rank; ++axis) {
    elements.strides.push_back(tensor.strides != nullptr ? tensor.strides[axis]
                                                         : elements.shape.Product(axis + 1, rank));
  }
  if (elements.shape.num_elements() == 0) return elements;  // neither data nor strides are used
  if (tensor.data == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("data is null for a tensor of shape ", elements.shape.ToString()));
  }
  if (tensor.byte_offset >
      std::numeric_limits<uintptr_t>::max() - reinterpret_cast<uintptr_t>(tensor.data)) {
    return absl::InvalidArgumentError(
        absl::StrCat("byte_offset ", tensor.byte_offset, " is beyond the address space"));
  }
  elements.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  COOPER_RETURN_IF_ERROR(FindRange(&elements));
  return elements;
}

bool IsRowMajor(const Elements& elements) {
  const int rank = elements.shape.rank();
  if (elements.shape.num_elements() == 0) return true;
  for (int axis = 0; axis < rank; ++axis) {
    if (elements.shape[axis] != 1 &&
        elements.strides[axis] != elements.shape.Product(axis + 1, rank)) {
      return false;
    }
  }
  return true;
}

bool HasOtherBools(const Elements& elements) {
  return elements.dtype == DType::kBool && elements.context.is_cpu() &&
         std::any_of(elements.data, elements.data + elements.size_bytes(),
                     [](char byte) { return byte != 0 && byte != 1; });
}

// Returns why an NDArray cannot share the elements, or nothing if it can.
std::string WhyNotShared(const Elements& elements, uint64_t flags) {
  if ((flags & dlpack::kReadOnly) != 0) return "the tensor is read-only";
  if (!IsRowMajor(elements)) {
    return absl::StrCat("the elements of shape ", elements.shape.ToString(), " have strides (",
                        absl::StrJoin(elements.strides, ", "), "), expected row-major order");
  }
  const auto item = static_cast<uintptr_t>(SizeOf(elements.dtype));
  const uintptr_t beyond = reinterpret_cast<uintptr_t>(elements.data) % item;
  if (beyond != 0) {
    return absl::StrCat("the address of the elements is ", beyond, " bytes beyond a multiple of ",
                        item, ", the size of a ", DTypeName(elements.dtype));
  }
  if (HasOtherBools(elements)) return "the tensor has bools other than 0 and 1";
  return "";
}

// Copies elements with any strides to row-major order. `data` is in CPU memory.
void Gather(const Elements& elements, const char* data, char* out) {
  const int64_t item = SizeOf(elements.dtype);
  const int rank = elements.shape.rank();
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  int64_t at = 0;  // in elements
  for (int64_t i = 0; i < elements.shape.num_elements(); ++i) {
    std::copy_n(data + at * item, item, out + i * item);
    for (int axis = rank - 1; axis >= 0; --axis) {
      at += elements.strides[axis];
      if (++index[axis] < elements.shape[axis]) break;
      at -= index[axis] * elements.strides[axis];
      index[axis] = 0;
    }
  }
}

absl::StatusOr<NDArray> Copy(const Elements& elements) {
  COOPER_ASSIGN_OR_RETURN(NDArray copy,
                          NDArray::Empty(elements.shape, elements.dtype, elements.context));
  if (copy.size() == 0) return copy;
  // Bools take the other way, on which they become 0 or 1.
  if (!elements.context.is_cpu() && IsRowMajor(elements) && elements.dtype != DType::kBool) {
    COOPER_RETURN_IF_ERROR(CopyBytes(copy.raw_data(), elements.context, elements.data,
                                     elements.context, elements.size_bytes()));
    // The tensor's deleter may be called next.
    COOPER_ASSIGN_OR_RETURN(DeviceQueue * queue, GetQueue(elements.context));
    COOPER_RETURN_IF_ERROR(queue->Synchronize());
    return copy;
  }
  NDArray gathered = copy;
  const char* data = elements.data;
  std::shared_ptr<Storage> range;  // all addresses that the tensor uses, in CPU memory
  if (!elements.context.is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(gathered, NDArray::Empty(elements.shape, elements.dtype));
    const int64_t bytes = elements.end - elements.begin;
    COOPER_ASSIGN_OR_RETURN(range, Storage::Allocate(bytes, Context::Cpu()));
    COOPER_RETURN_IF_ERROR(CopyBytes(range->data(), Context::Cpu(), elements.data + elements.begin,
                                     elements.context, bytes));
    data = static_cast<const char*>(range->data()) - elements.begin;
  }
  char* const out = static_cast<char*>(gathered.raw_data());
  Gather(elements, data, out);
  if (elements.dtype == DType::kBool) {
    std::transform(out, out + elements.size_bytes(), out, [](char byte) { return byte != 0; });
  }
  if (!elements.context.is_cpu()) COOPER_RETURN_IF_ERROR(copy.CopyFrom(gathered));
  return copy;
}

// Returns an owner that calls the tensor's deleter once work on the elements has ended.
template <typename Managed>
std::shared_ptr<void> OwnerOf(Managed* managed, Context context) {
  return std::shared_ptr<void>(managed, [context](void* data) {
    if (!context.is_cpu()) {
      const auto queue = GetQueue(context);
      // The queue keeps an error of that work and returns it to its next caller.
      if (queue.ok()) (*queue)->Synchronize().IgnoreError();
    }
    auto* const tensor = static_cast<Managed*>(data);
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  });
}

template <typename Managed>
absl::StatusOr<NDArray> Import(Managed* managed, uint64_t flags, const FromDLPackOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const Elements elements, Check(managed->tensor));
  const std::string why = options.copy == DLPackCopy::kAlways ? "" : WhyNotShared(elements, flags);
  if (!why.empty() && options.copy == DLPackCopy::kNever) {
    return absl::InvalidArgumentError(
        absl::StrCat(why, "; copy the elements with FromDLPackOptions::copy, or export others"));
  }
  if (!why.empty() || options.copy == DLPackCopy::kAlways) {
    COOPER_ASSIGN_OR_RETURN(NDArray copy, Copy(elements));
    if (managed->deleter != nullptr) managed->deleter(managed);
    return copy;
  }
  return NDArray::View(Storage::Wrap(elements.data, elements.size_bytes(), elements.context,
                                     OwnerOf(managed, elements.context)),
                       0, elements.shape, elements.dtype);
}

}  // namespace

absl::StatusOr<NDArray> FromDLPack(DLManagedTensor* tensor, const FromDLPackOptions& options) {
  auto* const managed = reinterpret_cast<dlpack::ManagedTensor*>(tensor);
  if (managed == nullptr) return absl::InvalidArgumentError("DLPack: the tensor is null");
  return AddContext(Import(managed, 0, options), "DLPack");
}

absl::StatusOr<NDArray> FromDLPack(DLManagedTensorVersioned* tensor,
                                   const FromDLPackOptions& options) {
  auto* const managed = reinterpret_cast<dlpack::ManagedTensorVersioned*>(tensor);
  if (managed == nullptr) return absl::InvalidArgumentError("DLPack: the tensor is null");
  if (managed->version.major != dlpack::kMajorVersion) {
    return absl::UnimplementedError(absl::StrCat(
        "DLPack: the tensor has version ", managed->version.major, ".", managed->version.minor,
        ", expected ", dlpack::kMajorVersion, ".x; ask the exporter for that version"));
  }
  return AddContext(Import(managed, managed->flags, options), "DLPack");
}

}  // namespace cooper
