#include "ndarray/files/zip_reader.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/zip_format.h"
#include "zlib.h"

namespace cooper {
namespace {

// Deflate codes at most 258 bytes in 2 bits.
constexpr int64_t kMaxRatio = 1032;

template <typename... Parts>
absl::Status Invalid(int64_t offset, const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("offset ", offset, ": ", parts...));
}

// Reads a number; the caller has checked that it is there.
template <typename T>
T NumberAt(absl::string_view bytes, int64_t offset) {
  T number;
  std::memcpy(&number, bytes.data() + offset, sizeof(T));
  return number;
}

// Returns [offset, offset + count) of the archive, or an error that tells what is cut off.
absl::StatusOr<absl::string_view> Part(absl::string_view archive, uint64_t offset, uint64_t count,
                                       absl::string_view what) {
  if (offset > archive.size() || count > archive.size() - offset) {
    return absl::InvalidArgumentError(absl::StrCat("offset ", offset, ": ", what, " takes ", count,
                                                   " bytes, but the file has ", archive.size()));
  }
  return archive.substr(offset, count);
}

// The place of the central directory.
struct Directory {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
};

// Returns the offset of the end record, which a comment may follow.
absl::StatusOr<int64_t> FindEnd(absl::string_view archive) {
  const auto size = static_cast<int64_t>(archive.size());
  const int64_t last = size - kZipEndBytes;
  const int64_t first = std::max<int64_t>(0, last - std::numeric_limits<uint16_t>::max());
  for (int64_t at = last; at >= first; --at) {
    if (NumberAt<uint32_t>(archive, at) == kZipEnd &&
        at + kZipEndBytes + NumberAt<uint16_t>(archive, at + 20) == size) {
      return at;
    }
  }
  return absl::InvalidArgumentError(
      absl::StrCat("offset ", size, ": no zip archive ends here; the file is of another kind, or ",
                   "the copy or download was cut off: get it again"));
}

absl::StatusOr<Directory> ReadZip64End(absl::string_view archive, int64_t end) {
  const int64_t locator = end - kZip64LocatorBytes;
  if (locator < 0 || NumberAt<uint32_t>(archive, locator) != kZip64Locator) {
    return Invalid(end, "the archive's end needs a zip64 locator before it, which is missing");
  }
  const auto offset = NumberAt<uint64_t>(archive, locator + 8);
  COOPER_ASSIGN_OR_RETURN(const absl::string_view record,
                          Part(archive, offset, kZip64EndBytes, "the zip64 end record"));
  if (NumberAt<uint32_t>(record, 0) != kZip64End) {
    return Invalid(static_cast<int64_t>(offset), "expected the zip64 end record");
  }
  if (NumberAt<uint32_t>(record, 16) != 0 || NumberAt<uint32_t>(record, 20) != 0) {
    return Invalid(static_cast<int64_t>(offset), "the archive has several parts: join them");
  }
  const Directory directory = {.offset = NumberAt<uint64_t>(record, 48),
                               .bytes = NumberAt<uint64_t>(record, 40),
                               .entries = NumberAt<uint64_t>(record, 32)};
  return directory;
}

absl::StatusOr<Directory> ReadEnd(absl::string_view archive) {
  COOPER_ASSIGN_OR_RETURN(const int64_t end, FindEnd(archive));
  const absl::string_view record = archive.substr(end);
  const Directory directory = {.offset = NumberAt<uint32_t>(record, 16),
                               .bytes = NumberAt<uint32_t>(record, 12),
                               .entries = NumberAt<uint16_t>(record, 10)};
  if (directory.offset == kZipIn64 || directory.bytes == kZipIn64 ||
      directory.entries == kZipCountIn64) {
    return ReadZip64End(archive, end);
  }
  if (NumberAt<uint16_t>(record, 4) != 0 || NumberAt<uint16_t>(record, 6) != 0) {
    return Invalid(end, "the archive has several parts: join them");
  }
  return directory;
}

// Replaces the numbers that are all ones by those of the zip64 field in `extra`, in their order.
absl::Status ReadZip64Field(absl::string_view extra, absl::Span<uint64_t* const> numbers) {
  while (extra.size() >= 4) {
    const auto id = NumberAt<uint16_t>(extra, 0);
    const auto length = NumberAt<uint16_t>(extra, 2);
    extra.remove_prefix(4);
    if (length > extra.size()) break;
    absl::string_view field = extra.substr(0, length);
    extra.remove_prefix(length);
    if (id != kZip64Field) continue;
    for (uint64_t* number : numbers) {
      if (*number != kZipIn64) continue;
      if (field.size() < sizeof(uint64_t)) return absl::InvalidArgumentError("is too short");
      *number = NumberAt<uint64_t>(field, 0);
      field.remove_prefix(sizeof(uint64_t));
    }
    return absl::OkStatus();
  }
  for (const uint64_t* number : numbers) {
    if (*number == kZipIn64) return absl::InvalidArgumentError("is missing");
  }
  return absl::OkStatus();
}

// Checks that an entry of these sizes can be read.
absl::Status CheckSizes(uint64_t archive_bytes, uint64_t compressed, uint64_t bytes,
                        uint16_t method) {
  if (compressed > archive_bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("has ", compressed, " bytes, but the file has ", archive_bytes));
  }
  if (method == kZipStored && bytes != compressed) {
    return absl::InvalidArgumentError(
        absl::StrCat("is stored, but its ", compressed, " bytes stand for ", bytes));
  }
  if (method == kZipDeflated && bytes / kMaxRatio > compressed) {
    return absl::InvalidArgumentError(absl::StrCat("claims ", bytes, " bytes, which ", compressed,
                                                   " compressed bytes cannot hold"));
  }
  return absl::OkStatus();
}

