#include <cstring>

#include "absl/strings/str_cat.h"
#include "ndarray/atomic_file.h"
#include "ndarray/on_cpu.h"
#include "ndarray/params_file.h"
#include "ndarray/params_format.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

template <typename T>
void AppendNumber(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Gives a file's bytes piece by piece to `sink`, so that a large model is not held twice.
template <typename Sink>
class ParamsWriter {
 public:
  explicit ParamsWriter(Sink sink) : sink_(std::move(sink)) {}

  absl::Status Begin(uint64_t count) {
    std::string header;
    AppendNumber(kParamsListMagic, &header);
    AppendNumber(uint64_t{0}, &header);
    AppendNumber(count, &header);
    return sink_(header);
  }

  absl::Status Array(const NDArray& array) {
    if (array.shape().rank() > static_cast<int>(kMaxRank)) {
      return absl::InvalidArgumentError(absl::StrCat("an array has ", array.shape().rank(),
                                                     " dimensions, a file's at most ", kMaxRank));
    }
    COOPER_ASSIGN_OR_RETURN(const NDArray on_cpu, OnCpu(array));
    std::string header;
    AppendNumber(array.shape().rank() == 0 || array.size() == 0 ? kArrayV3Magic : kArrayV2Magic,
                 &header);
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
};

template <typename Sink>
absl::Status WriteNamed(const NamedArrays& arrays, Sink sink) {
  ParamsWriter<Sink> writer(std::move(sink));
  COOPER_RETURN_IF_ERROR(writer.Begin(arrays.size()));
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
  COOPER_RETURN_IF_ERROR(writer.Begin(arrays.size()));
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
