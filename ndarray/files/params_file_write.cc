#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/atomic_file.h"
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

  // Selects the version for `arrays`. All entries have one version, since MXNet reads no list that
  // mixes both. A scalar needs V3, which MXNet reads under np_shape only.
  template <typename Arrays, typename ArrayOf>
  absl::Status Begin(const Arrays& arrays, const ArrayOf& array_of) {
    const bool has_scalar = absl::c_any_of(arrays, [&](const auto& entry) {
      const NDArray& array = array_of(entry);
      return !array.is_null() && array.shape().rank() == 0;
    });
    version_ = has_scalar ? kArrayV3Magic : kArrayV2Magic;
    std::string header;
    AppendNumber(kParamsListMagic, &header);
    AppendNumber(uint64_t{0}, &header);
    AppendNumber(static_cast<uint64_t>(arrays.size()), &header);
    return sink_(header);
  }

  absl::Status Array(const NDArray& array) {
    if (array.shape().rank() > static_cast<int>(kMaxRank)) {
      return absl::InvalidArgumentError(absl::StrCat("an array has ", array.shape().rank(),
                                                     " dimensions, a file's at most ", kMaxRank));
    }
    COOPER_ASSIGN_OR_RETURN(const NDArray on_cpu, OnCpu(array));
    std::string header;
    AppendNumber(version_, &header);
    AppendNumber(static_cast<int32_t>(StorageType::kDefault), &header);
    AppendNumber(static_cast<uint32_t>(array.shape().rank()), &header);
    for (int64_t extent : array.shape()) AppendNumber(extent, &header);
    AppendNumber(static_cast<int32_t>(DeviceType::kCpu), &header);
    AppendNumber(int32_t{0}, &header);
    AppendNumber(static_cast<int32_t>(array.dtype()), &header);
    COOPER_RETURN_IF_ERROR(sink_(header));
    return sink_(absl::string_view(static_cast<const char*>(on_cpu.raw_data()),
                                   static_cast<size_t>(on_cpu.size_bytes())));
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
  Sink sink_;
  uint32_t version_ = kArrayV2Magic;
};

template <typename Sink>
absl::Status WriteNamed(const NamedArrays& arrays, Sink sink) {
  ParamsWriter<Sink> writer(std::move(sink));
  COOPER_RETURN_IF_ERROR(
      writer.Begin(arrays, [](const auto& entry) -> const NDArray& { return entry.second; }));
  for (const auto& [name, array] : arrays) {
    if (array.is_null()) {
      return absl::InvalidArgumentError(absl::StrCat("cannot save '", name, "': it is null"));
    }
    COOPER_RETURN_IF_ERROR(writer.Array(array));
  }
  COOPER_RETURN_IF_ERROR(writer.BeginNames(arrays.size()));
  for (const auto& [name, array] : arrays) COOPER_RETURN_IF_ERROR(writer.Name(name));
  return absl::OkStatus();
}

}  // namespace

absl::Status SaveNamedArrays(const std::string& path, const NamedArrays& arrays) {
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  COOPER_RETURN_IF_ERROR(
      WriteNamed(arrays, [&](absl::string_view bytes) { return file.Append(bytes); }));
  return file.Commit();
}

absl::Status SaveArrays(const std::string& path, const std::vector<NDArray>& arrays) {
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  ParamsWriter writer([&](absl::string_view bytes) { return file.Append(bytes); });
  COOPER_RETURN_IF_ERROR(
      writer.Begin(arrays, [](const NDArray& array) -> const NDArray& { return array; }));
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].is_null()) {
      return absl::InvalidArgumentError(absl::StrCat("cannot save array ", i, ": it is null"));
    }
    COOPER_RETURN_IF_ERROR(writer.Array(arrays[i]));
  }
  COOPER_RETURN_IF_ERROR(writer.BeginNames(0));
  return file.Commit();
}

absl::StatusOr<std::string> SerializeNamedArrays(const NamedArrays& arrays) {
  std::string bytes;
  COOPER_RETURN_IF_ERROR(WriteNamed(arrays, [&](absl::string_view piece) {
    bytes.append(piece.data(), piece.size());
    return absl::OkStatus();
  }));
  return bytes;
}

}  // namespace cooper
