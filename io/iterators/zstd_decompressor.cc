#include "absl/status/status.h"
#include "io/iterators/decompressor.h"

// @zstd sets the macro where libzstd is not installed (third_party/README.md).
#ifndef COOPER_WITHOUT_ZSTD
#include <zstd.h>
#include <zstd_errors.h>

#include <utility>

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

  void Restart() override { ZSTD_DCtx_reset(state_, ZSTD_reset_session_only); }

  absl::StatusOr<bool> Decompress(absl::Span<const char>* in, absl::Span<char>* out) override {
    ZSTD_inBuffer from = {.src = in->data(), .size = in->size(), .pos = 0};
    ZSTD_outBuffer to = {.dst = out->data(), .size = out->size(), .pos = 0};
    const size_t result = ZSTD_decompressStream(state_, &to, &from);
    in->remove_prefix(from.pos);
    out->remove_prefix(to.pos);
    if (!ZSTD_isError(result)) return result == 0;
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) {
      return absl::ResourceExhaustedError("there is no memory");
    }
    return absl::InvalidArgumentError(absl::StrCat("is damaged (", ZSTD_getErrorName(result), ")"));
  }

 private:
  ZSTD_DCtx* const state_;
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
