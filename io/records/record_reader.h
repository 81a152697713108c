#ifndef COOPER_IO_RECORDS_RECORD_READER_H_
#define COOPER_IO_RECORDS_RECORD_READER_H_

// Reads the records of a RecordIO file (.rec) in their order or from any offset, as MXNet's
// MXRecordIO with the flag 'r'. record_format.h has the framing; indexed_records.h adds keys.
//
//   COOPER_ASSIGN_OR_RETURN(auto reader, RecordReader::Open("train.rec"));
//   std::string record;
//   while (true) {
//     COOPER_ASSIGN_OR_RETURN(const bool found, reader->Read(&record));
//     if (!found) break;
//     ...
//   }

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "io/records/record_file.h"
#include "io/records/record_format.h"

namespace cooper {

// Options of RecordReader::Open.
struct RecordReaderOptions {
  // If true, corrupted bytes are skipped up to the next head of a record, and counted (skipped());
  // if false, reading them fails. The format has no checksums: changes inside the bytes of a record
  // are not noticed.
  bool skip_corrupted = false;
};

// The corrupted regions that a reader has passed over.
struct SkippedRecords {
  int64_t regions = 0;  // each holds at least one damaged record
  int64_t bytes = 0;
};

// Reads one file. Memory is one record and a buffer of 64 KiB, whatever lengths a corrupted file
// claims. Not thread-safe.
class RecordReader {
 public:
  // Opens a file. kNotFound, with the path, if there is none; kInvalidArgument if it is not a
  // regular file or, unless corrupted records are skipped, is recognised as another kind of file.
  // An empty file has no records.
  static absl::StatusOr<std::unique_ptr<RecordReader>> Open(
      const std::string& path, const RecordReaderOptions& options = {});

  // Reads the next record into `record`; returns false at the end of the file. kDataLoss, with path
  // and offset, at corrupted bytes, unless they are skipped. After an error the reader has not
  // moved, and `record` is unspecified.
  absl::StatusOr<bool> Read(std::string* record);

  // Passes over the next record as Read does and returns its number of bytes; nullopt at the end of
  // the file. Reads only the heads of its parts.
  absl::StatusOr<std::optional<int64_t>> ReadLength();

  // Returns the offset at which the next call of Read begins: after a Read, the end of its record.
  int64_t Tell() const { return offset_; }

  // Moves to an offset that Tell, RecordWriter::Tell or FindRecord has returned. kOutOfRange if it
  // is not a multiple of four in [0, size()]. Whether a record begins there, Read tells.
  absl::Status Seek(int64_t offset);

  // Returns the offset of the first record that begins at `offset` or behind it, in [0, size()];
  // size() if there is none. The reader does not move. Reads up to the record only.
  absl::StatusOr<int64_t> FindRecord(int64_t offset);

  const std::string& path() const { return file_->path(); }
  int64_t size() const { return file_->size(); }
  const SkippedRecords& skipped() const { return skipped_; }

 private:
  // The extent of a record: the end of its last part in the file, and its number of bytes.
  struct Extent {
    int64_t end = 0;
    int64_t bytes = 0;
  };

  RecordReader(std::unique_ptr<RecordFile> file, bool skip_corrupted);
  absl::StatusOr<std::optional<int64_t>> Next(std::string* record);
  absl::StatusOr<Extent> FindExtent(int64_t begin);
  absl::Status ReadPayload(int64_t begin, const Extent& extent, std::string* record);
  absl::StatusOr<PartHead> ReadHead(int64_t at, bool begins);
  absl::Status Corrupted(int64_t at, absl::string_view what) const;

  const std::unique_ptr<RecordFile> file_;
  const bool skip_corrupted_;
  int64_t offset_ = 0;
  SkippedRecords skipped_;
};

}  // namespace cooper

#endif  // COOPER_IO_RECORDS_RECORD_READER_H_
