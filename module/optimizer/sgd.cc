#include "module/optimizer/sgd.h"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "module/optimizer/element_update.h"
#include "ndarray/philox.h"
#include "ndarray/status_macros.h"

namespace cooper {
namespace {

using internal_optimizer::As;
using internal_optimizer::Clip;
using internal_optimizer::UpdateElements;

constexpr double kDefaultRate = 0.01;

std::vector<std::string> MomentumIf(double momentum) {
  if (momentum == 0) return {};
  return {"momentum"};
}

class SgdOptimizer : public Optimizer {
 public:
  explicit SgdOptimizer(const SgdOptions& options)
      : Optimizer(options.common, kDefaultRate), momentum_(options.momentum) {}

  absl::string_view kind() const override { return "sgd"; }
  std::vector<std::string> state_names() const override { return MomentumIf(momentum_); }

 protected:
  bool IsElementWise() const override { return true; }
  absl::Status Apply(const Step& step, const Arrays& a) override {
    if (momentum_ == 0) {
      return UpdateElements<0>(step, a, [&](auto tag) {
        using C = typename decltype(tag)::type;
        return [keep = As<C>(1 - step.lr * step.wd), lr = As<C>(step.lr),
                rescale = As<C>(step.rescale_grad), clip = As<C>(step.clip)](C& w, C g) {
          w = keep * w - lr * Clip(rescale * g, clip);
        };
      });
    }
    return UpdateElements<1>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [momentum = As<C>(momentum_), decay = As<C>(step.lr * step.wd), lr = As<C>(step.lr),
              rescale = As<C>(step.rescale_grad), clip = As<C>(step.clip)](C& w, C g, C& m) {
        m = momentum * m - decay * w - lr * Clip(rescale * g, clip);
        w += m;
      };
    });
  }

 private:
  const double momentum_;
};

class NagOptimizer : public Optimizer {
 public:
  explicit NagOptimizer(const NagOptions& options)
      : Optimizer(options.common, kDefaultRate), momentum_(options.momentum) {}

  absl::string_view kind() const override { return "nag"; }
  std::vector<std::string> state_names() const override { return MomentumIf(momentum_); }

 protected:
  bool IsElementWise() const override { return true; }
  absl::Status Apply(const Step& step, const Arrays& a) override {
    if (momentum_ == 0) {
      return UpdateElements<0>(step, a, [&](auto tag) {
        using C = typename decltype(tag)::type;
        return [keep = As<C>(1 - step.lr * step.wd), lr = As<C>(step.lr),
                rescale = As<C>(step.rescale_grad), clip = As<C>(step.clip)](C& w, C g) {
          w = keep * w - lr * Clip(rescale * g, clip);
        };
      });
    }
    return UpdateElements<1>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [momentum = As<C>(momentum_), wd = As<C>(step.wd), lr = As<C>(step.lr),
              rescale = As<C>(step.rescale_grad), clip = As<C>(step.clip)](C& w, C g, C& m) {
        const C clipped = Clip(rescale * g, clip);
        m *= momentum;
        w += (momentum + 1) * (m - lr * (clipped + wd * w)) - m;
        m -= lr * (clipped + wd * w);  // with the new weight, as in MXNet
      };
    });
  }

 private:
  const double momentum_;
};

template <typename C>
C Sign(C x) {
  return static_cast<C>((x > 0) - (x < 0));
}

class SignumOptimizer : public Optimizer {
 public:
  explicit SignumOptimizer(const SignumOptions& options)
      : Optimizer(options.common, kDefaultRate), signum_(options) {}

  absl::string_view kind() const override { return "signum"; }
  std::vector<std::string> state_names() const override { return MomentumIf(signum_.momentum); }

 protected:
  bool IsElementWise() const override { return true; }
  absl::Status Apply(const Step& step, const Arrays& a) override {
    if (signum_.momentum == 0) {
      return UpdateElements<0>(step, a, [&](auto tag) {
        using C = typename decltype(tag)::type;
        return [keep = As<C>(1 - step.lr * step.wd), lr = As<C>(step.lr)](C& w, C g) {
          w = keep * w - lr * Sign(g);
        };
      });
    }
    return UpdateElements<1>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [momentum = As<C>(signum_.momentum), keep = As<C>(1 - step.lr * signum_.wd_lh),
              wd = As<C>(step.wd), lr = As<C>(step.lr), rescale = As<C>(step.rescale_grad),
              clip = As<C>(step.clip)](C& w, C g, C& m) {
        m = momentum * m - (1 - momentum) * (wd * w + Clip(rescale * g, clip));
        w = keep * w + lr * Sign(m);
      };
    });
  }

 private:
  const SignumOptions signum_;
};

