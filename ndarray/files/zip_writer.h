#ifndef COOPER_NDARRAY_FILES_ZIP_WRITER_H_
#define COOPER_NDARRAY_FILES_ZIP_WRITER_H_

// Writes zip archives, stored or deflated: the container of .npz files. Equal entries give equal
// bytes, since every entry has the first date that zip knows.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace cooper {

// Options of ZipWriter::Create.
struct ZipWriterOptions {
  bool compress = false;  // with zlib, at its default level
  // The least size, offset or number of entries that is written in 64 bits (zip64); numbers of
  // entries from 65,535 on always are. Readers without zip64 reject archives with such numbers.
  uint64_t zip64_from = 0xffffffff;
};

// Writes one archive: Add for each entry, then Finish. After an error the archive is useless. Not
// thread-safe.
class ZipWriter {
 public:
  // Receives the archive's bytes in their order.
  using Sink = std::function<absl::Status(absl::string_view)>;

  ZipWriter(Sink sink, ZipWriterOptions options) : sink_(std::move(sink)), options_(options) {}

  // Writes an entry whose data are `parts` one after the other. Takes memory for the compressed
  // data of the entry. kInvalidArgument if the name is longer than 65,535 bytes or has a zero byte,
  // at which readers cut it off; else the sink's errors. Names must differ; this is not checked.
  absl::Status Add(const std::string& name, absl::Span<const absl::string_view> parts);

  // Writes the directory. The sink's errors.
  absl::Status Finish();

 private:
  absl::Status Write(absl::string_view bytes);

  Sink sink_;
  const ZipWriterOptions options_;
  uint64_t offset_ = 0;    // bytes written
  uint64_t entries_ = 0;   // entries written
  std::string directory_;  // their records
};

}  // namespace cooper

#endif  // COOPER_NDARRAY_FILES_ZIP_WRITER_H_
