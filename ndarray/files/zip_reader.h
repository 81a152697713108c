#ifndef COOPER_NDARRAY_FILES_ZIP_READER_H_
#define COOPER_NDARRAY_FILES_ZIP_READER_H_

// Reads zip archives, stored or deflated, with zip64's sizes: the container of .npz files.
//
// Archives are untrusted: every offset and length is checked against the size of the archive. An
// entry that claims more than 1,032 times its compressed bytes, the most that deflate reaches, is
// refused. Entries that together need more bytes than precede the directory are refused too, so the
// same factor bounds their total size. Messages begin with the offset in the archive.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct z_stream_s;  // zlib.h

namespace cooper {

// One file of an archive, as the central directory describes it.
struct ZipEntry {
  std::string name;
  int64_t offset = 0;            // of the local header in the archive
  int64_t compressed_bytes = 0;  // of the data in the archive
  int64_t bytes = 0;             // of the uncompressed data
  uint32_t crc = 0;
  uint16_t method = 0;
};

// Returns the entries of the archive, in the order of the central directory. kInvalidArgument if
// the archive is damaged, has several parts, two entries with one name, or entries that together
// need more bytes than precede the directory; kUnimplemented, naming the entry, if one is encrypted
// or compressed by another method.
absl::StatusOr<std::vector<ZipEntry>> ParseZip(absl::string_view archive);

// Reads the data of one entry from its beginning, uncompressed. Not thread-safe.
class ZipEntryReader {
 public:
  // Opens an entry of ParseZip(archive). The archive must outlive the reader. kInvalidArgument if
  // the local header contradicts the entry.
  static absl::StatusOr<ZipEntryReader> Open(absl::string_view archive, const ZipEntry& entry);

  ZipEntryReader(ZipEntryReader&&) noexcept;
  ~ZipEntryReader();

  // Copies the next `count` bytes to `out`. kInvalidArgument if fewer are left or the compressed
  // data are damaged.
  absl::Status Read(void* out, int64_t count);

  // Returns OK if all of the entry's bytes have been read and have its checksum.
  absl::Status Finish();

  int64_t remaining() const { return remaining_; }

 private:
  struct EndInflate {
    void operator()(z_stream_s* stream) const;
  };

  ZipEntryReader(absl::string_view data, const ZipEntry& entry);
  absl::Status Inflate(char* out, int64_t count);

  absl::string_view data_;  // compressed data that have not been read
  int64_t remaining_;       // uncompressed bytes that have not been read
  uint32_t expected_crc_;
  uint32_t crc_ = 0;
  std::unique_ptr<z_stream_s, EndInflate> stream_;  // null for stored data
  bool ended_ = false;                              // whether the end of deflated data was found
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_ZIP_READER_H_
