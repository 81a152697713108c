#include "tests/fuzz/random_network.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "glog/logging.h"
#include "ndarray/random/random.h"
#include "symbol/json/json.h"
#include "symbol/schema/input_attrs.h"

namespace cooper {
namespace {

constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat32,  DType::kFloat32, DType::kFloat64,
                            DType::kFloat16, DType::kBfloat16, DType::kUint8,   DType::kInt8,
                            DType::kInt32,   DType::kInt64,    DType::kBool};

// The kinds of numbers that fill arrays.
enum Numbers { kZeros, kIndices, kOrdinary, kSmallIntegers, kHuge, kNotFinite, kNumKinds };
constexpr uint64_t kNumTameKinds = kHuge;

NDArray Fill(const Shape& shape, DType dtype, uint64_t kind, uint64_t seed) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kHugeOnes[] = {0,    1,     -1,           1e30,          -1e30,
                                  9e18, 1e300, 2147483648.0, -2147483649.0, -9.3e18};
  constexpr double kOthers[] = {
      std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 1, 0, -0.0};
  RandomGenerator random(seed);
  std::vector<double> values(shape.num_elements());
  for (double& value : values) {
    switch (kind) {
      case kZeros:
        break;
      case kIndices:
        value = static_cast<double>(random.NextBelow(4));
        break;
      case kOrdinary:
        value = 4 * random.NextUniform() - 2;
        break;
      case kSmallIntegers:
        value = static_cast<double>(random.NextBelow(9)) - 4;
        break;
      case kHuge:
        value = kHugeOnes[random.NextBelow(std::size(kHugeOnes))];
        break;
      default:
        value = kOthers[random.NextBelow(std::size(kOthers))];
    }
  }
  return *NDArray::FromVector<double>(shape, values)->AsType(dtype);
}

// Prints a description of the input if COOPER_FUZZ_VERBOSE is set.
void Log(const char* what, const absl::Status& status) {
  static const bool verbose = std::getenv("COOPER_FUZZ_VERBOSE") != nullptr;
  if (verbose) std::cerr << what << ": " << status << std::endl;
}

void Look(const Executor& executor) {
  executor.DebugString();
  executor.memory();
}

// Reads every element, so that a sanitizer detects uninitialised ones.
void Read(const std::string& name, const NDArray& array, RandomNetwork::Results& results) {
  absl::StatusOr<NDArray> copy = array.CopyTo(Context::Cpu());
  CHECK(copy.ok()) << name << ": " << copy.status();
  results.arrays.emplace_back(name, *std::move(copy));
}

void ReadOutputs(const char* when, const Executor& executor, RandomNetwork::Results& results) {
  const auto outputs = executor.outputs();
  if (!outputs.ok()) return;
  for (size_t i = 0; i < outputs->size(); ++i) {
    Read(absl::StrCat(when, " output ", i), (*outputs)[i], results);
  }
}

}  // namespace

RandomNetwork::RandomNetwork(FuzzInput& input, bool tame) : input_(input), tame_(tame) {
  base_.resize(input_.OneIn(16) ? 0 : 1 + input_.Below(5));
  for (int64_t& extent : base_) extent = SomeExtent();
  dtype_ = input_.Pick(kTypes);
}

bool RandomNetwork::Make() {
  const uint64_t nodes = input_.Below(4) > 0 ? 1 : 2 + input_.Below(3);
  for (uint64_t k = 0; k < nodes; ++k) {
    if (!AddNode(static_cast<int>(k))) return false;
  }
  symbol_ = outputs_.back();
  if (outputs_.size() > 1 && input_.OneIn(4)) {
    auto group = Symbol::Group({outputs_.back(), outputs_[0]});
    if (!group.ok()) return false;
    symbol_ = *group;
  }
  return true;
}

void RandomNetwork::CheckSaving() const {
  const std::string saved = SymbolToJson(symbol_);
  const auto again = SymbolFromJson(saved);
  CHECK(again.ok()) << "saved, but not loaded again: " << again.status() << "\n" << saved;
}

RandomNetwork::Results RandomNetwork::Run(Context context,
                                          const std::set<std::string>& disabled_passes) {
  Results results;
  BindOptions options = Options();
  options.context = context;
  options.disabled_passes = disabled_passes;
  const auto executor = Executor::SimpleBind(symbol_, options);
  results.bind = executor.status();
  Log("bind", results.bind);
  if (!executor.ok()) return results;
  const uint64_t kind = SomeNumbers();
  FillAll((*executor)->arg_dict(), kind);
  FillAll((*executor)->aux_dict(), kind);
  if (input_.OneIn(8)) Look(**executor);
  results.forward = (*executor)->Forward(/*is_train=*/true);
  Log("forward", results.forward);
  if (results.forward.ok()) RunBackward(**executor, kind, results);
  (*executor)->Forward(/*is_train=*/false).IgnoreError();
  ReadOutputs("prediction's", **executor, results);
  return results;
}

PartialShape RandomNetwork::SomeShape() {
  std::vector<int64_t> dims = base_;
  switch (input_.Below(5)) {
    case 0:
    case 1:
      break;
    case 2:
      if (!dims.empty()) dims[input_.Below(dims.size())] = SomeExtent();
      break;
    case 3:
      if (!dims.empty()) dims.erase(dims.begin() + static_cast<int>(input_.Below(dims.size())));
      break;
    default:
      dims.resize(input_.Below(6));
      for (int64_t& dim : dims) dim = SomeExtent();
  }
  return PartialShape(dims);
}

