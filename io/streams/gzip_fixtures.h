#ifndef COOPER_IO_STREAMS_GZIP_FIXTURES_H_
#define COOPER_IO_STREAMS_GZIP_FIXTURES_H_

// Compresses texts for tests.

#include <zlib.h>

#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace cooper {

// Returns the text as one member of a gzip file. Gzip files may have several members, so
// concatenated results are a file too. A failure of zlib fails the enclosing test.
inline std::string Gzip(absl::string_view text) {
  z_stream state = {};
  constexpr int kGzip = 16;  // zlib: write gzip's header and trailer
  EXPECT_EQ(
      deflateInit2(&state, Z_BEST_SPEED, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY),
      Z_OK);
  std::string bytes(deflateBound(&state, text.size()) + 32, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(bytes.data());
  state.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&state, Z_FINISH), Z_STREAM_END);
  bytes.resize(state.total_out);
  deflateEnd(&state);
  return bytes;
}

}  // namespace cooper

#endif  // COOPER_IO_STREAMS_GZIP_FIXTURES_H_
