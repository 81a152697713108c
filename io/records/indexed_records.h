#ifndef COOPER_IO_RECORDS_INDEXED_RECORDS_H_
#define COOPER_IO_RECORDS_INDEXED_RECORDS_H_

// Reads and writes RecordIO files with an index (.idx), as MXNet's MXIndexedRecordIO. The index has
// one line per record: its key, a tab, and the offset at which it begins.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "io/records/record_reader.h"
#include "io/records/record_writer.h"

namespace cooper {

// The place of a record.
struct RecordEntry {
  int64_t key = 0;
  int64_t offset = 0;
};

// Reads an index, in the order of its lines. kInvalidArgument, naming file and line, for a line
// that is not a key and an offset, and for a key that comes twice; also ReadTextFile's errors
// (ndarray/base/atomic_file.h).
absl::StatusOr<std::vector<RecordEntry>> ReadRecordIndex(const std::string& idx_path);

// Reads records by key. Not thread-safe.
class IndexedRecordReader {
 public:
  // Opens a file and its index. Errors are those of ReadRecordIndex and RecordReader::Open.
  static absl::StatusOr<std::unique_ptr<IndexedRecordReader>> Open(
      const std::string& idx_path, const std::string& path,
      const RecordReaderOptions& options = {});

  // Returns the keys in the order of the index.
  absl::Span<const int64_t> keys() const { return keys_; }

  // Reads the record of a key into `record`. kNotFound, naming index and key, if the key is not in
  // the index. kDataLoss, naming the index too, if no intact record begins at the key's offset,
  // even if corrupted records are skipped. After ReadIdx, reader() is behind the record.
  absl::Status ReadIdx(int64_t key, std::string* record);

  // Moves reader() to the record of a key. kNotFound as in ReadIdx, kOutOfRange as in
  // RecordReader::Seek.
  absl::Status Seek(int64_t key);

  // Returns the reader of the file, for reading on in the file's order.
  RecordReader& reader() { return *reader_; }

 private:
  IndexedRecordReader(std::string idx_path, std::unique_ptr<RecordReader> reader,
                      absl::Span<const RecordEntry> entries);

  const std::string idx_path_;
  const std::unique_ptr<RecordReader> reader_;
  std::vector<int64_t> keys_;
  absl::flat_hash_map<int64_t, int64_t> offset_of_;
};

// Writes records and their index. Both files appear with Close(). Not thread-safe.
class IndexedRecordWriter {
 public:
  // Creates temporary files beside both paths. Errors are as in RecordWriter::Create.
  static absl::StatusOr<std::unique_ptr<IndexedRecordWriter>> Create(const std::string& idx_path,
                                                                     const std::string& path);

  // Appends a record under a key. kAlreadyExists if the key was written before; also the errors of
  // RecordWriter::Write.
  absl::Status WriteIdx(int64_t key, absl::string_view record);

  // Returns the offset at which the next record begins.
  int64_t Tell() const { return writer_->Tell(); }

  // Ends both files, the records first, so that an index never appears without its records.
  absl::Status Close();

 private:
  IndexedRecordWriter(std::string idx_path, std::unique_ptr<RecordWriter> writer);

  const std::string idx_path_;
  const std::unique_ptr<RecordWriter> writer_;
  std::string index_;  // the text of the index so far
  absl::flat_hash_map<int64_t, int64_t> offset_of_;
};

}  // namespace cooper

#endif  // COOPER_IO_RECORDS_INDEXED_RECORDS_H_
