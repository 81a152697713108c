#include "executor/kernel.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace cooper {
namespace {

using Key = std::pair<std::string, DeviceType>;

std::map<Key, Kernel>& TheRegistry() {
  static auto* registry = new std::map<Key, Kernel>;
  return *registry;
}

}  // namespace

KernelRegistrar::KernelRegistrar(const char* op, DeviceType device, Kernel kernel) {
  CHECK(TheRegistry().emplace(Key(op, device), kernel).second)
      << "the kernel of " << op << " is registered twice";
}

absl::StatusOr<const Kernel*> FindKernel(absl::string_view op, DeviceType device) {
  auto it = TheRegistry().find({std::string(op.data(), op.size()), device});
  if (it != TheRegistry().end()) return &it->second;
  return absl::UnimplementedError(absl::StrCat("no kernel of operator ", op, " for ",
                                               device == DeviceType::kCpu ? "cpu" : "gpu",
                                               " is linked into this program"));
}

}  // namespace cooper
