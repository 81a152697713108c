#include "module/interface/trainable_module.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "module/devices/module_group.h"
#include "module/parameters/checkpoint.h"
#include "module/parameters/learner.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/threads/profiler.h"

namespace cooper {
namespace {

absl::Status Missing(const char* call, const char* missing) {
  return absl::FailedPreconditionError(absl::StrCat(call, ": call ", missing, " first"));
}

}  // namespace

const std::shared_ptr<ModuleGroup>& TrainableModule::group() const {
  static const auto* const none = new std::shared_ptr<ModuleGroup>;
  return *none;
}

std::vector<std::pair<std::string, Shape>> ModuleDescription::NamedOutputShapes() const {
  std::vector<std::pair<std::string, Shape>> shapes;
  for (size_t i = 0; i < output_shapes.size(); ++i) {
    shapes.emplace_back(output_names[i], output_shapes[i]);
  }
  return shapes;
}

bool TrainableModule::All(bool (*holds)(const TrainableModule& part)) const {
  if (group() != nullptr) return holds(*this);  // allocates nothing, as a step must not
  const std::vector<const TrainableModule*> all = parts();
  return !all.empty() && absl::c_all_of(all, [&](const TrainableModule* part) {
    return part->group() == nullptr ? part->binded() : holds(*part);
  });
}

bool TrainableModule::params_initialized() const {
  return All([](const TrainableModule& part) { return part.group()->parameters().initialized(); });
}

bool TrainableModule::optimizer_initialized() const {
  return All([](const TrainableModule& part) { return part.group()->updater() != nullptr; });
}

absl::InlinedVector<Learner*, 1> TrainableModule::learners() const {
  if (group() != nullptr) return {&group()->learner()};
  absl::InlinedVector<Learner*, 1> learners;
  for (const TrainableModule* part : parts()) {
    if (part->group() != nullptr) learners.push_back(&part->group()->learner());
  }
  return learners;
}

absl::Status TrainableModule::EachLearner(absl::FunctionRef<absl::Status(Learner&)> call) const {
  if (group() != nullptr) return call(group()->learner());
  const std::vector<const TrainableModule*> all = parts();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i]->group() == nullptr) continue;
    COOPER_RETURN_IF_ERROR(AddContext(call(all[i]->group()->learner()), "module ", i));
  }
  return absl::OkStatus();
}

absl::StatusOr<Learner*> TrainableModule::OnlyLearner(const char* call) const {
  COOPER_RETURN_IF_ERROR(RequireOptimizer(call));
  const auto all = learners();
  if (all.size() == 1) return all[0];
  return absl::UnimplementedError(absl::StrCat(call, ": the module has ", all.size(),
                                               " parts with an optimizer, expected 1: call it on "
                                               "each part, or save the training state"));
}

absl::StatusOr<int> TrainableModule::JoinUpdate() {
  COOPER_RETURN_IF_ERROR(RequireOptimizer("JoinUpdate"));
  const ScopedProfile profile(ProfileCategory::kStep, "update");
  int active = 0;
  COOPER_RETURN_IF_ERROR(EachLearner([&](Learner& learner) -> absl::Status {
    COOPER_ASSIGN_OR_RETURN(const int part_active, learner.JoinUpdate());
    active = std::max(active, part_active);
    return absl::OkStatus();
  }));
  return active;
}

absl::Status TrainableModule::RequireBound(const char* call) const {
  return binded_ ? absl::OkStatus() : Missing(call, "Bind");
}

absl::Status TrainableModule::RequireParams(const char* call) const {
  COOPER_RETURN_IF_ERROR(RequireBound(call));
  return params_initialized() ? absl::OkStatus() : Missing(call, "InitParams");
}

absl::Status TrainableModule::RequireOptimizer(const char* call) const {
  COOPER_RETURN_IF_ERROR(RequireParams(call));
  return optimizer_initialized() ? absl::OkStatus() : Missing(call, "InitOptimizer");
}

absl::Status TrainableModule::TrainStep(const DataBatch& batch, const StepOptions& options) {
  COOPER_RETURN_IF_ERROR(Forward(batch, /*is_train=*/true));
  COOPER_RETURN_IF_ERROR(Backward());
  if (options.check_finite) COOPER_RETURN_IF_ERROR(CheckFinite());
  return options.update ? Update() : absl::OkStatus();
}

absl::Status TrainableModule::SaveCheckpoint(const std::string&, int, bool) const {
  return absl::UnimplementedError(
      "SaveCheckpoint: this kind of module has no symbol to save; save the parameters with "
      "SaveParams, or the whole training with a Checkpointer");
}

absl::Status TrainableModule::SaveParams(const std::string& path) const {
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, GetParams());
  return SaveParamsFile(path, params.args, params.auxs, params.format);
}

absl::Status TrainableModule::LoadParams(const std::string& path) {
  ModuleParams params;
  COOPER_RETURN_IF_ERROR(LoadParamsFile(path, &params.args, &params.auxs));
  return SetParams(params.args, params.auxs);
}

}  // namespace cooper
