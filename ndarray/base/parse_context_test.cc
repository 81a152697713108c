#include "ndarray/base/parse_context.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ParseContextTest, ReadsWhatToStringWrites) {
  for (const Context context :
       {Context::Cpu(), Context::Cpu(3), Context::Gpu(), Context::Gpu(12)}) {
    EXPECT_THAT(ParseContext(context.ToString()), IsOkAndHolds(context));
  }
  EXPECT_THAT(ParseContext("cpu"), IsOkAndHolds(Context::Cpu()));
  EXPECT_THAT(ParseContext(" gpu "), IsOkAndHolds(Context::Gpu()));
}

TEST(ParseContextTest, ReadsLists) {
  EXPECT_THAT(ParseContexts("gpu(0), gpu(1),cpu"),
              IsOkAndHolds(ElementsAre(Context::Gpu(0), Context::Gpu(1), Context::Cpu())));
  EXPECT_THAT(ParseContexts("gpu,"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("''")));
}

TEST(ParseContextTest, RefusesTheRest) {
  for (const char* text : {"", "gpu0", "gpu()", "gpu(", "gpu(0", "gpu 0)", "gpu(-1)", "gpu(1.5)",
                           "tpu(0)", "gpu(0)x", "(0)", "gpu(99999999999)"}) {
    EXPECT_THAT(ParseContext(text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not a context")))
        << text;
  }
}

}  // namespace
}  // namespace cooper
