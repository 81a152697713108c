#include "io/iterators/gzip_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

constexpr int64_t kChunkBytes = int64_t{1} << 20;

gzFile AsGz(void* file) { return static_cast<gzFile>(file); }

}  // namespace

GzipReader::GzipReader(std::string path, void* file) : path_(std::move(path)), file_(file) {}

GzipReader::~GzipReader() { gzclose_r(AsGz(file_)); }

absl::StatusOr<std::unique_ptr<GzipReader>> GzipReader::Open(const std::string& path) {
  errno = ENOMEM;  // gzopen does not set it where memory is short
  void* const file = gzopen(path.c_str(), "rbe");
  if (file == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open '", path, "'"));
  }
  return absl::WrapUnique(new GzipReader(path, file));
}

absl::StatusOr<std::string> GzipReader::Read(int64_t bytes) {
  std::string read;
  while (static_cast<int64_t>(read.size()) < bytes) {
    const size_t before = read.size();
    const int64_t chunk = std::min(kChunkBytes, bytes - static_cast<int64_t>(before));
    read.resize(before + static_cast<size_t>(chunk));
    const int got = gzread(AsGz(file_), read.data() + before, static_cast<unsigned>(chunk));
    int code = Z_OK;
    const char* const reason = gzerror(AsGz(file_), &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot read '", path_, "' behind byte ", offset_, ": ", reason));
    }
    if (got == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", path_, "' ends after ", offset_, " bytes, expected ",
                       bytes - static_cast<int64_t>(before), " more"));
    }
    read.resize(before + static_cast<size_t>(got));
    offset_ += got;
  }
  return read;
}

absl::Status GzipReader::Skip(int64_t bytes) {
  for (; bytes > 0; bytes -= std::min(bytes, kChunkBytes)) {
    COOPER_RETURN_IF_ERROR(Read(std::min(bytes, kChunkBytes)).status());
  }
  return absl::OkStatus();
}

}  // namespace cooper
