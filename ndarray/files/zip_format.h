#ifndef COOPER_NDARRAY_FILES_ZIP_FORMAT_H_
#define COOPER_NDARRAY_FILES_ZIP_FORMAT_H_

// Constants of zip archives (PKWARE's APPNOTE), all little-endian. The layout of an archive:
//
//   for each entry a local header (30 bytes, name, extra fields) and its data
//   for each entry a record of the central directory (46 bytes, name, extra fields, comment)
//   if a number needs more than 32 bits or a count more than 16: a zip64 record (56 bytes) with
//   sizes and offsets of 64 bits, and its locator (20 bytes)
//   the end record (22 bytes, comment)
//
// A number that does not fit is all ones, and an extra field of the entry, or the zip64 record, has
// it in 64 bits. Readers begin at the end record and trust the central directory.

#include <bit>
#include <cstdint>

namespace cooper {

inline constexpr uint32_t kZipLocalHeader = 0x04034b50;      // "PK\3\4"
inline constexpr uint32_t kZipDirectoryRecord = 0x02014b50;  // "PK\1\2"
inline constexpr uint32_t kZip64End = 0x06064b50;            // "PK\6\6"
inline constexpr uint32_t kZip64Locator = 0x07064b50;        // "PK\6\7"
inline constexpr uint32_t kZipEnd = 0x06054b50;              // "PK\5\6"

inline constexpr int64_t kZipLocalHeaderBytes = 30;
inline constexpr int64_t kZipDirectoryRecordBytes = 46;
inline constexpr int64_t kZip64EndBytes = 56;
inline constexpr int64_t kZip64LocatorBytes = 20;
inline constexpr int64_t kZipEndBytes = 22;

// Numbers of this value are in the zip64 fields.
inline constexpr uint32_t kZipIn64 = 0xffffffff;
inline constexpr uint16_t kZipCountIn64 = 0xffff;
// The identifier of the extra field with 64-bit numbers.
inline constexpr uint16_t kZip64Field = 1;

// Methods of compression.
inline constexpr uint16_t kZipStored = 0;
inline constexpr uint16_t kZipDeflated = 8;

// Flags of an entry.
inline constexpr uint16_t kZipEncrypted = 1;
inline constexpr uint16_t kZipUtf8Name = 1 << 11;

static_assert(std::endian::native == std::endian::little, "numbers are copied as they stand");

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_ZIP_FORMAT_H_
