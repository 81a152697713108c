#ifndef COOPER_IO_IMAGES_RECORD_FILES_H_
#define COOPER_IO_IMAGES_RECORD_FILES_H_

// Reads several RecordIO files as if they were one.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "io/records/record_reader.h"

namespace cooper {

// Offsets count the bytes of the files one behind the other, so those of a single file are its own.
// Keeps all files open. Not thread-safe.
class RecordFiles {
 public:
  RecordFiles() = default;
  // Opens the files that `files` names as in ListInputFiles (io/iterators/input_files.h). Errors
  // are those of ListInputFiles and RecordReader::Open.
  static absl::StatusOr<RecordFiles> Open(const std::string& files);

  // Returns the bytes of all files.
  int64_t size() const { return size_; }

  // Reads the record that begins at `offset`, in [0, size()], and returns the offset behind it.
  // kDataLoss, with file and offset, if none begins there; also the errors of RecordReader.
  absl::StatusOr<int64_t> Read(int64_t offset, std::string* record);
  // Returns the offset of the first record that begins at `offset` or behind it; size() if there is
  // none. Errors are those of RecordReader::FindRecord.
  absl::StatusOr<int64_t> FindRecord(int64_t offset);
  // Returns the rising offsets of the records in the indices of the files: as many indices, with
  // ';' between. kInvalidArgument if there are more or fewer, or an offset is not inside its file;
  // also the errors of ReadRecordIndex.
  absl::StatusOr<std::vector<int64_t>> ReadIndices(const std::string& indices) const;

  // Returns "'FILE', offset N" for messages.
  std::string Where(int64_t offset) const;

 private:
  // Returns the file that has the byte at an offset, or the last one, and the offset in it.
  std::pair<size_t, int64_t> Find(int64_t offset) const;

  std::vector<std::unique_ptr<RecordReader>> readers_;
  std::vector<int64_t> begins_;  // of the files
  int64_t size_ = 0;
};

}  // namespace cooper

#endif  // COOPER_IO_IMAGES_RECORD_FILES_H_
