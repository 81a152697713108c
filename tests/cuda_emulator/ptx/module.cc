#include "tests/cuda_emulator/ptx/module.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/cuda_emulator/ptx/body_parser.h"
#include "tests/cuda_emulator/ptx/concat.h"
#include "tests/cuda_emulator/ptx/declarations.h"
#include "tests/cuda_emulator/ptx/decoder.h"
#include "tests/cuda_emulator/ptx/launch_state.h"
#include "tests/cuda_emulator/ptx/memory.h"
#include "tests/cuda_emulator/ptx/program.h"

namespace cooper::ptx {

struct Module::State {
  std::string text;  // the other members hold views of it
  Declarations declarations;
  std::mutex
      mutex;  // guards codes; race detectors instrument std::mutex wherever Abseil comes from
  absl::flat_hash_map<int, std::unique_ptr<Code>> codes;
};

namespace {

using CodeMap = absl::flat_hash_map<int, std::unique_ptr<Code>>;

// Decodes functions and their callees. All must succeed before any of them is kept.
class Linker {
 public:
  Linker(const Declarations& declarations, const CodeMap& known)
      : declarations_(declarations), known_(known) {}

  absl::Status Add(int index) {
    for (queue_.push_back(index); !queue_.empty();) {
      const int next = queue_.back();
      queue_.pop_back();
      if (Find(next) != nullptr) continue;
      if (absl::Status status = Decode(next); !status.ok()) return status;
    }
    for (auto& [own, code] : added_) Connect(*code);
    return absl::OkStatus();
  }

  CodeMap Take() { return std::move(added_); }

 private:
  const Code* Find(int index) const {
    const auto known = known_.find(index);
    if (known != known_.end()) return known->second.get();
    const auto added = added_.find(index);
    return added == added_.end() ? nullptr : added->second.get();
  }

  int IndexOf(std::string_view name) const {
    const auto found = declarations_.names.find(name);
    const bool function =
        found != declarations_.names.end() && found->second.kind == Symbol::Kind::kFunction;
    return function ? found->second.index : -1;
  }

  absl::Status Decode(int index) {
    const Function& function = declarations_.functions[static_cast<size_t>(index)];
    if (!function.defined) {
      return absl::UnimplementedError(
          Concat("the function ", function.name, " is called, but has no body"));
    }
    absl::StatusOr<Body> body = ParseBody(declarations_, index);
    if (!body.ok()) {
      return absl::Status(body.status().code(),
                          Concat(std::string(body.status().message()), "; in ", function.name));
    }
    const int registers = static_cast<int>(body->registers.size());
    auto code = std::make_unique<Code>();
    Decoder decoder(function, *std::move(body));
    absl::Status status = decoder.Decode(*code);
    if (!status.ok()) return status;
    code->resources.registers = registers;
    code->resources.local_bytes = code->local_bytes;
    for (std::string_view callee : code->callees) queue_.push_back(IndexOf(callee));
    for (int taken : AddressesTaken(*code)) queue_.push_back(taken);
    added_[index] = std::move(code);
    return absl::OkStatus();
  }

  // Returns the functions whose addresses the code has: from its own constants and, if it calls
  // addresses that it read from memory, from variables.
  std::vector<int> AddressesTaken(const Code& code) const {
    std::vector<int> taken;
    for (const Constant& constant : code.constants) {
      if (constant.kind == Constant::Kind::kFunction) taken.push_back(constant.index);
    }
    if (!code.indirect_calls) return taken;
    for (const Variable& variable : declarations_.variables) {
      for (const Relocation& relocation : variable.relocations) {
        const int index = IndexOf(relocation.symbol);
        if (index >= 0 && declarations_.functions[static_cast<size_t>(index)].defined) {
          taken.push_back(index);
        }
      }
    }
    return taken;
  }

  void Connect(Code& code) {
    for (std::string_view callee : code.callees) code.callee_code.push_back(Find(IndexOf(callee)));
    for (int taken : AddressesTaken(code)) code.address_taken.push_back(Find(taken));
  }

