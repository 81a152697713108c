#ifndef COOPER_MODULE_OPTIMIZER_SAVED_NAMES_H_
#define COOPER_MODULE_OPTIMIZER_SAVED_NAMES_H_

// The names of saved optimizer states (Updater::GetStates), besides those of
// Optimizer::state_names.

namespace cooper {

inline constexpr char kSavedOptimizer[] = ":optimizer";    // Optimizer::SaveState
inline constexpr char kSavedMaster[] = "master";           // "fc_weight:master"
inline constexpr char kSavedNumUpdates[] = "num_updates";  // "fc_weight:num_updates"

}  // namespace cooper

#endif  // COOPER_MODULE_OPTIMIZER_SAVED_NAMES_H_
