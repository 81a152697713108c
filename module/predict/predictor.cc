#include "module/predict/predictor.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/run/folded_arrays.h"
#include "io/batch/call_with_key.h"
#include "module/parameters/checkpoint.h"
#include "module/predict/inference_network.h"
#include "module/predict/network_cache.h"
#include "module/predict/output_arrays.h"
#include "module/predict/parameter_arrays.h"
#include "module/predict/program_cache.h"
#include "module/predict/worker.h"
#include "ndarray/base/dtype.h"
#include "ndarray/base/status_macros.h"
#include "symbol/graph/name_manager.h"

namespace cooper {
namespace {

// Uses the network's number instead of its key, which may have had another network before.
std::string Signature(int64_t network, const KnownShapes& shapes) {
  std::string text = absl::StrCat(network);
  for (const auto& [name, shape] : shapes) absl::StrAppend(&text, ";", name, shape.ToString());
  return text;
}

}  // namespace

class Predictor::Impl {
 public:
  Impl(SymGen make, ArrayMap args, ArrayMap auxs, PredictorOptions options)
      : make_(std::move(make)),
        args_(std::move(args)),
        auxs_(std::move(auxs)),
        options_(std::move(options)),
        outputs_(options_.context),
        networks_(static_cast<size_t>(std::max(options_.max_networks, options_.max_programs)),
                  [this](const BucketKey& key) { return MakeNetwork(key); }),
        programs_(static_cast<size_t>(options_.max_programs)) {}

  // A worker and its executor for some shapes, both exclusively the caller's until Return.
  struct Lease {
    std::unique_ptr<Worker> worker;
    Executor* executor = nullptr;
  };

  absl::StatusOr<NetworkCache::NetworkPtr> Network(const BucketKey& key) {
    return networks_.Get(key);
  }
  absl::StatusOr<Lease> Take(const NetworkCache::NetworkPtr& cached, const KnownShapes& shapes);
  // Checks `shapes`, erases unread labels from them, and calls Take for the network of `key`.
  absl::StatusOr<Lease> TakeFor(const BucketKey& key, KnownShapes& shapes);
  void Return(Lease lease);
  // Returns an Impl for the same networks with inputs of these dtypes, created on first use.
  Impl& OfTypes(const KnownTypes& types);
  absl::StatusOr<std::vector<NDArray>> Predict(const BucketKey& key, const ArrayMap& inputs);
  const PredictorOptions& options() const { return options_; }

 private:
  absl::StatusOr<InferenceNetwork> MakeNetwork(const BucketKey& key) const;
  absl::StatusOr<BindOptions> Options(const InferenceNetwork& network, const KnownShapes& shapes);

  const SymGen make_;
  const ArrayMap args_;
  const ArrayMap auxs_;
  const PredictorOptions options_;

  ParameterTypes parameters_;
  const std::shared_ptr<FoldedArrays> folded_ = std::make_shared<FoldedArrays>();
  OutputArrays outputs_;

  NetworkCache networks_;
  ProgramCache programs_;
  std::atomic<uint64_t> num_workers_ = 0;
  std::mutex idle_mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;

