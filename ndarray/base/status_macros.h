#ifndef COOPER_NDARRAY_BASE_STATUS_MACROS_H_
#define COOPER_NDARRAY_BASE_STATUS_MACROS_H_

// Macros and functions that return an absl::Status to the caller, with context added in front of
// its message.

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

// Evaluates `expr`, an absl::Status; returns it from the enclosing function unless it is OK.
#define COOPER_RETURN_IF_ERROR(expr)                 \
  do {                                               \
    absl::Status cooper_status_ = (expr);            \
    if (!cooper_status_.ok()) return cooper_status_; \
  } while (false)

// Evaluates `expr`, an absl::StatusOr<T>; returns its status from the enclosing function if it
// failed, else assigns the value to `lhs`, which may declare a variable. A type with a comma in it
// needs parentheses or `auto`.
#define COOPER_ASSIGN_OR_RETURN(lhs, expr) \
  COOPER_ASSIGN_OR_RETURN_IMPL_(COOPER_MACRO_CONCAT_(cooper_statusor_, __LINE__), lhs, expr)

#define COOPER_ASSIGN_OR_RETURN_IMPL_(statusor, lhs, expr) \
  auto statusor = (expr);                                  \
  if (!statusor.ok()) return std::move(statusor).status(); \
  lhs = *std::move(statusor)

#define COOPER_MACRO_CONCAT_(a, b) COOPER_MACRO_CONCAT_INNER_(a, b)
#define COOPER_MACRO_CONCAT_INNER_(a, b) a##b

namespace cooper {

// Returns `status` with the parts in front of its message, "bucket key 40: ..."; an OK status is
// returned as it is. The parts are concatenated, as by absl::StrCat, only after an error.
template <typename... Parts>
absl::Status AddContext(const absl::Status& status, const Parts&... parts) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(parts..., ": ", status.message()));
}
template <typename T, typename... Parts>
absl::StatusOr<T> AddContext(absl::StatusOr<T> result, const Parts&... parts) {
  if (result.ok()) return result;
  return AddContext(result.status(), parts...);
}

}  // namespace cooper

#endif  // COOPER_NDARRAY_BASE_STATUS_MACROS_H_