// Reads the record at the beginning of `directory`, which is at `offset` of the archive, and
// removes it.
absl::StatusOr<ZipEntry> ReadRecord(absl::string_view archive, int64_t offset,
                                    absl::string_view* directory) {
  if (directory->size() < static_cast<size_t>(kZipDirectoryRecordBytes) ||
      NumberAt<uint32_t>(*directory, 0) != kZipDirectoryRecord) {
    return Invalid(offset, "expected a record of the archive's directory");
  }
  const auto flags = NumberAt<uint16_t>(*directory, 8);
  const size_t name_bytes = NumberAt<uint16_t>(*directory, 28);
  const size_t extra_bytes = NumberAt<uint16_t>(*directory, 30);
  const size_t comment_bytes = NumberAt<uint16_t>(*directory, 32);
  const size_t all = kZipDirectoryRecordBytes + name_bytes + extra_bytes + comment_bytes;
  if (directory->size() < all) return Invalid(offset, "the archive's directory is cut off");
  ZipEntry entry;
  entry.name = std::string(directory->substr(kZipDirectoryRecordBytes, name_bytes));
  entry.method = NumberAt<uint16_t>(*directory, 10);
  entry.crc = NumberAt<uint32_t>(*directory, 16);
  uint64_t compressed = NumberAt<uint32_t>(*directory, 20);
  uint64_t bytes = NumberAt<uint32_t>(*directory, 24);
  uint64_t local = NumberAt<uint32_t>(*directory, 42);
  const std::string name = absl::StrCat("entry '", absl::CHexEscape(entry.name), "'");
  const absl::Status in_64 =
      ReadZip64Field(directory->substr(kZipDirectoryRecordBytes + name_bytes, extra_bytes),
                     {&bytes, &compressed, &local});
  if (!in_64.ok()) return Invalid(offset, name, " needs a zip64 field, which ", in_64.message());
  directory->remove_prefix(all);
  if ((flags & kZipEncrypted) != 0) {
    return absl::UnimplementedError(
        absl::StrCat("offset ", offset, ": ", name, " is encrypted; save it without a password"));
  }
  if (entry.method != kZipStored && entry.method != kZipDeflated) {
    return absl::UnimplementedError(
        absl::StrCat("offset ", offset, ": ", name, " is compressed by method ", entry.method,
                     ", expected 0 (stored) or 8 (deflated), as numpy.savez_compressed does"));
  }
  const absl::Status sizes = CheckSizes(archive.size(), compressed, bytes, entry.method);
  if (!sizes.ok()) return Invalid(offset, name, " ", sizes.message());
  COOPER_RETURN_IF_ERROR(
      Part(archive, local, kZipLocalHeaderBytes, absl::StrCat("the header of ", name)).status());
  entry.offset = static_cast<int64_t>(local);
  entry.compressed_bytes = static_cast<int64_t>(compressed);
  entry.bytes = static_cast<int64_t>(bytes);
  return entry;
}

}  // namespace

