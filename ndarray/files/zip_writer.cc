#include "ndarray/files/zip_writer.h"

#include <algorithm>
#include <limits>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/zip_format.h"
#include "zlib.h"

namespace cooper {
namespace {

// Versions of the format that a reader must support, in tenths.
constexpr uint16_t kVersion = 20;
constexpr uint16_t kVersionWithZip64 = 45;
// Made on Unix, so that the mode of a regular file that all may read has a meaning.
constexpr uint16_t kMadeOnUnix = 3 << 8;
constexpr uint32_t kRegularFile = uint32_t{0100644} << 16;
constexpr uint16_t kFirstDate = 1 << 5 | 1;  // 1980-01-01

template <typename T>
void AppendNumber(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

uint32_t ChecksumOf(absl::Span<const absl::string_view> parts) {
  uLong crc = 0;
  for (const absl::string_view part : parts) {
    if (!part.empty()) {
      crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
    }
  }
  return static_cast<uint32_t>(crc);
}

// Returns the parts, one after the other, compressed without a header or checksum of zlib's.
absl::StatusOr<std::string> Deflate(absl::Span<const absl::string_view> parts) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return absl::ResourceExhaustedError("no memory to compress an entry");
  }
  constexpr size_t kMost = 1 << 30;  // zlib counts in 32 bits
  std::string out;
  char buffer[1 << 15];
  const auto run = [&](absl::string_view bytes, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(buffer);
      stream.avail_out = sizeof(buffer);
      deflate(&stream, flush);
      out.append(buffer, sizeof(buffer) - stream.avail_out);
    } while (stream.avail_out == 0);
  };
  for (absl::string_view part : parts) {
    for (; !part.empty(); part.remove_prefix(std::min(kMost, part.size()))) {
      run(part.substr(0, kMost), Z_NO_FLUSH);
    }
  }
  run("", Z_FINISH);
  deflateEnd(&stream);
  return out;
}

}  // namespace

absl::Status ZipWriter::Write(absl::string_view bytes) {
  offset_ += bytes.size();
  return sink_(bytes);
}

absl::Status ZipWriter::Add(const std::string& name, absl::Span<const absl::string_view> parts) {
  if (name.size() > std::numeric_limits<uint16_t>::max() || name.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", absl::CHexEscape(name.substr(0, 100)),
                     "' cannot be the name of an entry of a zip archive: expected at most 65535 "
                     "bytes and no zero byte"));
  }
  uint64_t bytes = 0;
  for (const absl::string_view part : parts) bytes += part.size();
  const uint32_t crc = ChecksumOf(parts);
  std::string compressed;
  if (options_.compress) {
    COOPER_ASSIGN_OR_RETURN(compressed, Deflate(parts));
  }
  const uint64_t stored = options_.compress ? compressed.size() : bytes;

  const bool large = bytes >= options_.zip64_from || stored >= options_.zip64_from;
  const bool far = offset_ >= options_.zip64_from;
  const uint16_t version = large || far ? kVersionWithZip64 : kVersion;
  std::string common;  // the fields that both headers have in a row, from the version to the sizes
  AppendNumber(version, &common);
  const bool is_ascii =
      absl::c_all_of(name, [](unsigned char c) { return absl::ascii_isascii(c); });
  AppendNumber(is_ascii ? uint16_t{0} : kZipUtf8Name, &common);
  AppendNumber(options_.compress ? kZipDeflated : kZipStored, &common);
  AppendNumber(uint16_t{0}, &common);  // the time of day
  AppendNumber(kFirstDate, &common);
  AppendNumber(crc, &common);
  AppendNumber(large ? kZipIn64 : static_cast<uint32_t>(stored), &common);
  AppendNumber(large ? kZipIn64 : static_cast<uint32_t>(bytes), &common);
  AppendNumber(static_cast<uint16_t>(name.size()), &common);

  std::string sizes_in_64;
  if (large) {
    AppendNumber(bytes, &sizes_in_64);
    AppendNumber(stored, &sizes_in_64);
  }
  const auto extra_field = [](const std::string& numbers) {
    std::string field;
    if (numbers.empty()) return field;
    AppendNumber(kZip64Field, &field);
    AppendNumber(static_cast<uint16_t>(numbers.size()), &field);
    return absl::StrCat(field, numbers);
  };
  const std::string local_extra = extra_field(sizes_in_64);
  std::string header;
  AppendNumber(kZipLocalHeader, &header);
  header += common;
  AppendNumber(static_cast<uint16_t>(local_extra.size()), &header);
  absl::StrAppend(&header, name, local_extra);

  std::string offset_in_64 = sizes_in_64;
  if (far) AppendNumber(offset_, &offset_in_64);
  const std::string extra = extra_field(offset_in_64);
  AppendNumber(kZipDirectoryRecord, &directory_);
  AppendNumber(static_cast<uint16_t>(kMadeOnUnix | version), &directory_);
  directory_ += common;
  AppendNumber(static_cast<uint16_t>(extra.size()), &directory_);
  AppendNumber(uint16_t{0}, &directory_);  // no comment
  AppendNumber(uint16_t{0}, &directory_);  // the first part of the archive
  AppendNumber(uint16_t{0}, &directory_);  // not known to be text
  AppendNumber(kRegularFile, &directory_);
  AppendNumber(far ? kZipIn64 : static_cast<uint32_t>(offset_), &directory_);
  absl::StrAppend(&directory_, name, extra);
  ++entries_;

  COOPER_RETURN_IF_ERROR(Write(header));
  if (options_.compress) return Write(compressed);
  for (const absl::string_view part : parts) COOPER_RETURN_IF_ERROR(Write(part));
  return absl::OkStatus();
}

absl::Status ZipWriter::Finish() {
  const uint64_t offset = offset_;
  const uint64_t bytes = directory_.size();
  const bool in_64 = offset >= options_.zip64_from || bytes >= options_.zip64_from ||
                     entries_ >= options_.zip64_from || entries_ >= kZipCountIn64;
  COOPER_RETURN_IF_ERROR(Write(directory_));
  std::string end;
  if (in_64) {
    const uint64_t record = offset_;
    AppendNumber(kZip64End, &end);
    AppendNumber(static_cast<uint64_t>(kZip64EndBytes - 12), &end);  // of what follows
    AppendNumber(static_cast<uint16_t>(kMadeOnUnix | kVersionWithZip64), &end);
    AppendNumber(kVersionWithZip64, &end);
    AppendNumber(uint64_t{0}, &end);  // this part of the archive, and the directory's: the first
    AppendNumber(entries_, &end);     // of this part
    AppendNumber(entries_, &end);
    AppendNumber(bytes, &end);
    AppendNumber(offset, &end);
    AppendNumber(kZip64Locator, &end);
    AppendNumber(uint32_t{0}, &end);
    AppendNumber(record, &end);
    AppendNumber(uint32_t{1}, &end);  // number of parts
  }
  const uint16_t count = in_64 ? kZipCountIn64 : static_cast<uint16_t>(entries_);
  AppendNumber(kZipEnd, &end);
  AppendNumber(uint32_t{0}, &end);
  AppendNumber(count, &end);
  AppendNumber(count, &end);
  AppendNumber(in_64 ? kZipIn64 : static_cast<uint32_t>(bytes), &end);
  AppendNumber(in_64 ? kZipIn64 : static_cast<uint32_t>(offset), &end);
  AppendNumber(uint16_t{0}, &end);  // no comment
  return Write(end);
}

}  // namespace cooper
