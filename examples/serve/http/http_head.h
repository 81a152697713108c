#ifndef COOPER_EXAMPLES_SERVE_HTTP_HTTP_HEAD_H_
#define COOPER_EXAMPLES_SERVE_HTTP_HTTP_HEAD_H_

// Describes a request's body by the request's head, before the body has been read.

#include <cstdint>
#include <optional>

#include "httplib.h"

namespace cooper {

// Returns the body's size in bytes, 0 without a Content-Length; nullopt if the request has a
// Transfer-Encoding or its Content-Length is malformed.
std::optional<uint64_t> BodyBytes(const httplib::Request& request);

struct HttpRefusal {
  int status = 0;  // 0: not refused
  const char* reason = "";
};

// Returns the status with which a request is refused before its body is read: if the body is larger
// than `max_body_bytes`, has a Content-Encoding (httplib would decompress it) or several parts, or
// if its end is unknown.
HttpRefusal RefusalOf(const httplib::Request& request, uint64_t max_body_bytes);

}  // namespace cooper

#endif  // COOPER_EXAMPLES_SERVE_HTTP_HTTP_HEAD_H_
