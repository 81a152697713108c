#include "io/images/record_files.h"

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/batch/invalid.h"
#include "io/iterators/input_files.h"
#include "io/records/indexed_records.h"
#include "ndarray/base/status_macros.h"

namespace cooper {

absl::StatusOr<RecordFiles> RecordFiles::Open(const std::string& files) {
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> paths, ListInputFiles(files));
  RecordFiles opened;
  for (const std::string& path : paths) {
    COOPER_ASSIGN_OR_RETURN(auto reader, RecordReader::Open(path));
    opened.begins_.push_back(opened.size_);
    opened.size_ += reader->size();
    opened.readers_.push_back(std::move(reader));
  }
  return opened;
}

std::pair<size_t, int64_t> RecordFiles::Find(int64_t offset) const {
  const auto behind = std::upper_bound(begins_.begin(), begins_.end(), offset);
  const auto file = std::distance(begins_.begin(), behind) - 1;
  return {static_cast<size_t>(file), offset - begins_[file]};
}

absl::StatusOr<int64_t> RecordFiles::Read(int64_t offset, std::string* record) {
  const auto [file, own_offset] = Find(offset);
  COOPER_RETURN_IF_ERROR(readers_[file]->Seek(own_offset));
  COOPER_ASSIGN_OR_RETURN(const bool found, readers_[file]->Read(record));
  if (found) return begins_[file] + readers_[file]->Tell();
  return absl::DataLossError(
      absl::StrCat(Where(offset), ": no record begins at the end of the file"));
}

absl::StatusOr<int64_t> RecordFiles::FindRecord(int64_t offset) {
  auto [file, own_offset] = Find(std::min(offset, size_));
  for (; file < readers_.size(); ++file, own_offset = 0) {
    COOPER_ASSIGN_OR_RETURN(const int64_t found, readers_[file]->FindRecord(own_offset));
    if (found < readers_[file]->size()) return begins_[file] + found;
  }
  return size_;
}

absl::StatusOr<std::vector<int64_t>> RecordFiles::ReadIndices(const std::string& indices) const {
  COOPER_ASSIGN_OR_RETURN(const std::vector<std::string> paths, ListInputFiles(indices));
  if (paths.size() != readers_.size()) {
    return Invalid("path_imgidx '", indices, "' has ", paths.size(), " files, path_imgrec ",
                   readers_.size());
  }
  std::vector<int64_t> offsets;
  for (size_t file = 0; file < paths.size(); ++file) {
    COOPER_ASSIGN_OR_RETURN(const auto entries, ReadRecordIndex(paths[file]));
    const auto first = static_cast<int64_t>(offsets.size());
    for (const RecordEntry& entry : entries) {
      if (entry.offset < 0 || entry.offset >= readers_[file]->size()) {
        return Invalid("'", paths[file], "' has the offset ", entry.offset, ", the file ",
                       readers_[file]->size(), " bytes");
      }
      offsets.push_back(begins_[file] + entry.offset);
    }
    std::sort(offsets.begin() + first, offsets.end());
  }
  return offsets;
}

std::string RecordFiles::Where(int64_t offset) const {
  const auto [file, own_offset] = Find(offset);
  return absl::StrCat("'", readers_[file]->path(), "', offset ", own_offset);
}

}  // namespace cooper
