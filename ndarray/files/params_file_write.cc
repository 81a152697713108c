#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"
#include "ndarray/files/params_format.h"

namespace cooper {
namespace {

template <typename T>
void AppendNumber(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Writes a file's bytes to `sink` in pieces, so that a large model is not held twice.
template <typename Sink>
class ParamsWriter {
 public:
  explicit ParamsWriter(Sink sink) : sink_(std::move(sink)) {}

  // Selects the version for `arrays`; params_file.h has the rule.
  template <typename Arrays, typename ArrayOf>
  absl::Status Begin(const Arrays& arrays, const ParamsFormat& format, const ArrayOf& array_of) {
    const bool is_dense = format.sparse.empty();
    bool np_shape = is_dense && format.np_shape;
    for (const auto& entry : arrays) {
      const NDArray& array = array_of(entry);
      if (array.is_null()) continue;
      np_shape |= array.shape().rank() == 0 || (is_dense && array.size() == 0);
    }
    version_ = np_shape ? kArrayV3Magic : kArrayV2Magic;
    std::string header;
    AppendNumber(kParamsListMagic, &header);
    AppendNumber(uint64_t{0}, &header);
    AppendNumber(static_cast<uint64_t>(arrays.size()), &header);
    return sink_(header);
  }

  absl::Status Array(const NDArray& array) {
    COOPER_RETURN_IF_ERROR(CheckRank(array.shape()));
    std::string header;
    AppendNumber(version_, &header);
    AppendNumber(static_cast<int32_t>(StorageType::kDefault), &header);
    AppendShape(array.shape(), &header);
    AppendContextAndDType(array.dtype(), &header);
    COOPER_RETURN_IF_ERROR(sink_(header));
    return Elements(array);
  }

  absl::Status Sparse(const ParamsEntry& entry) {
    const SparseLayout& layout = *entry.sparse;
    COOPER_RETURN_IF_ERROR(CheckRank(layout.shape));
    std::string header;
    AppendNumber(version_, &header);
    AppendNumber(static_cast<int32_t>(layout.type), &header);
    AppendShape(entry.array.shape(), &header);
    AppendShape(layout.shape, &header);
    AppendContextAndDType(entry.array.dtype(), &header);
    std::vector<const NDArray*> indices = {&layout.indices};
    if (layout.type == StorageType::kCsr) indices.insert(indices.begin(), &layout.indptr);
    for (const NDArray* array : indices) {
      AppendNumber(static_cast<int32_t>(array->dtype()), &header);
      AppendShape(array->shape(), &header);
    }
    COOPER_RETURN_IF_ERROR(sink_(header));
    COOPER_RETURN_IF_ERROR(Elements(entry.array));
    for (const NDArray* array : indices) COOPER_RETURN_IF_ERROR(Elements(*array));
    return absl::OkStatus();
  }

  absl::Status BeginNames(uint64_t count) {
    std::string header;
    AppendNumber(count, &header);
    return sink_(header);
  }

  absl::Status Name(const std::string& name) {
    std::string record;
    AppendNumber(static_cast<uint64_t>(name.size()), &record);
    return sink_(absl::StrCat(record, name));
  }

 private:
  static absl::Status CheckRank(const Shape& shape) {
    if (shape.rank() <= static_cast<int>(kMaxRank)) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("an array has ", shape.rank(), " dimensions, a file's at most ", kMaxRank));
  }

  static void AppendShape(const Shape& shape, std::string* header) {
    AppendNumber(static_cast<uint32_t>(shape.rank()), header);
    for (const int64_t extent : shape) AppendNumber(extent, header);
  }

  static void AppendContextAndDType(DType dtype, std::string* header) {
    AppendNumber(static_cast<int32_t>(DeviceType::kCpu), header);
    AppendNumber(int32_t{0}, header);
    AppendNumber(static_cast<int32_t>(dtype), header);
  }

  absl::Status Elements(const NDArray& array) {
    COOPER_ASSIGN_OR_RETURN(const NDArray on_cpu, OnCpu(array));
    return sink_(absl::string_view(static_cast<const char*>(on_cpu.raw_data()),
                                   static_cast<size_t>(on_cpu.size_bytes())));
  }

  Sink sink_;
  uint32_t version_ = kArrayV2Magic;
};

template <typename Sink>
absl::Status WriteNamed(const NamedArrays& arrays, const ParamsFormat& format, Sink sink) {
  ParamsWriter<Sink> writer(std::move(sink));
  COOPER_RETURN_IF_ERROR(writer.Begin(
      arrays, format, [](const auto& entry) -> const NDArray& { return entry.second; }));
  for (const auto& [name, array] : arrays) {
    if (array.is_null()) {
      return absl::InvalidArgumentError(absl::StrCat("cannot save '", name, "': it is null"));
    }
    const auto layout = format.sparse.find(name);
    if (layout == format.sparse.end() || layout->second->shape != array.shape()) {
      COOPER_RETURN_IF_ERROR(writer.Array(array));
    } else {
      COOPER_ASSIGN_OR_RETURN(const ParamsEntry entry, ToSparse(array, *layout->second));
      COOPER_RETURN_IF_ERROR(writer.Sparse(entry));
    }
  }
  COOPER_RETURN_IF_ERROR(writer.BeginNames(arrays.size()));
  for (const auto& [name, array] : arrays) COOPER_RETURN_IF_ERROR(writer.Name(name));
  return absl::OkStatus();
}

}  // namespace

absl::Status SaveNamedArrays(const std::string& path, const NamedArrays& arrays,
                             const ParamsFormat& format) {
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  COOPER_RETURN_IF_ERROR(
      WriteNamed(arrays, format, [&](absl::string_view bytes) { return file.Append(bytes); }));
  return file.Commit();
}

absl::Status SaveArrays(const std::string& path, const std::vector<NDArray>& arrays) {
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  ParamsWriter writer([&](absl::string_view bytes) { return file.Append(bytes); });
  COOPER_RETURN_IF_ERROR(
      writer.Begin(arrays, {}, [](const NDArray& array) -> const NDArray& { return array; }));
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].is_null()) {
      return absl::InvalidArgumentError(absl::StrCat("cannot save array ", i, ": it is null"));
    }
    COOPER_RETURN_IF_ERROR(writer.Array(arrays[i]));
  }
  COOPER_RETURN_IF_ERROR(writer.BeginNames(0));
  return file.Commit();
}

absl::StatusOr<std::string> SerializeNamedArrays(const NamedArrays& arrays,
                                                 const ParamsFormat& format) {
  std::string bytes;
  COOPER_RETURN_IF_ERROR(WriteNamed(arrays, format, [&](absl::string_view piece) {
    bytes.append(piece.data(), piece.size());
    return absl::OkStatus();
  }));
  return bytes;
}

}  // namespace cooper
