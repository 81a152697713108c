#include "module/optimizer/sgd.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "module/optimizer/optimizer_registry.h"
#include "ndarray/base/status_macros.h"
#include "symbol/ops/optimizer/sgd_param.h"

namespace cooper {
namespace {

constexpr double kDefaultRate = 0.01;

// Uses the operator `op` with momentum, else `plain`, whose parameters are of type Plain.
template <typename Plain, typename P>
std::unique_ptr<Optimizer> WithMomentum(const OptimizerOptions& common, const char* kind,
                                        const char* plain, const char* op, const P& param) {
  if (param.momentum == 0) {
    return OptimizerWith<Plain>::Make(common, {kind, plain, {}, kDefaultRate}, {});
  }
  return OptimizerWith<P>::Make(common, {kind, op, {"momentum"}, kDefaultRate}, param);
}

class DcasgdOptimizer : public OptimizerWith<DcasgdParam> {
 public:
  using OptimizerWith::OptimizerWith;

 protected:
  absl::Status KeepWeight(const NDArray& weight, absl::Span<const NDArray> state) const override {
    return state[1].CopyFrom(weight);
  }
};

class SgldOptimizer : public OptimizerWith<SgldParam> {
 public:
  explicit SgldOptimizer(const SgldOptions& options)
      : OptimizerWith(options.common, {"sgld", "_sgld_update", {}, kDefaultRate}, {}),
        seed_(options.seed) {}

 protected:
  void Set(const Step& step, SgldParam* param) override {
    param->seed = static_cast<int64_t>(seed_);
    param->position = static_cast<int64_t>(position_);
    position_ += static_cast<uint64_t>(step.size);
  }
  // The rate is the variance of the noise.
  bool takes_negative_rates() const override { return false; }

  void Save(KeyValues* state) const override {
    state->SetUint("noise_seed", seed_);
    state->SetUint("noise_position", position_);
  }
  absl::Status Load(const KeyValues& state) override {
    COOPER_ASSIGN_OR_RETURN(const uint64_t seed, state.GetUint("noise_seed"));
    COOPER_ASSIGN_OR_RETURN(position_, state.GetUint("noise_position"));
    seed_ = seed;
    return absl::OkStatus();
  }
  void KeepShared() override { position_before_ = position_; }
  void RestoreShared() override { position_ = position_before_; }

 private:
  uint64_t seed_;
  uint64_t position_ = 0;  // position in the stream of noise
  uint64_t position_before_ = 0;
};

}  // namespace

std::unique_ptr<Optimizer> Sgd(const SgdOptions& options) {
  SgdMomParam param;
  param.momentum = options.momentum;
  return WithMomentum<SgdParam>(options.common, "sgd", "sgd_update", "sgd_mom_update", param);
}

std::unique_ptr<Optimizer> Nag(const NagOptions& options) {
  MomentumParam param;
  param.momentum = options.momentum;
  return WithMomentum<SgdParam>(options.common, "nag", "sgd_update", "nag_mom_update", param);
}

absl::StatusOr<std::unique_ptr<Optimizer>> Signum(const SignumOptions& options) {
  if (options.momentum == 0 && options.wd_lh != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("optimizer signum: wd_lh is ", options.wd_lh,
                     ", expected 0 where momentum is 0: wd is the decoupled decay then"));
  }
  SignumParam param;
  param.momentum = options.momentum;
  param.wd_lh = options.wd_lh;
  return WithMomentum<PlainUpdateParam>(options.common, "signum", "signsgd_update", "signum_update",
                                        param);
}

std::unique_ptr<Optimizer> Dcasgd(const DcasgdOptions& options) {
  DcasgdParam param;
  param.momentum = options.momentum;
  param.lamda = options.lamda;
  return std::make_unique<DcasgdOptimizer>(
      options.common,
      Optimizer::Kind{"dcasgd", "_dcasgd_update", {"momentum", "previous_weight"}, kDefaultRate},
      param);
}

std::unique_ptr<Optimizer> Sgld(const SgldOptions& options) {
  return std::make_unique<SgldOptimizer>(options);
}

namespace {

// The options as keyword arguments, which have no unsigned numbers.
struct SgldKwargs {
  OptimizerOptions common;
  int64_t seed = static_cast<int64_t>(DefaultSeed());
};
std::unique_ptr<Optimizer> SgldFrom(const SgldKwargs& kwargs) {
  return Sgld({.common = kwargs.common, .seed = static_cast<uint64_t>(kwargs.seed)});
}

const bool kRegistered[] = {
    RegisterOptimizer({"sgd", "ccsgd"}, Sgd,
                      [](auto& d) {
                        d.Field("momentum", &SgdOptions::momentum);
                        d.template Ignored<bool>(kLazyUpdate);
                      }),
    RegisterOptimizer({"nag"}, Nag, [](auto& d) { d.Field("momentum", &NagOptions::momentum); }),
    RegisterOptimizer({"signum"}, Signum,
                      [](auto& d) {
                        d.Field("momentum", &SignumOptions::momentum);
                        d.Field("wd_lh", &SignumOptions::wd_lh);
                      }),
    RegisterOptimizer({"dcasgd"}, Dcasgd,
                      [](auto& d) {
                        d.Field("momentum", &DcasgdOptions::momentum);
                        d.Field("lamda", &DcasgdOptions::lamda);
                      }),
    RegisterOptimizer({"sgld"}, SgldFrom, [](auto& d) { d.Field("seed", &SgldKwargs::seed); }),
};

}  // namespace
}  // namespace cooper