AttrMap RandomNetwork::SomeAttrs(const OperatorFields& op) {
  AttrMap attrs;
  for (const FieldTexts& field : op.fields) {
    if (!field.required && input_.Below(3) == 0) continue;
    if (field.name == op.schema->variadic_attr()) continue;
    if (!field.extreme.empty() && input_.OneIn(24)) {
      attrs[field.name] = input_.Pick(field.extreme);
    } else if (!field.usual.empty()) {
      attrs[field.name] = input_.Pick(field.usual);
    }
  }
  return attrs;
}

bool RandomNetwork::AddNode(int k) {
  const OperatorFields& op = input_.Pick(AllOperatorFields());
  OpArgs args = {.name = absl::StrCat("n", k), .attrs = SomeAttrs(op)};
  const std::string& variadic = op.schema->variadic_attr();
  const size_t count = input_.Between(1, 4);
  if (!variadic.empty()) args.attrs[variadic] = absl::StrCat(count);
  const auto call = MakeOpCall(op.schema->name(), args.attrs, count);
  if (!call.ok()) return false;
  const std::vector<std::string> names = op.schema->InputNames(*call);
  if (names.size() > 64) return false;
  const std::vector<int> auxs = op.schema->AuxInputs(*call);
  for (size_t i = 0; i < names.size(); ++i) {
    const bool is_aux = std::find(auxs.begin(), auxs.end(), static_cast<int>(i)) != auxs.end();
    if (!is_aux && !outputs_.empty() && input_.Below(3) < (i == 0 ? 2 : 1)) {
      args.named[names[i]] = input_.Pick(outputs_);
      continue;
    }
    AddVariable(absl::StrCat(args.name, "_", names[i]), i == 0, i == 0 && k == 0);
    if (!variadic.empty() || RequiredReason(*call, static_cast<int>(i))) {
      args.named[names[i]] = Symbol::Variable(absl::StrCat(args.name, "_", names[i]));
    }
  }
  const auto made = Symbol::Create(op.schema->name(), args);
  Log(absl::StrCat(op.schema->name(), " {",
                   absl::StrJoin(args.attrs.texts(), ", ", absl::PairFormatter("=")), "}")
          .c_str(),
      made.status());
  if (!made.ok()) return false;
  for (int i = 0; i < made->num_outputs() && i < 4; ++i) outputs_.push_back((*made)[i]);
  return !outputs_.empty();
}

void RandomNetwork::AddVariable(const std::string& name, bool leads, bool is_first) {
  if (is_first && input_.Below(4) > 0) {
    shapes_[name] = PartialShape(base_);
  } else if (leads || input_.OneIn(3)) {
    shapes_[name] = SomeShape();
  }
  if (is_first) {
    types_[name] = dtype_;
  } else if (input_.OneIn(10)) {
    types_[name] = input_.Pick(kTypes);
  }
  constexpr WriteReq kRequests[] = {WriteReq::kWrite, WriteReq::kWrite, WriteReq::kWrite,
                                    WriteReq::kAdd, WriteReq::kNull};
  requests_[name] = input_.Pick(kRequests);
}

// Returns the binding options of the network's variables.
BindOptions RandomNetwork::Options() const {
  BindOptions options = {.max_bytes = 1 << 20};
  const VariableNames names = symbol_.ListVariables();
  const auto take = [&](const std::string& name) {
    if (const auto it = shapes_.find(name); it != shapes_.end()) options.shapes.insert(*it);
    if (const auto it = types_.find(name); it != types_.end()) options.types.insert(*it);
  };
  for (const std::string& name : names.args) {
    take(name);
    const auto it = requests_.find(name);
    if (it != requests_.end()) options.grad_reqs.insert(*it);
  }
  for (const std::string& name : names.auxs) take(name);
  for (const auto& [name, shape] : options.shapes) {
    Log(absl::StrCat("  ", name, " ", shape.ToString()).c_str(), absl::OkStatus());
  }
  return options;
}

uint64_t RandomNetwork::SomeNumbers() { return input_.Below(tame_ ? kNumTameKinds : kNumKinds); }

void RandomNetwork::FillAll(const ArrayMap& arrays, uint64_t kind) {
  for (const auto& [name, array] : arrays) {
    // Half of the arrays have a kind of numbers of their own.
    const uint64_t own = input_.empty() || input_.Below(2) > 0 ? kind : SomeNumbers();
    CHECK(array.CopyFrom(Fill(array.shape(), array.dtype(), own, ++seed_)).ok());
  }
}

void RandomNetwork::RunBackward(Executor& executor, uint64_t kind, Results& results) {
  ReadOutputs("training's", executor, results);
  std::vector<NDArray> heads;
  const auto outputs = executor.outputs();  // some losses have none before the backward pass
  for (size_t i = 0; outputs.ok() && i < outputs->size(); ++i) {
    const NDArray& output = (*outputs)[i];
    heads.push_back(*Fill(output.shape(), output.dtype(), kind, ++seed_).CopyTo(output.context()));
  }
  results.backward = executor.Backward(heads);
  if (!results.backward.ok()) results.backward = executor.Backward();
  Log("backward", results.backward);
  for (const auto& [name, grad] : executor.grad_dict()) {
    if (!grad.is_null()) Read(absl::StrCat("gradient of ", name), grad, results);
  }
  for (const auto& [name, array] : executor.aux_dict()) Read(name, array, results);
}

}  // namespace cooper
