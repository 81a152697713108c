#include "ndarray/files/params_file.h"

#include <cstdint>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ndarray/array/storage.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/context.h"
#include "ndarray/base/file_kind.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/byte_reader.h"
#include "ndarray/files/params_format.h"
#include "ndarray/files/read_array.h"

namespace cooper {
namespace {

// The bytes of the smallest array that is not null: V0 with one dimension and no elements.
constexpr uint64_t kMinArrayBytes = 20;
// A list of more arrays than this must not consist of null arrays alone.
constexpr uint64_t kFewArrays = 1 << 16;

// Reads the number of items that take at least `least_bytes` each.
absl::StatusOr<uint64_t> ReadCount(ByteReader& reader, uint64_t least_bytes,
                                   absl::string_view what) {
  COOPER_ASSIGN_OR_RETURN(uint64_t count, reader.Number<uint64_t>(what));
  if (count > reader.remaining() / least_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is ", count, ", but only ", reader.remaining(), " bytes are left"));
  }
  return count;
}

// Reads and checks the magic number of a list.
absl::Status TakeMagic(ByteReader& reader) {
  const std::string foreign = DescribeForeignFile(reader.rest(), FileKind::kParams);
  if (!foreign.empty()) {
    return absl::InvalidArgumentError(absl::StrCat("not a list of arrays (.params)", foreign,
                                                   " (expected 0x", absl::Hex(kParamsListMagic),
                                                   " at its beginning)"));
  }
  COOPER_ASSIGN_OR_RETURN(const uint64_t magic, reader.Number<uint64_t>("the header"));
  if (magic == kParamsListMagic) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("not a list of arrays (.params): it begins with 0x", absl::Hex(magic),
                   ", expected 0x", absl::Hex(kParamsListMagic)));
}

absl::StatusOr<ParamsList> ReadList(ByteReader reader) {
  COOPER_RETURN_IF_ERROR(TakeMagic(reader));
  COOPER_RETURN_IF_ERROR(reader.Take(8, "the header").status());
  COOPER_ASSIGN_OR_RETURN(uint64_t count, ReadCount(reader, 4, "the number of arrays"));
  // A null array takes 4 bytes of the file and thirty times as many in memory, so that a large list
  // may not consist of them.
  if (count > kFewArrays && count > reader.remaining() / kMinArrayBytes) {
    return absl::InvalidArgumentError(absl::StrCat("the number of arrays is ", count, ", but only ",
                                                   reader.remaining(),
                                                   " bytes are left: most arrays are null"));
  }
  ParamsList list;
  list.entries.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    COOPER_RETURN_IF_ERROR(
        AddContext(ReadArray(reader, &list.entries.emplace_back()), "array ", i, " of ", count));
  }
  COOPER_ASSIGN_OR_RETURN(uint64_t names, ReadCount(reader, 8, "the number of names"));
  if (names != 0 && names != count) {
    return absl::InvalidArgumentError(absl::StrCat(names, " names for ", count, " arrays"));
  }
  list.named = names != 0;
  for (uint64_t i = 0; i < names; ++i) {
    const std::string what = absl::StrCat("name ", i, " of ", names);
    COOPER_ASSIGN_OR_RETURN(uint64_t length, reader.Number<uint64_t>(what));
    COOPER_ASSIGN_OR_RETURN(absl::string_view name, reader.Take(length, what));
    list.entries[i].name.assign(name.data(), name.size());
  }
  return list;
}

// Returns the arrays by name, all of them dense. Sets `format` unless it is null.
absl::StatusOr<NamedArrays> DenseByName(ParamsList list, ParamsFormat* format) {
  if (!list.named && !list.entries.empty()) {
    return absl::InvalidArgumentError("its arrays have no names");
  }
  NamedArrays arrays;
  int64_t bytes_left = kMaxDenseBytes;
  for (ParamsEntry& entry : list.entries) {
    if (entry.array.is_null()) {
      return absl::InvalidArgumentError(
          absl::StrCat("array '", entry.name,
                       "' is null: it was saved before it had a shape and elements; give it some, "
                       "or leave it out, and save the file again"));
    }
    COOPER_ASSIGN_OR_RETURN(
        NDArray array, AddContext(ToDenseWithin(entry, &bytes_left), "array '", entry.name, "'"));
    if (format != nullptr) {
      format->np_shape |= entry.np_shape;
      if (entry.sparse != nullptr) format->sparse[entry.name] = std::move(entry.sparse);
    }
    arrays.emplace_back(std::move(entry.name), std::move(array));
  }
  return arrays;
}

}  // namespace

absl::StatusOr<ParamsList> ParseParams(absl::string_view bytes) {
  return ReadList(ByteReader(bytes));
}

absl::StatusOr<ParamsList> ReadParamsFile(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
  return AddContext(ParseParams(bytes), "'", path, "'");
}

absl::StatusOr<NamedArrays> LoadNamedArrays(const std::string& path, ParamsFormat* format) {
  COOPER_ASSIGN_OR_RETURN(ParamsList list, ReadParamsFile(path));
  return AddContext(DenseByName(std::move(list), format), "'", path, "'");
}

absl::Status CheckParamsFile(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const MappedFile file, MapFile(path));
  ByteReader reader(absl::string_view(static_cast<const char*>(file.data.get()),
                                      static_cast<size_t>(file.bytes)));
  return AddContext(TakeMagic(reader), "'", path, "'");
}

absl::StatusOr<NamedArrays> MapNamedArrays(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(MappedFile file, MapFile(path));
  std::shared_ptr<Storage> storage =
      Storage::Wrap(file.data.get(), file.bytes, Context::Cpu(0), file.data);
  COOPER_ASSIGN_OR_RETURN(ParamsList list,
                          AddContext(ReadList(ByteReader(std::move(storage))), "'", path, "'"));
  return AddContext(DenseByName(std::move(list), nullptr), "'", path, "'");
}

}  // namespace cooper
