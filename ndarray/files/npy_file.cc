#include "ndarray/files/npy_file.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

// Reverses the bytes of each element.
void SwapBytes(const NDArray& array) {
  char* const data = static_cast<char*>(array.raw_data());
  const int64_t item = SizeOf(array.dtype());
  for (int64_t at = 0; at < array.size_bytes(); at += item)
    std::reverse(data + at, data + at + item);
}

// Makes each bool 0 or 1, as NumPy's casts do.
void NormalizeBools(const NDArray& array) {
  char* const data = static_cast<char*>(array.raw_data());
  std::transform(data, data + array.size_bytes(), data,
                 [](char byte) { return static_cast<char>(byte != 0); });
}

// Returns elements in C order of which `source` has those in Fortran order, and the shape.
absl::StatusOr<NDArray> FromFortranOrder(const NDArray& source) {
  const Shape& shape = source.shape();
  COOPER_ASSIGN_OR_RETURN(const NDArray array, NDArray::Empty(shape, source.dtype()));
  const int64_t item = SizeOf(source.dtype());
  const char* const in = static_cast<const char*>(source.raw_data());
  char* out = static_cast<char*>(array.raw_data());
  std::vector<int64_t> index(static_cast<size_t>(shape.rank()), 0);
  int64_t at = 0;  // the place of the index in the source
  for (int64_t i = 0; i < source.size(); ++i) {
    std::memcpy(out, in + at * item, static_cast<size_t>(item));
    out += item;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      const int64_t stride = shape.Product(0, axis);
      at += stride;
      if (++index[axis] < shape[axis]) break;
      at -= index[axis] * stride;
      index[axis] = 0;
    }
  }
  return array;
}

// Writes the parts of a file: header and elements.
template <typename Sink>
absl::Status Write(const NDArray& array, Sink sink) {
  if (array.is_null()) return absl::InvalidArgumentError("cannot save a null array");
  COOPER_ASSIGN_OR_RETURN(const std::string header, NpyHeaderBytes(array.shape(), array.dtype()));
  COOPER_ASSIGN_OR_RETURN(const NDArray on_cpu, OnCpu(array));
  COOPER_RETURN_IF_ERROR(sink(header));
  return sink(absl::string_view(static_cast<const char*>(on_cpu.raw_data()),
                                static_cast<size_t>(on_cpu.size_bytes())));
}

}  // namespace

absl::StatusOr<NpyHeader> ReadNpyHeader(int64_t bytes, ReadBytes read) {
  constexpr size_t kShortest = 10;
  char preamble[kMaxNpyPreamble] = {};
  const size_t there = std::min<size_t>(static_cast<size_t>(bytes), kShortest);
  COOPER_RETURN_IF_ERROR(read(preamble, static_cast<int64_t>(there)));
  COOPER_ASSIGN_OR_RETURN(const size_t size, NpyPreambleSize({preamble, there}));
  const auto cut_off = [bytes](absl::string_view what, uint64_t end) {
    return absl::InvalidArgumentError(
        absl::StrCat("offset ", bytes, ": the file ends here, but ", what, " ends at ", end));
  };
  if (static_cast<uint64_t>(bytes) < size) return cut_off("the length of the header", size);
  COOPER_RETURN_IF_ERROR(read(preamble + there, static_cast<int64_t>(size - there)));
  COOPER_ASSIGN_OR_RETURN(const size_t text_size, NpyTextSize({preamble, size}));
  const size_t data_at = size + text_size;
  if (static_cast<uint64_t>(bytes) < data_at) return cut_off("the header", data_at);
  std::string text(text_size, '\0');
  COOPER_RETURN_IF_ERROR(read(text.data(), static_cast<int64_t>(text_size)));
  COOPER_ASSIGN_OR_RETURN(NpyHeader header, ParseNpyText(text, size));
  const uint64_t data_bytes = static_cast<uint64_t>(bytes) - data_at;
  if (data_bytes != static_cast<uint64_t>(header.data_bytes())) {
    return absl::InvalidArgumentError(absl::StrCat(
        "offset ", data_at, ": ", data_bytes, " bytes follow, expected ", header.data_bytes(),
        " for an array of shape ", header.shape.ToString(), " and dtype ", DTypeName(header.dtype),
        data_bytes > static_cast<uint64_t>(header.data_bytes())
            ? "; several arrays belong into an .npz file"
            : "; the copy or download was cut off: get the file again"));
  }
  return header;
}

absl::StatusOr<NDArray> ReadNpy(int64_t bytes, ReadBytes read) {
  COOPER_ASSIGN_OR_RETURN(const NpyHeader header, ReadNpyHeader(bytes, read));
  COOPER_ASSIGN_OR_RETURN(NDArray array, NDArray::Empty(header.shape, header.dtype));
  COOPER_RETURN_IF_ERROR(read(array.raw_data(), array.size_bytes()));
  if (header.big_endian && SizeOf(header.dtype) > 1) SwapBytes(array);
  if (header.dtype == DType::kBool) NormalizeBools(array);
  if (header.fortran_order && header.shape.rank() > 1) return FromFortranOrder(array);
  return array;
}

absl::StatusOr<NDArray> ParseNpy(absl::string_view bytes) {
  const auto size = static_cast<int64_t>(bytes.size());
  return ReadNpy(size, [&bytes](void* out, int64_t count) {
    if (count > 0) std::memcpy(out, bytes.data(), static_cast<size_t>(count));
    bytes.remove_prefix(static_cast<size_t>(count));
    return absl::OkStatus();
  });
}

absl::StatusOr<NDArray> LoadNpy(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const MappedFile file, MapFile(path));
  return AddContext(
      ParseNpy({static_cast<const char*>(file.data.get()), static_cast<size_t>(file.bytes)}), "'",
      path, "'");
}

absl::Status SaveNpy(const std::string& path, const NDArray& array) {
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  COOPER_RETURN_IF_ERROR(AddContext(
      Write(array, [&](absl::string_view bytes) { return file.Append(bytes); }), "'", path, "'"));
  return file.Commit();
}

absl::StatusOr<std::string> SerializeNpy(const NDArray& array) {
  std::string all;
  COOPER_RETURN_IF_ERROR(Write(array, [&all](absl::string_view bytes) {
    all.append(bytes.data(), bytes.size());
    return absl::OkStatus();
  }));
  return all;
}

}  // namespace cooper
