#include "absl/status/status.h"
#include "io/iterators/decompressor.h"

// @zstd sets the macro where libzstd is not installed (third_party/README.md).
#ifndef COOPER_WITHOUT_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace cooper {
namespace {

constexpr int kMaxWindowLog = 23;  // 8 MiB

class ZstdDecompressor : public Decompressor {
 public:
  ZstdDecompressor() : state_(ZSTD_createDCtx()) {
    if (is_ready()) ZSTD_DCtx_setParameter(state_, ZSTD_d_windowLogMax, kMaxWindowLog);
  }
  ~ZstdDecompressor() override { ZSTD_freeDCtx(state_); }
  ZstdDecompressor(const ZstdDecompressor&) = delete;
  ZstdDecompressor& operator=(const ZstdDecompressor&) = delete;

  bool is_ready() const { return state_ != nullptr; }

  void Restart() override {
    ZSTD_DCtx_reset(state_, ZSTD_reset_session_only);
    header_size_ = 0;
    written_ = 0;
  }

  absl::StatusOr<bool> Decompress(absl::Span<const char>* in, absl::Span<char>* out) override {
    ZSTD_inBuffer from = {.src = in->data(), .size = in->size(), .pos = 0};
    ZSTD_outBuffer to = {.dst = out->data(), .size = out->size(), .pos = 0};
    const size_t result = ZSTD_decompressStream(state_, &to, &from);
    const size_t of_header = std::min(from.pos, header_.size() - header_size_);
    std::copy_n(in->data(), of_header, header_.begin() + header_size_);
    header_size_ += of_header;
    written_ += to.pos;
    in->remove_prefix(from.pos);
    out->remove_prefix(to.pos);
    if (result == 0) return CheckSize();
    if (!ZSTD_isError(result)) return false;
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) {
      return absl::ResourceExhaustedError("there is no memory");
    }
    return absl::InvalidArgumentError(absl::StrCat("is damaged (", ZSTD_getErrorName(result), ")"));
  }

 private:
  // Returns true, or the error of a frame whose header claims another size. libzstd checks it
  // unless the output is shorter than the frame and the last block is empty.
  absl::StatusOr<bool> CheckSize() const {
    const unsigned long long size = ZSTD_getFrameContentSize(header_.data(), header_size_);
    if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == written_) return true;
    return absl::InvalidArgumentError(absl::StrCat("is damaged (a frame has ", written_,
                                                   " bytes, its header claims ", size, ")"));
  }

  ZSTD_DCtx* const state_;
  std::array<char, 18> header_ = {};  // the first bytes of a frame: headers have at most 18
  size_t header_size_ = 0;            // the number of them that were read
  uint64_t written_ = 0;              // bytes of the frame
};

}  // namespace

absl::StatusOr<std::unique_ptr<Decompressor>> MakeZstdDecompressor() {
  auto zstd = std::make_unique<ZstdDecompressor>();
  if (!zstd->is_ready()) return absl::ResourceExhaustedError("zstd: there is no memory");
  return zstd;
}

}  // namespace cooper

#else

namespace cooper {

absl::StatusOr<std::unique_ptr<Decompressor>> MakeZstdDecompressor() {
  return absl::FailedPreconditionError(
      "this program was built without zstd: install libzstd-dev and build it again");
}

}  // namespace cooper

#endif