  const Declarations& declarations_;
  const CodeMap& known_;
  CodeMap added_;
  std::vector<int> queue_;
};

}  // namespace

Module::Module(std::unique_ptr<State> state) : state_(std::move(state)) {}
Module::~Module() = default;

absl::StatusOr<std::unique_ptr<Module>> Module::Parse(std::string text) {
  auto state = std::make_unique<State>();
  state->text = std::move(text);
  absl::StatusOr<Declarations> declarations = ParseDeclarations(state->text);
  if (!declarations.ok()) return declarations.status();
  state->declarations = *std::move(declarations);
  return std::unique_ptr<Module>(new Module(std::move(state)));
}

absl::Span<const Function> Module::functions() const { return state_->declarations.functions; }
absl::Span<const Variable> Module::variables() const { return state_->declarations.variables; }

const Function* Module::FindFunction(std::string_view name) const {
  const auto found = state_->declarations.names.find(name);
  if (found == state_->declarations.names.end()) return nullptr;
  if (found->second.kind != Symbol::Kind::kFunction) return nullptr;
  return &state_->declarations.functions[static_cast<size_t>(found->second.index)];
}

const Variable* Module::FindVariable(std::string_view name) const {
  const auto found = state_->declarations.names.find(name);
  if (found == state_->declarations.names.end()) return nullptr;
  if (found->second.kind != Symbol::Kind::kVariable) return nullptr;
  return &state_->declarations.variables[static_cast<size_t>(found->second.index)];
}

absl::StatusOr<const Code*> Module::FindCode(std::string_view name) const {
  const Function* function = FindFunction(name);
  if (function == nullptr || !function->defined) {
    return absl::NotFoundError(Concat("no function ", name, " with a body"));
  }
  const int index = static_cast<int>(function - state_->declarations.functions.data());
  const std::lock_guard lock(state_->mutex);
  const auto known = state_->codes.find(index);
  if (known != state_->codes.end()) return known->second.get();
  Linker linker(state_->declarations, state_->codes);
  if (absl::Status status = linker.Add(index); !status.ok()) return status;
  CodeMap added = linker.Take();
  std::vector<Code*> codes;
  for (auto& [own, code] : added) {
    codes.push_back(code.get());
    state_->codes[own] = std::move(code);
  }
  for (Code* code : codes) {
    code->resources.shared_bytes = LayOutShared(Reachable(*code)).static_bytes;
  }
  return state_->codes.at(index).get();
}

absl::StatusOr<Resources> Module::Describe(std::string_view name) const {
  absl::StatusOr<const Code*> code = FindCode(name);
  if (!code.ok()) return code.status();
  return (*code)->resources;
}

absl::StatusOr<std::vector<uint8_t>> Module::InitialBytes(
    int index, absl::Span<const uint64_t> addresses) const {
  const absl::Span<const Variable> all = variables();
  if (index < 0 || static_cast<size_t>(index) >= all.size()) {
    return absl::InvalidArgumentError(Concat("no variable has the index ", index));
  }
  const Variable& variable = all[static_cast<size_t>(index)];
  std::vector<uint8_t> bytes = variable.init;
  bytes.resize(variable.size, 0);
  for (const Relocation& relocation : variable.relocations) {
    const auto found = state_->declarations.names.find(relocation.symbol);
    uint64_t value = relocation.addend;
    const bool known = found != state_->declarations.names.end();
    const size_t target = known ? static_cast<size_t>(found->second.index) : 0;
    if (known && found->second.kind == Symbol::Kind::kVariable && target < addresses.size()) {
      value += addresses[target];
    } else if (known && found->second.kind == Symbol::Kind::kFunction) {
      value += kFunctionWindow + 16 * (target + 1);
    } else {
      return absl::NotFoundError(Concat("the variable ", variable.name,
                                        " is initialised with the address of ", relocation.symbol,
                                        ", which is unknown"));
    }
    std::memcpy(bytes.data() + relocation.offset, &value,
                std::min<size_t>(static_cast<size_t>(relocation.bytes), sizeof(value)));
  }
  return bytes;
}

}  // namespace cooper::ptx
