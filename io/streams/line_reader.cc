#include "io/streams/line_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "ndarray/base/file_kind.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 18;

}  // namespace

LineReader::LineReader(std::string path, std::unique_ptr<ByteStream> bytes, int64_t max_line_bytes)
    : path_(std::move(path)),
      bytes_(std::move(bytes)),
      max_line_bytes_(max_line_bytes),
      buffer_(kBlockBytes) {}

absl::StatusOr<LineReader> LineReader::Open(const std::string& path, int64_t max_line_bytes) {
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<ByteStream> bytes, ByteStream::Open(path));
  LineReader reader(path, std::move(bytes), max_line_bytes);
  COOPER_RETURN_IF_ERROR(reader.Fill());
  const std::string foreign =
      DescribeForeignFile(absl::string_view(reader.buffer_.data(), reader.end_), FileKind::kText);
  if (foreign.empty()) return reader;
  return absl::InvalidArgumentError(absl::StrCat("cannot read '", path, "' as text", foreign));
}

absl::Status LineReader::Fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  COOPER_ASSIGN_OR_RETURN(
      const int64_t count,
      bytes_->Read(buffer_.data() + end_, static_cast<int64_t>(buffer_.size() - end_)));
  end_ += static_cast<size_t>(count);
  at_end_ = count == 0;
  return absl::OkStatus();
}

absl::StatusOr<bool> LineReader::Next(absl::string_view* line) {
  constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";
  size_t searched = 0;  // bytes that have no line break
  while (true) {
    const char* const from = buffer_.data() + begin_;
    const auto* const found =
        static_cast<const char*>(std::memchr(from + searched, '\n', end_ - begin_ - searched));
    searched = found == nullptr ? end_ - begin_ : static_cast<size_t>(found - from);
    if (static_cast<int64_t>(searched) > max_line_bytes_) {
      return absl::InvalidArgumentError(absl::StrCat("'", path_, "': the line at byte ", offset_,
                                                     " has more than ", max_line_bytes_,
                                                     " bytes (max_line_bytes)"));
    }
    if (found == nullptr && !at_end_) {
      COOPER_RETURN_IF_ERROR(Fill());
      continue;
    }
    if (found == nullptr && searched == 0) return false;
    *line = absl::string_view(from, searched);
    if (offset_ == 0) *line = absl::StripPrefix(*line, kByteOrderMark);
    const size_t used = searched + (found == nullptr ? 0 : 1);
    begin_ += used;
    offset_ += static_cast<int64_t>(used);
    return true;
  }
}

absl::Status LineReader::SeekTo(int64_t offset) {
  if (offset < 0) {
    return absl::InvalidArgumentError(absl::StrCat("'", path_, "': cannot move to byte ", offset));
  }
  const int64_t ahead = offset - offset_;
  if (ahead >= 0 && ahead <= static_cast<int64_t>(end_ - begin_)) {
    begin_ += static_cast<size_t>(ahead);
  } else {
    COOPER_RETURN_IF_ERROR(bytes_->SeekTo(offset));
    begin_ = end_ = 0;
    at_end_ = false;
  }
  offset_ = offset;
  return absl::OkStatus();
}

}  // namespace cooper
