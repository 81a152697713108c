#include "io/records/record_writer.h"

#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "io/records/record_format.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;

}  // namespace

RecordWriter::RecordWriter(AtomicFile file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {}

absl::StatusOr<std::unique_ptr<RecordWriter>> RecordWriter::Create(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  return absl::WrapUnique(new RecordWriter(std::move(file), path));
}

absl::Status RecordWriter::Write(absl::string_view record) {
  COOPER_RETURN_IF_ERROR(status_);
  const size_t before = buffer_.size();
  COOPER_RETURN_IF_ERROR(AddContext(AppendRecord(record, &buffer_), "'", path_, "'"));
  offset_ += static_cast<int64_t>(buffer_.size() - before);
  if (buffer_.size() < kBufferBytes) return absl::OkStatus();
  status_ = file_.Append(buffer_);
  buffer_.clear();
  return status_;
}

absl::Status RecordWriter::Close() {
  COOPER_RETURN_IF_ERROR(status_);
  status_ = file_.Append(buffer_);
  if (status_.ok()) status_ = file_.Commit();
  const absl::Status closed = status_;
  if (status_.ok())
    status_ = absl::FailedPreconditionError(absl::StrCat("'", path_, "' is closed"));
  return closed;
}

}  // namespace cooper
