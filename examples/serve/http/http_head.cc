#include "examples/serve/http/http_head.h"

#include <limits>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"

namespace cooper {

std::optional<uint64_t> BodyBytes(const httplib::Request& request) {
  if (request.has_header("Transfer-Encoding")) return std::nullopt;
  if (!request.has_header("Content-Length")) return 0;
  const std::string text = request.get_header_value("Content-Length");
  if (request.get_header_value_count("Content-Length") != 1 || text.empty()) return std::nullopt;
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return std::nullopt;
  }
  uint64_t bytes = 0;
  return absl::SimpleAtoi(text, &bytes) ? bytes : std::numeric_limits<uint64_t>::max();
}

HttpRefusal RefusalOf(const httplib::Request& request, uint64_t max_body_bytes) {
  const std::string encoding = request.get_header_value("Content-Encoding");
  if (!encoding.empty() && !absl::EqualsIgnoreCase(encoding, "identity")) {
    return {415, "a body with a Content-Encoding"};
  }
  if (request.is_multipart_form_data()) return {415, "a body of several parts"};
  if (request.has_header("Transfer-Encoding")) {
    if (request.has_header("Content-Length") ||
        request.get_header_value_count("Transfer-Encoding") != 1) {
      return {400, "a body whose end is told twice"};
    }
    const std::string transfer = request.get_header_value("Transfer-Encoding");
    if (!absl::EqualsIgnoreCase(transfer, "chunked")) return {501, "a Transfer-Encoding"};
    return {};
  }
  const bool has_body =
      request.method != "GET" && request.method != "HEAD" && request.method != "OPTIONS";
  if (has_body && !request.has_header("Content-Length")) return {411, "a body without its length"};
  const std::optional<uint64_t> bytes = BodyBytes(request);
  if (!bytes.has_value()) return {400, "a Content-Length that is no number"};
  if (*bytes > max_body_bytes) return {413, "a body that is too large"};
  return {};
}

}  // namespace cooper
