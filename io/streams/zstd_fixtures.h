#ifndef COOPER_IO_STREAMS_ZSTD_FIXTURES_H_
#define COOPER_IO_STREAMS_ZSTD_FIXTURES_H_

// Compresses texts with zstd for tests, where libzstd is installed.

#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

#ifndef COOPER_WITHOUT_ZSTD
#include <zstd.h>
#endif

namespace cooper {

#ifndef COOPER_WITHOUT_ZSTD
inline constexpr bool kHasZstd = true;

// Returns the text as one frame with a checksum, as the program zstd writes it. A failure of
// libzstd fails the enclosing test.
inline std::string Zstd(absl::string_view text) {
  ZSTD_CCtx* const state = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(state, ZSTD_c_checksumFlag, 1);
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  const size_t size = ZSTD_compress2(state, bytes.data(), bytes.size(), text.data(), text.size());
  EXPECT_FALSE(ZSTD_isError(size));
  bytes.resize(size);
  ZSTD_freeCCtx(state);
  return bytes;
}
#else
inline constexpr bool kHasZstd = false;
inline std::string Zstd(absl::string_view /*text*/) { return ""; }
#endif

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_ZSTD_FIXTURES_H_
