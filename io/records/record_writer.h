#ifndef COOPER_IO_RECORDS_RECORD_WRITER_H_
#define COOPER_IO_RECORDS_RECORD_WRITER_H_

// Writes RecordIO files (.rec) that MXNet reads, as MXNet's MXRecordIO with the flag 'w'.
// record_reader.h reads them; indexed_records.h adds keys.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ndarray/base/atomic_file.h"

namespace cooper {

// Writes one file. The file appears under its name, complete and on the disk, with Close(); without
// Close() an older file of that name stays as it was. Not thread-safe.
class RecordWriter {
 public:
  // Creates a temporary file beside `path`. Errors are as in AtomicFile
  // (ndarray/base/atomic_file.h).
  static absl::StatusOr<std::unique_ptr<RecordWriter>> Create(const std::string& path);

  // Appends a record of any bytes. kInvalidArgument if it has more than kMaxRecordBytes
  // (record_format.h), kFailedPrecondition after Close(); also AtomicFile's errors, after which the
  // file is lost.
  absl::Status Write(absl::string_view record);

  // Returns the offset at which the next record begins.
  int64_t Tell() const { return offset_; }

  // Ends the file and moves it to its name.
  absl::Status Close();

 private:
  RecordWriter(AtomicFile file, std::string path);

  AtomicFile file_;
  const std::string path_;
  std::string buffer_;  // records that are not in the file yet
  int64_t offset_ = 0;
  absl::Status status_;  // of the file: an error or the end of writing
};

}  // namespace cooper

#endif  // COOPER_IO_RECORDS_RECORD_WRITER_H_
