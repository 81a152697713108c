#include "executor/program/kernel.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/program/kernel_alias.h"
#include "glog/logging.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Key = std::pair<std::string, DeviceType>;

std::map<Key, Kernel>& TheRegistry() {
  static auto* registry = new std::map<Key, Kernel>;
  return *registry;
}

// Operators without kernels of their own, and those whose kernels they use.
std::map<std::string, std::string, std::less<>>& TheAliases() {
  static auto* aliases = new std::map<std::string, std::string, std::less<>>;
  return *aliases;
}

const char* DeviceName(DeviceType device) { return device == DeviceType::kCpu ? "cpu" : "gpu"; }

// Returns the targets that link a kernel: "@cooper//executor/cpu/nn, or
// @cooper//executor/cpu:all_kernels".
std::string TargetsOf(absl::string_view op, DeviceType device) {
  const std::string folder =
      absl::StrCat("@cooper//executor/", device == DeviceType::kCpu ? "cpu" : "cuda");
  // Operators of other workspaces may have other families.
  constexpr absl::string_view kFamilies[] = {"detection", "elemwise", "index", "linalg",
                                             "loss",      "nn",       "numpy", "optimizer",
                                             "random",    "reduce",   "rnn",   "shape"};
  const absl::StatusOr<const OpSchema*> schema = FindOp(op);
  const std::string family = schema.ok() ? (*schema)->family() : "";
  if (std::find(std::begin(kFamilies), std::end(kFamilies), family) == std::end(kFamilies)) {
    return "the target that registers it";
  }
  return absl::StrCat(folder, "/", family, ", or ", folder, ":all_kernels");
}

}  // namespace

std::string DTypeSet::ToString() const {
  std::vector<std::string> names;
  for (DType dtype : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBfloat16,
                      DType::kUint8, DType::kInt8, DType::kInt32, DType::kInt64, DType::kBool}) {
    if (contains(dtype)) names.emplace_back(DTypeName(dtype));
  }
  return absl::StrJoin(names, ", ");
}

KernelRegistrar::KernelRegistrar(const char* op, DeviceType device, DTypeSet dtypes,
                                 Kernel::RunFn run, Kernel::PrepareFn prepare,
                                 Kernel::RunAllFn run_all) {
  CHECK(TheRegistry().emplace(Key(op, device), Kernel{dtypes, run, prepare, run_all}).second)
      << "the kernel of " << op << " is registered twice";
}

KernelAlias::KernelAlias(const char* op, const char* base) {
  CHECK(TheAliases().emplace(op, base).second) << "two operators have kernels for " << op;
}

absl::StatusOr<const Kernel*> FindKernel(absl::string_view op, DeviceType device) {
  auto it = TheRegistry().find({std::string(op.data(), op.size()), device});
  if (it != TheRegistry().end()) return &it->second;
  if (const auto base = TheAliases().find(op); base != TheAliases().end()) {
    return FindKernel(base->second, device);
  }
  return absl::UnimplementedError(
      absl::StrCat("no kernel of operator ", op, " for ", DeviceName(device),
                   " is linked into this program; link ", TargetsOf(op, device)));
}

std::vector<std::pair<std::string, const Kernel*>> AllKernels(DeviceType device) {
  std::vector<std::pair<std::string, const Kernel*>> kernels;
  for (const auto& [key, kernel] : TheRegistry()) {
    if (key.second == device) kernels.emplace_back(key.first, &kernel);
  }
  return kernels;
}

absl::StatusOr<Prepared> PrepareKernel(const Kernel& kernel, const PrepareContext& c) {
  const auto check = [&](absl::Span<const ArrayView> views, const char* what,
                         const OpSchema::Names& names) {
    if (views.empty() || kernel.dtypes.contains(views[0].dtype)) return absl::OkStatus();
    return absl::UnimplementedError(absl::StrCat(
        "no ", DeviceName(c.context.device_type), " kernel for ", what, " '", names[0], "' of ",
        DTypeName(views[0].dtype), "; it takes ", kernel.dtypes.ToString(),
        ": convert the array that feeds it (NDArray::AsType), or the value with Cast"));
  };
  COOPER_RETURN_IF_ERROR(check(c.inputs, "input", c.call.op->InputNames(c.call)));
  COOPER_RETURN_IF_ERROR(check(c.outputs, "output", c.call.op->OutputNames(c.call)));
  if (kernel.prepare == nullptr) return Prepared();
  return kernel.prepare(c);
}

}  // namespace cooper
