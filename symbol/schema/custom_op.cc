#include "symbol/schema/custom_op.h"

#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "ndarray/base/near_names.h"

namespace cooper {
namespace {

struct CustomOps {
  absl::Mutex mutex;
  std::map<std::string, CustomOp, std::less<>> by_type ABSL_GUARDED_BY(mutex);
};

CustomOps& TheCustomOps() {
  static auto* const ops = new CustomOps;
  return *ops;
}

}  // namespace

absl::Status RegisterCustomOp(absl::string_view op_type, CustomOp op) {
  if (!op.forward) {
    return absl::InvalidArgumentError(
        absl::StrCat("custom operator '", op_type, "' has no forward function"));
  }
  CustomOps& ops = TheCustomOps();
  const absl::MutexLock lock(&ops.mutex);
  if (ops.by_type.emplace(op_type, std::move(op)).second) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat("a custom operator '", op_type, "' is registered already"));
}

absl::StatusOr<const CustomOp*> FindCustomOp(const AttrMap& attrs) {
  const auto type = attrs.find("op_type");
  if (type == attrs.end()) {
    return absl::InvalidArgumentError("the attribute op_type is missing");
  }
  CustomOps& ops = TheCustomOps();
  const absl::MutexLock lock(&ops.mutex);
  const auto it = ops.by_type.find(type->second);
  if (it != ops.by_type.end()) return &it->second;
  std::vector<absl::string_view> names;
  for (const auto& [name, op] : ops.by_type) names.push_back(name);
  return absl::NotFoundError(
      absl::StrCat("no custom operator '", type->second, "' is registered (RegisterCustomOp); ",
                   names.empty() ? "there is none" : absl::StrCat("there are ", JoinNames(names)),
                   DidYouMean(type->second, names)));
}

}  // namespace cooper
