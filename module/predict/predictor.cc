#include "module/predict/predictor.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "executor/executor.h"
#include "executor/run/folded_arrays.h"
#include "io/call_with_key.h"
#include "module/checkpoint.h"
#include "module/predict/inference_network.h"
#include "module/predict/lru_map.h"
#include "module/predict/network_cache.h"
#include "module/predict/output_arrays.h"
#include "module/predict/parameter_arrays.h"
#include "module/predict/program_cache.h"
#include "ndarray/device.h"
#include "ndarray/dtype.h"
#include "ndarray/status_macros.h"
#include "symbol/name_manager.h"

namespace cooper {
namespace {

// What one thread at a time computes with.
struct Worker {
  // `number` keeps what its random operators draw apart from what others do.
  Worker(const PredictorOptions& options, uint64_t number)
      : arena(std::make_shared<Arena>(options.context)),
        random(std::make_shared<RandomState>(RandomState{.seed = options.seed, .replica = number})),
        executors(static_cast<size_t>(options.max_programs)) {}

  std::shared_ptr<Arena> arena;
  std::shared_ptr<RandomState> random;
  LruMap<std::unique_ptr<Executor>> executors;
  int64_t kept_outputs = 0;  // what OutputArrays keeps on its account
};

// Of the network's number, not its key: that may have had another network before.
std::string Signature(int64_t network, const KnownShapes& shapes) {
  std::string text = absl::StrCat(network);
  for (const auto& [name, shape] : shapes) absl::StrAppend(&text, ";", name, shape.ToString());
  return text;
}

// Runs the executor, whose arguments are there, and gives its outputs in arrays that are nobody
// else's. On a CPU it computes in them, but for outputs that cannot be apart from what it keeps. On
// a GPU its own outputs are copied, so that its arrays stay and the run is recorded in a graph.
absl::StatusOr<std::vector<NDArray>> Run(Worker& worker, Executor& executor, OutputArrays& arrays) {
  const Program& program = executor.compiled()->program();
  const auto count = static_cast<int>(program.outputs.size());
  DeviceQueue& queue = *worker.arena->queue();
  const auto compute = [&]() -> absl::StatusOr<std::vector<NDArray>> {
    std::vector<NDArray> results(count);
    for (int i = 0; i < count; ++i) {
      const ProgramValue& value = program.values[program.outputs[i]];
      COOPER_ASSIGN_OR_RETURN(results[i], arrays.Take(value.shape, value.dtype));
      if (executor.TakesOutput(i)) COOPER_RETURN_IF_ERROR(executor.SetOutput(i, results[i]));
    }
    COOPER_RETURN_IF_ERROR(executor.Forward(/*is_train=*/false));
    COOPER_ASSIGN_OR_RETURN(const auto outputs, executor.outputs());
    for (int i = 0; i < count; ++i) {
      if (executor.TakesOutput(i)) continue;
      COOPER_RETURN_IF_ERROR(queue.Copy(results[i].raw_data(), results[i].context(),
                                        outputs[i].raw_data(), outputs[i].context(),
                                        outputs[i].size() * SizeOf(outputs[i].dtype())));
    }
    // A device may be at work on them still, and the memory of results is used again by others.
    COOPER_RETURN_IF_ERROR(queue.Synchronize());
    return results;
  };
  auto results = compute();
  for (int i = 0; i < count; ++i) {
    if (executor.TakesOutput(i)) COOPER_RETURN_IF_ERROR(executor.SetOutput(i, NDArray()));
  }
  return results;
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

  // The worker and its executor for these shapes, which both are the caller's until Return.
  struct Lease {
    std::unique_ptr<Worker> worker;
    Executor* executor = nullptr;
  };

  absl::StatusOr<NetworkCache::NetworkPtr> Network(const BucketKey& key) {
    return networks_.Get(key);
  }
  absl::StatusOr<Lease> Take(const NetworkCache::NetworkPtr& cached, const KnownShapes& shapes);
  void Return(Lease lease);
  OutputArrays& outputs() { return outputs_; }
  const PredictorOptions& options() const { return options_; }

 private:
  absl::StatusOr<InferenceNetwork> MakeNetwork(const BucketKey& key) const;
  BindOptions Options(const InferenceNetwork& network, const KnownShapes& shapes) const;

  const SymGen make_;
  const ArrayMap args_;
  const ArrayMap auxs_;
  const PredictorOptions options_;

  const std::shared_ptr<FoldedArrays> folded_ = std::make_shared<FoldedArrays>();
  OutputArrays outputs_;

  NetworkCache networks_;
  ProgramCache programs_;
  std::atomic<uint64_t> num_workers_ = 0;
  std::mutex idle_mutex_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

absl::StatusOr<InferenceNetwork> Predictor::Impl::MakeNetwork(const BucketKey& key) const {
  const NameManager names;
  COOPER_ASSIGN_OR_RETURN(const BucketSymbol bucket, CallWithKey("sym_gen", make_, key));
  COOPER_ASSIGN_OR_RETURN(InferenceNetwork network,
                          MakeInferenceNetwork(bucket.symbol, args_, auxs_, options_.output_names));
  if (network.missing_auxs.empty()) return network;
  return absl::NotFoundError(absl::StrCat("the parameters do not have the auxiliary state '",
                                          network.missing_auxs[0], "'"));
}

BindOptions Predictor::Impl::Options(const InferenceNetwork& network,
                                     const KnownShapes& shapes) const {
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
  for (const std::string& name : network.inputs) {
    const auto it = options_.types.find(name);
    if (it != options_.types.end()) options.types.insert(*it);
  }
  return options;
}

absl::StatusOr<Predictor::Impl::Lease> Predictor::Impl::Take(const NetworkCache::NetworkPtr& cached,
                                                             const KnownShapes& shapes) {
  const InferenceNetwork& network = cached->inference;
  const std::string signature = Signature(cached->number, shapes);
  Lease lease;
  {
    // The one that was used last among those that know the shapes, else among all.
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
    lease.worker = std::make_unique<Worker>(options_, num_workers_++);
    // Who asks for the next result often holds the one before.
    lease.worker->kept_outputs = 2 * static_cast<int64_t>(network.symbol.outputs().size());
    outputs_.KeepMore(lease.worker->kept_outputs);
  }
  if (const auto* executor = lease.worker->executors.Find(signature)) {
    lease.executor = executor->get();
    return lease;
  }
  const auto bind = [&]() -> absl::StatusOr<std::unique_ptr<Executor>> {
    BindOptions options = Options(network, shapes);
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

namespace {

// The shapes without those of labels that nothing reads, which callers may give.
KnownShapes WithoutLabels(const InferenceNetwork& network, const KnownShapes& shapes) {
  KnownShapes read = shapes;
  for (const std::string& label : network.unread_labels) read.erase(label);
  return read;
}

}  // namespace

absl::StatusOr<std::vector<NDArray>> Predictor::Predict(const BucketKey& key,
                                                        const ArrayMap& inputs) const {
  COOPER_ASSIGN_OR_RETURN(const auto network, impl_->Network(key));
  KnownShapes shapes;
  const std::vector<std::string>& unread = network->inference.unread_labels;
  for (const auto& [name, array] : inputs) {
    if (absl::c_linear_search(unread, name)) continue;
    if (array.is_null()) {
      return absl::InvalidArgumentError(absl::StrCat("input '", name, "' is a null array"));
    }
    shapes.emplace(name, PartialShape(array.shape()));
  }
  COOPER_RETURN_IF_ERROR(CheckInputs(network->inference, shapes));
  COOPER_ASSIGN_OR_RETURN(Impl::Lease lease, impl_->Take(network, shapes));
  const auto run = [&]() -> absl::StatusOr<std::vector<NDArray>> {
    for (const auto& [name, shape] : shapes) {
      const NDArray own = lease.executor->arg(name);
      const NDArray& given = inputs.at(name);
      if (given.dtype() != own.dtype()) {
        return absl::InvalidArgumentError(absl::StrCat("input '", name, "' is ", given.ToString(),
                                                       ", expected ", DTypeName(own.dtype())));
      }
      COOPER_RETURN_IF_ERROR(own.CopyFrom(given));
    }
    return Run(*lease.worker, *lease.executor, impl_->outputs());
  };
  auto outputs = run();
  impl_->Return(std::move(lease));
  return outputs;
}

absl::StatusOr<std::vector<DataDesc>> Predictor::Prepare(const BucketKey& key,
                                                         const KnownShapes& shapes) const {
  COOPER_ASSIGN_OR_RETURN(const auto network, impl_->Network(key));
  const KnownShapes read = WithoutLabels(network->inference, shapes);
  COOPER_RETURN_IF_ERROR(CheckInputs(network->inference, read));
  COOPER_ASSIGN_OR_RETURN(Impl::Lease lease, impl_->Take(network, read));
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
  COOPER_ASSIGN_OR_RETURN(const auto network, impl_->Network(key));
  const KnownShapes read = WithoutLabels(network->inference, shapes);
  COOPER_RETURN_IF_ERROR(CheckInputs(network->inference, read));
  COOPER_ASSIGN_OR_RETURN(Impl::Lease lease, impl_->Take(network, read));
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