  std::mutex types_mutex_;
  std::map<KnownTypes, std::unique_ptr<Impl>> of_types_;
};

Predictor::Impl& Predictor::Impl::OfTypes(const KnownTypes& types) {
  const std::lock_guard<std::mutex> lock(types_mutex_);
  std::unique_ptr<Impl>& impl = of_types_[types];
  if (impl == nullptr) {
    PredictorOptions options = options_;
    options.types = types;
    impl = std::make_unique<Impl>(make_, args_, auxs_, std::move(options));
  }
  return *impl;
}

absl::StatusOr<InferenceNetwork> Predictor::Impl::MakeNetwork(const BucketKey& key) const {
  const NameManager names;
  COOPER_ASSIGN_OR_RETURN(const BucketSymbol bucket, CallWithKey("sym_gen", make_, key));
  COOPER_ASSIGN_OR_RETURN(InferenceNetwork network,
                          MakeInferenceNetwork(bucket.symbol, args_, auxs_, options_.output_names));
  FindInputTypes(args_, auxs_, options_.types, network);
  if (network.missing_auxs.empty()) return network;
  return absl::NotFoundError(absl::StrCat("the parameters do not have the auxiliary state '",
                                          network.missing_auxs[0], "'"));
}

absl::StatusOr<BindOptions> Predictor::Impl::Options(const InferenceNetwork& network,
                                                     const KnownShapes& shapes) {
  const VariableNames names = network.symbol.ListVariables();
  BindOptions options{.context = options_.context,
                      .shapes = shapes,
                      .grad_req = WriteReq::kNull,
                      .args = Among(args_, names.args),
                      .auxs = Among(auxs_, names.auxs),
                      .unbound_outputs = options_.context.is_cpu(),
                      .folded = folded_,
                      .max_bytes = options_.max_bytes,
                      .disabled_passes = options_.disabled_passes};
  for (const std::string& label : network.unread_labels) options.args.erase(label);
  for (const auto& [name, array] : options.args) options.constants.insert(name);
  for (const auto& [name, array] : options.auxs) options.constants.insert(name);
  options.types = network.types;
  if (options.types.empty() && AllAre(DType::kFloat32, options.args)) return options;
  COOPER_RETURN_IF_ERROR(
      parameters_.Convert(network.symbol, options.types, options.args, options.auxs));
  return options;
}

absl::StatusOr<Predictor::Impl::Lease> Predictor::Impl::Take(const NetworkCache::NetworkPtr& cached,
                                                             const KnownShapes& shapes) {
  const InferenceNetwork& network = cached->inference;
  const std::string signature = Signature(cached->number, shapes);
  Lease lease;
  {
    // Takes the most recently used of the workers that have the shapes, else of all.
    const std::lock_guard<std::mutex> lock(idle_mutex_);
    if (!idle_.empty()) {
      auto it = std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& worker) {
        return worker->executors.contains(signature);
      });
      if (it == idle_.rend()) it = idle_.rbegin();
      lease.worker = std::move(*it);
      idle_.erase(std::next(it).base());
    }
  }
  if (lease.worker == nullptr) {
    lease.worker = std::make_unique<Worker>(options_.context, options_.seed, num_workers_++,
                                            static_cast<size_t>(options_.max_programs));
    // A caller often still holds the last result when it requests the next one.
    lease.worker->kept_outputs = 2 * static_cast<int64_t>(network.symbol.outputs().size());
    outputs_.KeepMore(lease.worker->kept_outputs);
  }
  if (const auto* executor = lease.worker->executors.Find(signature)) {
    lease.executor = executor->get();
    return lease;
  }
  const auto bind = [&]() -> absl::StatusOr<std::unique_ptr<Executor>> {
    COOPER_ASSIGN_OR_RETURN(BindOptions options, Options(network, shapes));
    COOPER_ASSIGN_OR_RETURN(auto compiled, programs_.Get(signature, cached, shapes, [&] {
      return Executor::Compile(network.symbol, options);
    }));
    options.arena = lease.worker->arena;
    options.random = lease.worker->random;
    return Executor::SimpleBind(network.symbol, options, std::move(compiled));
  };
  auto executor = bind();
  if (!executor.ok()) {
    Return(std::move(lease));
    return executor.status();
  }
  lease.executor = lease.worker->executors.Insert(signature, *std::move(executor))->get();
  return lease;
}

absl::StatusOr<Predictor::Impl::Lease> Predictor::Impl::TakeFor(const BucketKey& key,
                                                                KnownShapes& shapes) {
  COOPER_ASSIGN_OR_RETURN(const auto network, Network(key));
  for (const std::string& label : network->inference.unread_labels) shapes.erase(label);
  COOPER_RETURN_IF_ERROR(CheckInputs(network->inference, shapes));
  return Take(network, shapes);
}

void Predictor::Impl::Return(Lease lease) {
  std::unique_ptr<Worker> oldest;  // freed without the lock
  {
    const std::lock_guard<std::mutex> lock(idle_mutex_);
    idle_.push_back(std::move(lease.worker));
    if (static_cast<int64_t>(idle_.size()) <= options_.max_idle_workers) return;
    oldest = std::move(idle_.front());
    idle_.erase(idle_.begin());
  }
  outputs_.KeepMore(-oldest->kept_outputs);
}

Predictor::Predictor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Predictor::~Predictor() = default;

absl::StatusOr<std::unique_ptr<const Predictor>> Predictor::Create(SymGen sym_gen,
                                                                   const ArrayMap& args,
                                                                   const ArrayMap& auxs,
                                                                   PredictorOptions options) {
  if (options.max_programs < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_programs is ", options.max_programs, ", expected at least 1"));
  }
  if (options.max_networks < 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_networks is ", options.max_networks, ", expected at least 1"));
  }
  if (options.max_idle_workers < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("max_idle_workers is ", options.max_idle_workers, ", expected at least 0"));
  }
  COOPER_ASSIGN_OR_RETURN(ArrayMap own_args, OnContext(args, options.context));
  COOPER_ASSIGN_OR_RETURN(ArrayMap own_auxs, OnContext(auxs, options.context));
  return std::unique_ptr<const Predictor>(new Predictor(std::make_unique<Impl>(
      std::move(sym_gen), std::move(own_args), std::move(own_auxs), std::move(options))));
}

