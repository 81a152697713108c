#ifndef COOPER_EXAMPLES_SERVE_HTTP_HTTP_HEAD_H_
#define COOPER_EXAMPLES_SERVE_HTTP_HTTP_HEAD_H_

// What the head of a request tells of its body, which has not been read yet.

#include <cstdint>
#include <optional>

#include "httplib.h"

namespace cooper {

// The body's bytes; none if the head does not tell, since they come in chunks or it is wrong.
std::optional<uint64_t> BodyBytes(const httplib::Request& request);

struct HttpRefusal {
  int status = 0;  // 0: not refused
  const char* reason = "";
};

// Whether the request is refused without its body: one that is too large, that would grow when it
// is decompressed, which httplib does unasked, or whose end cannot be told.
HttpRefusal RefusalOf(const httplib::Request& request, uint64_t max_body_bytes);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SERVE_HTTP_HTTP_HEAD_H_
