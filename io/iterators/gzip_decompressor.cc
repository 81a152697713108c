#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "io/iterators/decompressor.h"

namespace cooper {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;  // of a call: zlib counts in 32 bits

class GzipDecompressor : public Decompressor {
 public:
  GzipDecompressor() {
    constexpr int kGzip = 16;  // zlib: expect gzip's header and check its trailer
    is_ready_ = inflateInit2(&state_, MAX_WBITS + kGzip) == Z_OK;
  }
  ~GzipDecompressor() override { inflateEnd(&state_); }

  bool is_ready() const { return is_ready_; }

  void Restart() override { inflateReset(&state_); }

  absl::StatusOr<bool> Decompress(absl::Span<const char>* in, absl::Span<char>* out) override {
    const size_t in_bytes = std::min(in->size(), kMaxBytes);
    const size_t out_bytes = std::min(out->size(), kMaxBytes);
    state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in->data()));
    state_.avail_in = static_cast<uInt>(in_bytes);
    state_.next_out = reinterpret_cast<Bytef*>(out->data());
    state_.avail_out = static_cast<uInt>(out_bytes);
    const int result = inflate(&state_, Z_NO_FLUSH);
    in->remove_prefix(in_bytes - state_.avail_in);
    out->remove_prefix(out_bytes - state_.avail_out);
    if (result == Z_OK || result == Z_BUF_ERROR) return false;
    if (result == Z_STREAM_END) return true;
    if (result == Z_MEM_ERROR) return absl::ResourceExhaustedError("there is no memory");
    if (state_.msg == nullptr) return absl::InvalidArgumentError("is damaged");
    return absl::InvalidArgumentError(absl::StrCat("is damaged (", state_.msg, ")"));
  }

 private:
  z_stream state_ = {};
  bool is_ready_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Decompressor>> MakeGzipDecompressor() {
  auto gzip = std::make_unique<GzipDecompressor>();
  if (!gzip->is_ready()) return absl::ResourceExhaustedError("zlib: there is no memory");
  return gzip;
}

}  // namespace cooper