absl::StatusOr<std::unique_ptr<const Predictor>> Predictor::Create(const Symbol& symbol,
                                                                   const ArrayMap& args,
                                                                   const ArrayMap& auxs,
                                                                   PredictorOptions options) {
  COOPER_ASSIGN_OR_RETURN(auto predictor, Create([symbol](const BucketKey&) { return symbol; },
                                                 args, auxs, std::move(options)));
  COOPER_RETURN_IF_ERROR(predictor->impl_->Network(BucketKey()).status());
  return predictor;
}

absl::StatusOr<std::unique_ptr<const Predictor>> Predictor::Load(const std::string& prefix,
                                                                 int epoch,
                                                                 PredictorOptions options) {
  COOPER_ASSIGN_OR_RETURN(const Checkpoint checkpoint,
                          LoadCheckpoint(prefix, epoch, options.load_limits));
  return Create(checkpoint.symbol, checkpoint.args, checkpoint.auxs, std::move(options));
}

absl::StatusOr<std::vector<NDArray>> Predictor::Impl::Predict(const BucketKey& key,
                                                              const ArrayMap& inputs) {
  COOPER_ASSIGN_OR_RETURN(const auto network, networks_.Get(key));
  KnownShapes shapes;
  KnownTypes types = options_.types;
  const std::vector<std::string>& unread = network->inference.unread_labels;
  for (const auto& [name, array] : inputs) {
    if (absl::c_linear_search(unread, name)) continue;
    if (array.is_null()) {
      return absl::InvalidArgumentError(absl::StrCat("input '", name, "' is a null array"));
    }
    shapes.emplace(name, PartialShape(array.shape()));
    if (array.dtype() == DType::kFloat32 && network->inference.other_floats.contains(name)) {
      types[name] = DType::kFloat32;
    }
  }
  COOPER_RETURN_IF_ERROR(CheckInputs(network->inference, shapes));
  if (types != options_.types) return OfTypes(types).Predict(key, inputs);
  COOPER_ASSIGN_OR_RETURN(Lease lease, Take(network, shapes));
  const auto run = [&]() -> absl::StatusOr<std::vector<NDArray>> {
    for (const auto& [name, shape] : shapes) {
      const NDArray own = lease.executor->arg(name);
      const NDArray& given = inputs.at(name);
      if (given.dtype() != own.dtype()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "input '", name, "' is ", given.ToString(), ", expected ", DTypeName(own.dtype()),
            "; convert it (NDArray::AsType), or name its dtype in PredictorOptions::types"));
      }
      COOPER_RETURN_IF_ERROR(own.CopyFrom(given));
    }
    return RunOnWorker(*lease.worker, *lease.executor, outputs_);
  };
  auto outputs = run();
  Return(std::move(lease));
  return outputs;
}

absl::StatusOr<std::vector<NDArray>> Predictor::Predict(const BucketKey& key,
                                                        const ArrayMap& inputs) const {
  return impl_->Predict(key, inputs);
}

absl::StatusOr<std::vector<DataDesc>> Predictor::Prepare(const BucketKey& key,
                                                         const KnownShapes& shapes) const {
  KnownShapes read = shapes;
  COOPER_ASSIGN_OR_RETURN(Impl::Lease lease, impl_->TakeFor(key, read));
  const Program& program = lease.executor->compiled()->program();
  std::vector<DataDesc> outputs;
  for (size_t i = 0; i < program.outputs.size(); ++i) {
    outputs.push_back({.name = lease.executor->output_names()[i],
                       .shape = lease.executor->output_shapes()[i],
                       .dtype = program.values[program.outputs[i]].dtype,
                       .layout = ""});
  }
  impl_->Return(std::move(lease));
  return outputs;
}

absl::StatusOr<std::vector<DataDesc>> Predictor::PrepareInputs(const BucketKey& key,
                                                               const KnownShapes& shapes) const {
  KnownShapes read = shapes;
  COOPER_ASSIGN_OR_RETURN(Impl::Lease lease, impl_->TakeFor(key, read));
  std::vector<DataDesc> inputs;
  for (const auto& [name, shape] : read) {
    inputs.push_back({.name = name,
                      .shape = shape.ToShape(),
                      .dtype = lease.executor->arg(name).dtype(),
                      .layout = ""});
  }
  impl_->Return(std::move(lease));
  return inputs;
}

absl::StatusOr<std::vector<std::string>> Predictor::input_names(const BucketKey& key) const {
  COOPER_ASSIGN_OR_RETURN(const auto network, impl_->Network(key));
  return network->inference.inputs;
}

const PredictorOptions& Predictor::options() const { return impl_->options(); }

}  // namespace cooper