absl::StatusOr<std::vector<ZipEntry>> ParseZip(absl::string_view archive) {
  COOPER_ASSIGN_OR_RETURN(const Directory place, ReadEnd(archive));
  COOPER_ASSIGN_OR_RETURN(absl::string_view directory,
                          Part(archive, place.offset, place.bytes, "the archive's directory"));
  if (place.entries > place.bytes / kZipDirectoryRecordBytes) {
    return Invalid(static_cast<int64_t>(place.offset), "a directory of ", place.bytes,
                   " bytes cannot hold ", place.entries, " entries");
  }
  std::vector<ZipEntry> entries;
  absl::flat_hash_set<std::string> names;
  uint64_t used = 0;  // bytes before the directory that the entries need
  for (uint64_t i = 0; i < place.entries; ++i) {
    const int64_t offset = directory.data() - archive.data();
    COOPER_ASSIGN_OR_RETURN(ZipEntry entry, ReadRecord(archive, offset, &directory));
    const std::string name = absl::CHexEscape(entry.name);
    if (!names.insert(entry.name).second) {
      return Invalid(offset, "two entries are called '", name, "'");
    }
    used += kZipLocalHeaderBytes + entry.name.size() + entry.compressed_bytes;
    if (used > place.offset) {
      return Invalid(offset, "the entries up to '", name, "' need ", used,
                     " bytes before the directory, which begins at ", place.offset);
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

void ZipEntryReader::EndInflate::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

ZipEntryReader::ZipEntryReader(absl::string_view data, const ZipEntry& entry)
    : data_(data), remaining_(entry.bytes), expected_crc_(entry.crc) {}
ZipEntryReader::ZipEntryReader(ZipEntryReader&&) noexcept = default;
ZipEntryReader::~ZipEntryReader() = default;

absl::StatusOr<ZipEntryReader> ZipEntryReader::Open(absl::string_view archive,
                                                    const ZipEntry& entry) {
  COOPER_ASSIGN_OR_RETURN(const absl::string_view header,
                          Part(archive, entry.offset, kZipLocalHeaderBytes, "the entry's header"));
  const int64_t before =
      kZipLocalHeaderBytes + NumberAt<uint16_t>(header, 26) + NumberAt<uint16_t>(header, 28);
  COOPER_ASSIGN_OR_RETURN(
      const absl::string_view all,
      Part(archive, entry.offset, before + entry.compressed_bytes, "the entry with its header"));
  if (NumberAt<uint32_t>(header, 0) != kZipLocalHeader ||
      NumberAt<uint16_t>(header, 8) != entry.method ||
      all.substr(kZipLocalHeaderBytes, NumberAt<uint16_t>(header, 26)) != entry.name) {
    return Invalid(entry.offset, "expected the header of the entry that the directory describes");
  }
  ZipEntryReader reader(all.substr(before), entry);
  if (entry.method == kZipDeflated) {
    reader.stream_.reset(new z_stream_s{});
    // The data have neither a header nor a checksum of zlib's.
    if (inflateInit2(reader.stream_.get(), -MAX_WBITS) != Z_OK) {
      return absl::ResourceExhaustedError("no memory to uncompress an entry");
    }
  }
  return reader;
}

absl::Status ZipEntryReader::Inflate(char* out, int64_t count) {
  constexpr int64_t kMost = 1 << 30;  // zlib counts in 32 bits
  while (count > 0 && !ended_) {
    const int64_t given = std::min<int64_t>(data_.size(), kMost);
    const int64_t wanted = std::min(count, kMost);
    stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data_.data()));
    stream_->avail_in = static_cast<uInt>(given);
    stream_->next_out = reinterpret_cast<Bytef*>(out);
    stream_->avail_out = static_cast<uInt>(wanted);
    const int result = inflate(stream_.get(), Z_NO_FLUSH);
    const int64_t made = wanted - stream_->avail_out;
    const int64_t taken = given - stream_->avail_in;
    data_.remove_prefix(static_cast<size_t>(taken));
    out += made;
    count -= made;
    ended_ = result == Z_STREAM_END;
    if (!ended_ && (result != Z_OK || (made == 0 && taken == 0))) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the compressed data are damaged, ", data_.size(), " bytes before their end",
          stream_->msg == nullptr ? "" : ": ", stream_->msg == nullptr ? "" : stream_->msg));
    }
  }
  if (count > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the compressed data end ", count, " bytes before they should"));
  }
  return absl::OkStatus();
}

absl::Status ZipEntryReader::Read(void* out, int64_t count) {
  if (count > remaining_) {
    return absl::InvalidArgumentError(
        absl::StrCat(count, " bytes are expected, but only ", remaining_, " are left"));
  }
  if (count == 0) return absl::OkStatus();
  if (stream_ != nullptr) {
    COOPER_RETURN_IF_ERROR(Inflate(static_cast<char*>(out), count));
  } else {
    std::memcpy(out, data_.data(), static_cast<size_t>(count));
    data_.remove_prefix(static_cast<size_t>(count));
  }
  crc_ = static_cast<uint32_t>(crc32_z(crc_, static_cast<const Bytef*>(out), count));
  remaining_ -= count;
  return absl::OkStatus();
}

absl::Status ZipEntryReader::Finish() {
  if (remaining_ > 0) {
    return absl::InvalidArgumentError(absl::StrCat(remaining_, " bytes have not been read"));
  }
  if (stream_ != nullptr && !ended_) {
    char more = 0;  // one byte more than there should be
    absl::Status status = Inflate(&more, 1);
    if (status.ok() || !ended_) {
      return absl::InvalidArgumentError("the compressed data have no end where they should");
    }
  }
  if (!data_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(data_.size(), " bytes follow the end of the compressed data"));
  }
  if (crc_ != expected_crc_) {
    return absl::InvalidArgumentError(absl::StrCat("the checksum is 0x", absl::Hex(crc_),
                                                   ", expected 0x", absl::Hex(expected_crc_),
                                                   ": the data are damaged; get the file again"));
  }
  return absl::OkStatus();
}

}  // namespace cooper
