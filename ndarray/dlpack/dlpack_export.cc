#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "ndarray/array/device.h"
#include "ndarray/array/queue_of.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/dlpack/dlpack.h"
#include "ndarray/dlpack/dlpack_dtype.h"
#include "ndarray/dlpack/dlpack_layout.h"

namespace cooper {
namespace {

// A tensor and everything that it points to. The deleter destroys all of it.
template <typename Managed>
struct Exported {
  Managed managed = {};
  NDArray array;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
};

template <typename Managed>
void Delete(Managed* managed) {
  delete static_cast<Exported<Managed>*>(managed->manager_ctx);
}

template <typename Managed>
absl::StatusOr<std::unique_ptr<Exported<Managed>>> Export(const NDArray& array) {
  if (array.is_null()) return absl::FailedPreconditionError("cannot export a null array");
  const Context context = array.context();
  if (!context.is_cpu()) {
    COOPER_ASSIGN_OR_RETURN(DeviceQueue * queue, GetQueue(context));
    COOPER_RETURN_IF_ERROR(queue->Synchronize());
  }
  auto exported = std::make_unique<Exported<Managed>>();
  exported->array = array;
  const Shape& shape = array.shape();
  exported->shape.assign(shape.begin(), shape.end());
  for (int axis = 0; axis < shape.rank(); ++axis) {
    exported->strides.push_back(shape.Product(axis + 1, shape.rank()));
  }
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = &Delete<Managed>;
  exported->managed.tensor = {.data = array.size() == 0 ? nullptr : array.raw_data(),
                              .device = context.is_cpu()
                                            ? dlpack::Device{dlpack::kCpu, 0}
                                            : dlpack::Device{dlpack::kCuda, context.device_id},
                              .ndim = shape.rank(),
                              .dtype = ToDLPackDType(array.dtype()),
                              .shape = exported->shape.data(),
                              .strides = exported->strides.data(),
                              .byte_offset = 0};
  return exported;
}

template <typename Managed>
void CallDeleter(Managed* managed) {
  if (managed->deleter != nullptr) managed->deleter(managed);
}

}  // namespace

void DLPackDeleter::operator()(DLManagedTensor* tensor) const {
  CallDeleter(reinterpret_cast<dlpack::ManagedTensor*>(tensor));
}

void DLPackDeleter::operator()(DLManagedTensorVersioned* tensor) const {
  CallDeleter(reinterpret_cast<dlpack::ManagedTensorVersioned*>(tensor));
}

absl::StatusOr<DLManagedTensorPtr> ToDLPack(const NDArray& array) {
  COOPER_ASSIGN_OR_RETURN(auto exported, Export<dlpack::ManagedTensor>(array));
  return DLManagedTensorPtr(reinterpret_cast<DLManagedTensor*>(&exported.release()->managed));
}

absl::StatusOr<DLManagedTensorVersionedPtr> ToDLPackVersioned(const NDArray& array,
                                                              const ToDLPackOptions& options) {
  NDArray source = array;
  if (options.copy && !array.is_null()) {
    COOPER_ASSIGN_OR_RETURN(source, array.Copy());
  }
  COOPER_ASSIGN_OR_RETURN(auto exported, Export<dlpack::ManagedTensorVersioned>(source));
  dlpack::ManagedTensorVersioned& managed = exported.release()->managed;
  managed.version = {dlpack::kMajorVersion, dlpack::kMinorVersion};
  managed.flags =
      (options.read_only ? dlpack::kReadOnly : 0) | (options.copy ? dlpack::kIsCopied : 0);
  return DLManagedTensorVersionedPtr(reinterpret_cast<DLManagedTensorVersioned*>(&managed));
}

}  // namespace cooper
