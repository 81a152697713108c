#include "ndarray/files/npz_file.h"

#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ndarray/array/on_cpu.h"
#include "ndarray/base/file_kind.h"
#include "ndarray/base/near_names.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/npy_file.h"
#include "ndarray/files/zip_writer.h"

namespace cooper {
namespace {

constexpr char kSuffix[] = ".npy";

// Calls read(reader) for the entry's reader, and names the entry in errors.
template <typename T, typename Fn>
absl::StatusOr<T> ReadEntry(absl::string_view archive, const ZipEntry& entry, const Fn& read) {
  const auto result = [&]() -> absl::StatusOr<T> {
    COOPER_ASSIGN_OR_RETURN(ZipEntryReader reader, ZipEntryReader::Open(archive, entry));
    return read(reader);
  };
  return AddContext(result(), "entry '", absl::CHexEscape(entry.name), "' at offset ",
                    entry.offset);
}

absl::Status Write(const NamedArrays& arrays, const SaveNpzOptions& options, ZipWriter::Sink sink) {
  ZipWriter writer(std::move(sink), {.compress = options.compress});
  std::set<std::string> names;
  for (const auto& [name, array] : arrays) {
    const auto fail = [&name = name](absl::string_view why) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot save '", absl::CHexEscape(name), "': ", why));
    };
    if (name.empty()) return fail("a name is needed, such as 'arr_0'");
    if (!names.insert(name).second) return fail("another array has this name");
    if (array.is_null()) return fail("it is null");
    const absl::StatusOr<std::string> header = NpyHeaderBytes(array.shape(), array.dtype());
    if (!header.ok()) return fail(header.status().message());
    COOPER_ASSIGN_OR_RETURN(const NDArray on_cpu, OnCpu(array));
    COOPER_RETURN_IF_ERROR(
        writer.Add(absl::StrCat(name, kSuffix),
                   {*header, absl::string_view(static_cast<const char*>(on_cpu.raw_data()),
                                               static_cast<size_t>(on_cpu.size_bytes()))}));
  }
  return writer.Finish();
}

}  // namespace

absl::StatusOr<NpzFile> NpzFile::Parse(absl::string_view bytes, const NpzOptions& options) {
  if (!absl::StartsWith(bytes, "PK")) {
    return absl::InvalidArgumentError(absl::StrCat("offset 0: not a NumPy archive (.npz)",
                                                   DescribeForeignFile(bytes, FileKind::kNpz)));
  }
  NpzFile file({}, bytes, options);
  COOPER_ASSIGN_OR_RETURN(file.entries_, ParseZip(bytes));
  std::set<std::string> names;
  for (const ZipEntry& entry : file.entries_) {
    absl::string_view name = entry.name;
    absl::ConsumeSuffix(&name, kSuffix);
    file.names_.emplace_back(name);
    if (names.insert(file.names_.back()).second) continue;
    return absl::InvalidArgumentError(absl::StrCat("entry '", absl::CHexEscape(entry.name),
                                                   "' at offset ", entry.offset,
                                                   ": another entry names this array too"));
  }
  return file;
}

absl::StatusOr<NpzFile> NpzFile::Open(const std::string& path, const NpzOptions& options) {
  COOPER_ASSIGN_OR_RETURN(MappedFile mapped, MapFile(path));
  const absl::string_view bytes(static_cast<const char*>(mapped.data.get()),
                                static_cast<size_t>(mapped.bytes));
  absl::StatusOr<NpzFile> file = AddContext(Parse(bytes, options), "'", path, "'");
  if (!file.ok()) return file;
  file->file_ = std::move(mapped);
  file->path_ = path;
  return file;
}

absl::StatusOr<const ZipEntry*> NpzFile::Find(const std::string& name) const {
  for (size_t i = 0; i < names_.size(); ++i) {
    if (names_[i] == name) return &entries_[i];
  }
  return absl::NotFoundError(
      absl::StrCat("there is no array '", absl::CHexEscape(name), "'", DidYouMean(name, names_)));
}

absl::StatusOr<NDArray> NpzFile::Load(const std::string& name) const {
  const auto load = [&]() -> absl::StatusOr<NDArray> {
    COOPER_ASSIGN_OR_RETURN(const ZipEntry* entry, Find(name));
    return ReadEntry<NDArray>(
        bytes_, *entry, [&](ZipEntryReader& reader) -> absl::StatusOr<NDArray> {
          if (entry->bytes > options_.max_bytes) {
            return absl::ResourceExhaustedError(
                absl::StrCat("it has ", entry->bytes, " bytes, more than max_bytes, which is ",
                             options_.max_bytes));
          }
          COOPER_ASSIGN_OR_RETURN(NDArray array,
                                  ReadNpy(entry->bytes, [&](void* out, int64_t count) {
                                    return reader.Read(out, count);
                                  }));
          COOPER_RETURN_IF_ERROR(reader.Finish());
          return array;
        });
  };
  return path_.empty() ? load() : AddContext(load(), "'", path_, "'");
}

absl::StatusOr<NpyHeader> NpzFile::Describe(const std::string& name) const {
  const auto describe = [&]() -> absl::StatusOr<NpyHeader> {
    COOPER_ASSIGN_OR_RETURN(const ZipEntry* entry, Find(name));
    return ReadEntry<NpyHeader>(bytes_, *entry, [&](ZipEntryReader& reader) {
      return ReadNpyHeader(entry->bytes,
                           [&](void* out, int64_t count) { return reader.Read(out, count); });
    });
  };
  return path_.empty() ? describe() : AddContext(describe(), "'", path_, "'");
}

absl::StatusOr<NamedArrays> NpzFile::LoadAll() const {
  int64_t left = options_.max_bytes;
  for (const ZipEntry& entry : entries_) {
    if (entry.bytes > left) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path_.empty() ? "" : absl::StrCat("'", path_, "': "),
                       "the arrays have more bytes than max_bytes, which is ", options_.max_bytes));
    }
    left -= entry.bytes;
  }
  NamedArrays arrays;
  for (const std::string& name : names_) {
    COOPER_ASSIGN_OR_RETURN(NDArray array, Load(name));
    arrays.emplace_back(name, std::move(array));
  }
  return arrays;
}

absl::StatusOr<NamedArrays> LoadNpz(const std::string& path, const NpzOptions& options) {
  COOPER_ASSIGN_OR_RETURN(const NpzFile file, NpzFile::Open(path, options));
  return file.LoadAll();
}

absl::Status SaveNpz(const std::string& path, const NamedArrays& arrays,
                     const SaveNpzOptions& options) {
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  COOPER_RETURN_IF_ERROR(AddContext(
      Write(arrays, options, [&](absl::string_view bytes) { return file.Append(bytes); }), "'",
      path, "'"));
  return file.Commit();
}

absl::StatusOr<std::string> SerializeNpz(const NamedArrays& arrays, const SaveNpzOptions& options) {
  std::string all;
  COOPER_RETURN_IF_ERROR(Write(arrays, options, [&all](absl::string_view bytes) {
    all.append(bytes.data(), bytes.size());
    return absl::OkStatus();
  }));
  return all;
}

}  // namespace cooper
