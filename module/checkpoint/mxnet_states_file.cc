#include "module/checkpoint/mxnet_states_file.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "module/kvstore/kvstore.h"
#include "module/optimizer/export_states.h"
#include "module/optimizer/updater.h"
#include "module/parameters/learner.h"
#include "module/pickle/mxnet_states_writer.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

absl::StatusOr<const Learner*> LearnerOf(const BaseModule& module) {
  const auto learners = module.learners();
  if (!module.optimizer_initialized()) {
    return absl::FailedPreconditionError("SaveMxnetOptimizerStates: call InitOptimizer first");
  }
  if (learners.size() != 1) {
    return absl::UnimplementedError(absl::StrCat("SaveMxnetOptimizerStates: the module has ",
                                                 learners.size(),
                                                 " parts with an optimizer, expected 1"));
  }
  const Learner* const learner = learners[0];
  if (learner->parameters().num_contexts() > 1 && learner->kvstore() == nullptr) {
    return absl::UnimplementedError(
        "SaveMxnetOptimizerStates: without a key-value store each context has states of its own");
  }
  return learner;
}

}  // namespace

absl::Status SaveMxnetOptimizerStates(const BaseModule& module, const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const Learner* const learner, LearnerOf(module));
  const std::shared_ptr<Updater> updater = learner->updater();
  const bool by_name = learner->kvstore() != nullptr && learner->kvstore()->updater() == updater;
  const std::vector<std::string>& order = learner->parameters().arg_order();
  // On several contexts without a store that updates, all have the state of the summed gradients.
  const int64_t contexts = learner->parameters().num_contexts();
  const auto keys_of = [&](const std::string& name) -> absl::StatusOr<std::vector<MxnetKey>> {
    if (by_name) return std::vector<MxnetKey>{name};
    const auto found = absl::c_find(order, name);
    if (found == order.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("SaveMxnetOptimizerStates: '", name, "' is no argument of the network"));
    }
    std::vector<MxnetKey> keys;
    for (int64_t i = 0; i < contexts; ++i) keys.push_back((found - order.begin()) * contexts + i);
    return keys;
  };
  COOPER_ASSIGN_OR_RETURN(const auto states, updater->GetStates());
  COOPER_ASSIGN_OR_RETURN(MxnetStatesWriter writer,
                          MxnetStatesWriter::Create(path, learner->parameters().format().np_shape));
  COOPER_RETURN_IF_ERROR(WriteMxnetStates(states, updater->optimizer(), keys_of, &writer));
  return writer.Commit();
}

}  // namespace cooper
