// Whole operators: small networks of operators of any kind, with attributes that their schemas
// allow, arrays with extents of 0 and 1, every dtype and gradient request, and numbers of any size.
// Binding them is refused, or forward and backward passes run.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/executor.h"
#include "glog/logging.h"
#include "ndarray/ndarray.h"
#include "ndarray/random.h"
#include "symbol/json.h"
#include "symbol/required_input.h"
#include "symbol/symbol.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/operator_fields.h"

namespace cooper {
namespace {

constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat32,  DType::kFloat32, DType::kFloat64,
                            DType::kFloat16, DType::kBfloat16, DType::kUint8,   DType::kInt8,
                            DType::kInt32,   DType::kInt64,    DType::kBool};

// What numbers arrays are filled with.
enum Numbers { kZeros, kIndices, kOrdinary, kSmallIntegers, kHuge, kNotFinite, kNumKinds };

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

class Network {
 public:
  explicit Network(FuzzInput& input) : input_(input) {
    base_.resize(input_.OneIn(16) ? 0 : 1 + input_.Below(5));
    for (int64_t& extent : base_) extent = SomeExtent();
    dtype_ = input_.Pick(kTypes);
  }

  // False if the operators do not allow what the input wants of them.
  bool Make() {
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

  void CheckSaving() const {
    const std::string saved = SymbolToJson(symbol_);
    const auto again = SymbolFromJson(saved);
    CHECK(again.ok()) << "saved, but not loaded again: " << again.status() << "\n" << saved;
  }

  void Run() {
    const auto executor = Executor::SimpleBind(symbol_, Options());
    Log("bind", executor.status());
    if (!executor.ok()) return;
    const uint64_t kind = input_.Below(kNumKinds);
    FillAll((*executor)->arg_dict(), kind);
    FillAll((*executor)->aux_dict(), kind);
    if (input_.OneIn(8)) Look(**executor);
    const absl::Status forward = (*executor)->Forward(/*is_train=*/true);
    Log("forward", forward);
    if (forward.ok()) RunBackward(**executor, kind);
    (*executor)->Forward(/*is_train=*/false).IgnoreError();
    Read(**executor);
  }

 private:
  // COOPER_FUZZ_VERBOSE tells what an input is.
  static void Log(const char* what, const absl::Status& status) {
    static const bool verbose = std::getenv("COOPER_FUZZ_VERBOSE") != nullptr;
    if (verbose) std::cerr << what << ": " << status << std::endl;
  }

  int64_t SomeExtent() { return input_.OneIn(12) ? 0 : input_.Between(1, 5); }

  PartialShape SomeShape() {
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

  AttrMap SomeAttrs(const OperatorFields& op) {
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

  bool AddNode(int k) {
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
      if (!variadic.empty() || WhyRequired(*call, static_cast<int>(i))) {
        args.named[names[i]] = Symbol::Variable(absl::StrCat(args.name, "_", names[i]));
      }
    }
    const auto made = Symbol::Create(op.schema->name(), args);
    Log(absl::StrCat(op.schema->name(), " {",
                     absl::StrJoin(args.attrs, ", ", absl::PairFormatter("=")), "}")
            .c_str(),
        made.status());
    if (!made.ok()) return false;
    for (int i = 0; i < made->num_outputs() && i < 4; ++i) outputs_.push_back((*made)[i]);
    return !outputs_.empty();
  }

  void AddVariable(const std::string& name, bool leads, bool is_first) {
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

  // What was decided for variables that the network has.
  BindOptions Options() const {
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

  void FillAll(const ArrayMap& arrays, uint64_t kind) {
    for (const auto& [name, array] : arrays) {
      const uint64_t own = input_.empty() ? kind : input_.Below(2 * kNumKinds);
      CHECK(
          array.CopyFrom(Fill(array.shape(), array.dtype(), own < kNumKinds ? own : kind, ++seed_))
              .ok());
    }
  }

  static void Look(const Executor& executor) {
    executor.DebugString();
    executor.memory();
  }

  // Every element, so that a sanitizer sees one that nobody wrote.
  static void Read(const Executor& executor) {
    const auto outputs = executor.outputs();
    if (!outputs.ok()) return;
    for (const NDArray& output : *outputs) CHECK(output.Copy().ok());
  }

  void RunBackward(Executor& executor, uint64_t kind) {
    Read(executor);
    std::vector<NDArray> heads;
    const auto outputs = executor.outputs();  // some losses have none before the backward pass
    for (size_t i = 0; outputs.ok() && i < outputs->size(); ++i) {
      heads.push_back(Fill((*outputs)[i].shape(), (*outputs)[i].dtype(), kind, ++seed_));
    }
    absl::Status status = executor.Backward(heads);
    if (!status.ok()) status = executor.Backward();
    Log("backward", status);
    for (const auto& [name, grad] : executor.grad_dict()) {
      if (!grad.is_null()) CHECK(grad.Copy().ok());
    }
  }

  FuzzInput& input_;
  std::vector<int64_t> base_;
  DType dtype_;
  uint64_t seed_ = 0;
  std::vector<Symbol> outputs_;
  Symbol symbol_;
  KnownShapes shapes_;
  KnownTypes types_;
  std::map<std::string, WriteReq> requests_;
};

}  // namespace
}  // namespace cooper

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 8) return 0;
  cooper::FuzzInput input(data, size);
  cooper::Network network(input);
  if (!network.Make()) return 0;
  if (size % 4 == 0) network.CheckSaving();
  network.Run();
  return 0;
}