class DcasgdOptimizer : public Optimizer {
 public:
  explicit DcasgdOptimizer(const DcasgdOptions& options)
      : Optimizer(options.common, kDefaultRate), dcasgd_(options) {}

  absl::string_view kind() const override { return "dcasgd"; }
  std::vector<std::string> state_names() const override { return {"momentum", "previous_weight"}; }

 protected:
  bool IsElementWise() const override { return true; }
  absl::Status InitState(const NDArray& weight, absl::Span<const NDArray> state) const override {
    return state[1].CopyFrom(weight);
  }

  absl::Status Apply(const Step& step, const Arrays& a) override {
    return UpdateElements<2>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [momentum = As<C>(dcasgd_.momentum), lamda = As<C>(dcasgd_.lamda), wd = As<C>(step.wd),
              lr = As<C>(step.lr), rescale = As<C>(step.rescale_grad),
              clip = As<C>(step.clip)](C& w, C grad, C& m, C& previous) {
        const C g = Clip(rescale * grad, clip);
        m = momentum * m - lr * (g + wd * w + lamda * g * g * (w - previous));
        previous = w;
        w += m;
      };
    });
  }

 private:
  const DcasgdOptions dcasgd_;
};

// Element i of normal noise (Box and Muller's method).
double NormalAt(const Philox& noise, uint64_t i) {
  const std::array<uint32_t, 4> bits = noise.At(i);
  const double radius = std::sqrt(-2 * std::log((bits[0] + 1.0) * 0x1p-32));
  return radius * std::cos(2 * std::numbers::pi * (bits[1] * 0x1p-32));
}

class SgldOptimizer : public Optimizer {
 public:
  explicit SgldOptimizer(const SgldOptions& options)
      : Optimizer(options.common, kDefaultRate), seed_(options.seed) {}

  absl::string_view kind() const override { return "sgld"; }
  std::vector<std::string> state_names() const override { return {}; }

 protected:
  absl::Status Apply(const Step& step, const Arrays& a) override {
    COOPER_RETURN_IF_ERROR(UpdateElements<0>(step, a, [&](auto tag) {
      using C = typename decltype(tag)::type;
      return [half_lr = As<C>(step.lr / 2), wd = As<C>(step.wd), rescale = As<C>(step.rescale_grad),
              clip = As<C>(step.clip)](C& w, C g) {
        w -= half_lr * (Clip(rescale * g, clip) + wd * w);
      };
    }));
    const Philox noise(seed_, kStream);
    const uint64_t first = position_;
    position_ += static_cast<uint64_t>(a.weight.size());
    const double deviation = std::sqrt(step.lr);
    return internal_optimizer::DispatchWeight(
        a.weight.dtype(), a.grad.dtype(), [&](auto w_tag, auto g_tag) {
          using W = typename decltype(w_tag)::type;
          using G = typename decltype(g_tag)::type;
          using C = ComputeType<W>;
          W* const weight = internal_optimizer::Pointer<W>(a.weight);
          G* const half = internal_optimizer::Pointer<G>(a.half_weight);
          ParallelFor(a.weight.size(), internal_optimizer::kGrain, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; ++i) {
              const C w = static_cast<C>(weight[i]) +
                          static_cast<C>(deviation * NormalAt(noise, first + i));
              weight[i] = static_cast<W>(w);
              if (half != nullptr) half[i] = static_cast<G>(w);
            }
          });
          return absl::OkStatus();
        });
  }

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

 private:
  // Keeps the noise apart from other users of the seed.
  static constexpr uint64_t kStream = uint64_t{0x51D} << 52;

  uint64_t seed_;
  uint64_t position_ = 0;  // in the stream of noise
};

}  // namespace

std::unique_ptr<Optimizer> Sgd(const SgdOptions& options) {
  return std::make_unique<SgdOptimizer>(options);
}

std::unique_ptr<Optimizer> Nag(const NagOptions& options) {
  return std::make_unique<NagOptimizer>(options);
}

std::unique_ptr<Optimizer> Signum(const SignumOptions& options) {
  return std::make_unique<SignumOptimizer>(options);
}

std::unique_ptr<Optimizer> Dcasgd(const DcasgdOptions& options) {
  return std::make_unique<DcasgdOptimizer>(options);
}

std::unique_ptr<Optimizer> Sgld(const SgldOptions& options) {
  return std::make_unique<SgldOptimizer>(options);
}

}  // namespace cooper
