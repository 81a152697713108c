#ifndef COOPER_NDARRAY_BASE_STATUS_MATCHERS_H_
#define COOPER_NDARRAY_BASE_STATUS_MATCHERS_H_

// GoogleMock matchers for absl::Status and absl::StatusOr: IsOk(), IsOkAndHolds(m),
// StatusIs(code, message_matcher). For tests.

#include <ostream>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cooper {

// Returns the status of an absl::Status or absl::StatusOr, so that one matcher serves both.
inline const absl::Status& GetStatus(const absl::Status& status) { return status; }
template <typename T>
const absl::Status& GetStatus(const absl::StatusOr<T>& value) {
  return value.status();
}

// Matches an OK status, and prints the status otherwise.
MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  *result_listener << GetStatus(arg).ToString();
  return GetStatus(arg).ok();
}

// Matches a StatusOr with a value that `inner`, a matcher or a value, matches.
MATCHER_P(IsOkAndHolds, inner, "is OK and holds a value that matches") {
  if (!arg.ok()) {
    *result_listener << arg.status().ToString();
    return false;
  }
  return ::testing::ExplainMatchResult(inner, *arg, result_listener);
}

// Matches a status with this code and a message that the string matcher matches, as in
// StatusIs(absl::StatusCode::kNotFound, HasSubstr("fc1")).
MATCHER_P2(StatusIs, code, message, "has the status code and a message that matches") {
  const absl::Status& status = GetStatus(arg);
  *result_listener << status.ToString();
  return status.code() == code &&
         ::testing::Matches(::testing::SafeMatcherCast<std::string>(message))(
             std::string(status.message().data(), status.message().size()));
}

}  // namespace cooper

// Fail the enclosing test unless the status is OK; COOPER_ASSERT_OK also returns from the function.
#define COOPER_EXPECT_OK(expr) EXPECT_THAT((expr), ::cooper::IsOk())
#define COOPER_ASSERT_OK(expr) ASSERT_THAT((expr), ::cooper::IsOk())

// Assigns the value of a StatusOr, or fails the enclosing test and returns from the function.
#define COOPER_ASSERT_OK_AND_ASSIGN(lhs, expr) \
  COOPER_ASSERT_OK_AND_ASSIGN_IMPL_(COOPER_TEST_CONCAT_(cooper_test_value_, __LINE__), lhs, expr)
#define COOPER_ASSERT_OK_AND_ASSIGN_IMPL_(statusor, lhs, expr) \
  auto statusor = (expr);                                      \
  ASSERT_TRUE(statusor.ok()) << statusor.status();             \
  lhs = *std::move(statusor)
#define COOPER_TEST_CONCAT_(a, b) COOPER_TEST_CONCAT_INNER_(a, b)
#define COOPER_TEST_CONCAT_INNER_(a, b) a##b

#endif  // COOPER_NDARRAY_BASE_STATUS_MATCHERS_H_
