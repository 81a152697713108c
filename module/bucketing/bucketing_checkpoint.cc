// Parameters and checkpoint files of a BucketingModule: one symbol file per bucket, one parameter
// file, and the list of keys.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "module/bucketing/bucketing_module.h"
#include "module/parameters/checkpoint.h"
#include "ndarray/base/atomic_file.h"
#include "ndarray/base/status_macros.h"
#include "ndarray/files/params_file.h"
#include "symbol/json/json.h"

namespace cooper {
namespace {

// MXNet puts the key into the name as Python prints it: a string without quotes.
absl::StatusOr<std::string> SymbolPath(const std::string& prefix, const BucketKey& key) {
  const std::string text = key.is_string() ? key.string_value() : key.ToString();
  if (text.find('/') != std::string::npos) {
    return absl::InvalidArgumentError(
        absl::StrCat("bucket key ", key.ToString(), " cannot be part of a file name"));
  }
  return absl::StrCat(prefix, "-", text, "-symbol.json");
}

std::string IntKeysPath(const std::string& prefix) { return absl::StrCat(prefix, ".buckets"); }
// The file has keys of every kind, one per line in the format of BucketKey::ToString.
std::string AllKeysPath(const std::string& prefix) { return absl::StrCat(prefix, ".bucket_keys"); }

// Whether SaveCheckpoint lists the key in `.buckets` as well.
bool IsInt32(const BucketKey& key) {
  return key.is_int() && key.int_value() == static_cast<int32_t>(key.int_value());
}

absl::StatusOr<std::vector<BucketKey>> ReadAllKeys(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  std::vector<BucketKey> keys;
  for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    COOPER_ASSIGN_OR_RETURN(keys.emplace_back(), AddContext(BucketKey::Parse(line), path));
  }
  return keys;
}

absl::StatusOr<std::vector<BucketKey>> ReadIntKeys(const std::string& path) {
  COOPER_ASSIGN_OR_RETURN(const ParamsList list, ReadParamsFile(path));
  if (list.entries.size() != 1 || list.entries[0].sparse != nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": expected one array of bucket keys"));
  }
  const NDArray& array = list.entries[0].array;
  COOPER_ASSIGN_OR_RETURN(const std::vector<int64_t> values,
                          AddContext(array.ToVector<int64_t>(), path, ": bucket keys"));
  const Shape& shape = array.shape();
  std::vector<BucketKey> keys;
  if (shape.rank() == 1) {
    keys.assign(values.begin(), values.end());
    return keys;
  }
  // Tuples of one length are the rows of a matrix. Empty rows take no bytes, so a small file could
  // declare any number of them.
  if (shape.rank() != 2 || (values.empty() && shape[0] > 0)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": bucket keys of shape ",
                                                   shape.ToString(),
                                                   ", expected (keys,) or (keys, numbers)"));
  }
  for (int64_t i = 0; i < shape[0]; ++i) {
    keys.push_back(
        BucketKey::Tuple(values.begin() + i * shape[1], values.begin() + (i + 1) * shape[1]));
  }
  return keys;
}

// Returns the keys of both lists, with repetitions. MXNet writes only `.buckets`, with all buckets
// of its run, the default one included. If `.buckets` lacks a key that SaveCheckpoint lists in both
// files, MXNet has saved another run under the prefix, and the keys that only `.bucket_keys` has do
// not belong to this model (the largest key may become the default one). If `.buckets` has more
// keys, the run went on in MXNet, or here and was killed between writing the two files.
absl::StatusOr<std::vector<BucketKey>> ReadKeys(const std::string& prefix) {
  absl::StatusOr<std::vector<BucketKey>> ints = ReadIntKeys(IntKeysPath(prefix));
  absl::StatusOr<std::vector<BucketKey>> all = ReadAllKeys(AllKeysPath(prefix));
  if (absl::IsNotFound(all.status())) return ints;
  if (!all.ok() || absl::IsNotFound(ints.status())) return all;
  if (!ints.ok()) return ints;
  const std::set<BucketKey> listed(ints->begin(), ints->end());
  const bool has_tuples = !ints->empty() && ints->front().is_tuple();  // never SaveCheckpoint's
  for (const BucketKey& key : *all) {
    if ((has_tuples || IsInt32(key)) && !listed.contains(key)) return ints;
  }
  all->insert(all->end(), ints->begin(), ints->end());
  return all;
}

// Adds the arrays of `names` that are in `waiting` to `arrays`, sharing their memory.
void AddNamed(const std::vector<std::string>& names, const ArrayMap& waiting, ArrayMap* arrays) {
  for (const std::string& name : names) {
    const auto it = waiting.find(name);
    if (it != waiting.end()) arrays->insert(*it);
  }
}

absl::Status CopyAll(const ArrayMap& arrays, ArrayMap* copies) {
  for (const auto& [name, array] : arrays) {
    COOPER_ASSIGN_OR_RETURN((*copies)[name], array.CopyTo(Context::Cpu()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ModuleParams> BucketingModule::Waiting() const {
  const ArrayMap& args = group_->parameters().waiting(ParameterKind::kArg);
  const ArrayMap& auxs = group_->parameters().waiting(ParameterKind::kAux);
  ModuleParams waiting;
  if (args.empty() && auxs.empty()) return waiting;
  std::set<BucketKey> keys = group_->buckets();
  for (const auto& [key, bucket] : loaded_symbols_) keys.insert(key);
  for (const BucketKey& key : keys) {
    if (were_bound_.contains(key)) continue;
    if (!sym_gen_ && !loaded_symbols_.contains(key)) continue;  // it cannot be bound
    auto generated = Generate(key);
    if (!generated.ok()) return WithBucket(generated.status(), key);
    const VariableNames names = generated->symbol.ListVariables();
    AddNamed(names.args, args, &waiting.args);
    AddNamed(names.auxs, auxs, &waiting.auxs);
  }
  return waiting;
}

absl::Status BucketingModule::CheckKnown(const ArrayMap& arg_params,
                                         const ArrayMap& aux_params) const {
  const ParameterStore& parameters = group_->parameters();
  COOPER_ASSIGN_OR_RETURN(const ModuleParams waiting, Waiting());
  const auto check = [&](ParameterKind kind, const ArrayMap& given, const ArrayMap& known) {
    for (const auto& [name, array] : given) {
      if (!parameters.Value(kind, name).is_null() || known.contains(name)) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("SetParams: the module has no parameter '", name, "'"));
    }
    return absl::OkStatus();
  };
  COOPER_RETURN_IF_ERROR(check(ParameterKind::kArg, arg_params, waiting.args));
  return check(ParameterKind::kAux, aux_params, waiting.auxs);
}

absl::StatusOr<ModuleParams> BucketingModule::GetParams() const {
  COOPER_RETURN_IF_ERROR(RequireParams("GetParams"));
  const ParameterStore& parameters = group_->parameters();
  ModuleParams params;
  for (const std::string& name : parameters.Names(ParameterKind::kArg)) {
    COOPER_ASSIGN_OR_RETURN(params.args[name], parameters.Mean(ParameterKind::kArg, name));
  }
  for (const std::string& name : parameters.Names(ParameterKind::kAux)) {
    COOPER_ASSIGN_OR_RETURN(params.auxs[name], parameters.Mean(ParameterKind::kAux, name));
  }
  COOPER_ASSIGN_OR_RETURN(const ModuleParams waiting, Waiting());
  COOPER_RETURN_IF_ERROR(CopyAll(waiting.args, &params.args));
  COOPER_RETURN_IF_ERROR(CopyAll(waiting.auxs, &params.auxs));
  return params;
}

absl::Status BucketingModule::SaveCheckpoint(const std::string& prefix, int epoch,
                                             bool save_optimizer_states) const {
  if (save_optimizer_states) COOPER_RETURN_IF_ERROR(RequireOptimizer("SaveCheckpoint"));
  COOPER_ASSIGN_OR_RETURN(const ModuleParams params, GetParams());
  std::map<BucketKey, Symbol> symbols;
  for (const auto& [key, bucket] : buckets_) {
    COOPER_ASSIGN_OR_RETURN(symbols[key], bucket.module->symbol());
  }
  for (const auto& [key, bucket] : loaded_symbols_) symbols.emplace(key, bucket.symbol);
  // Buckets that were evicted, or that only an earlier run has bound, are generated again: kept
  // symbols would take memory that no limit bounds.
  for (const BucketKey& key : group_->buckets()) {
    if (symbols.contains(key)) continue;
    auto generated = Generate(key);
    if (!generated.ok()) return WithBucket(generated.status(), key);
    symbols.emplace(key, generated->symbol);
  }
  std::map<std::string, const Symbol*> files;
  std::vector<int32_t> ints;
  std::string all;
  for (const auto& [key, symbol] : symbols) {
    COOPER_ASSIGN_OR_RETURN(const std::string path, SymbolPath(prefix, key));
    if (!files.emplace(path, &symbol).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("bucket key ", key.ToString(), ": another key is saved as ", path, " too"));
    }
    if (IsInt32(key)) ints.push_back(static_cast<int32_t>(key.int_value()));
    absl::StrAppend(&all, key.ToString(), "\n");
  }
  RemoveTemporaries(prefix);
  for (const auto& [path, symbol] : files) {
    COOPER_RETURN_IF_ERROR(SaveSymbol(path, *symbol));
  }
  COOPER_ASSIGN_OR_RETURN(const NDArray keys,
                          NDArray::FromVector(Shape({static_cast<int64_t>(ints.size())}), ints));
  COOPER_RETURN_IF_ERROR(SaveArrays(IntKeysPath(prefix), {keys}));
  COOPER_RETURN_IF_ERROR(WriteFileAtomically(AllKeysPath(prefix), all));
  COOPER_RETURN_IF_ERROR(SaveParamsFile(ParamsPath(prefix, epoch), params.args, params.auxs));
  if (!save_optimizer_states) return absl::OkStatus();
  return group_->parameters().SaveOptimizerStates(StatesPath(prefix, epoch));
}

absl::StatusOr<std::unique_ptr<BucketingModule>> BucketingModule::Load(
    const std::string& prefix, int epoch, BucketingModuleOptions options,
    bool load_optimizer_states) {
  absl::StatusOr<std::vector<BucketKey>> keys = ReadKeys(prefix);
  if (absl::IsNotFound(keys.status()) && options.sym_gen && options.default_bucket_key) {
    keys.emplace();  // sym_gen makes them all
  }
  COOPER_RETURN_IF_ERROR(keys.status());
  std::map<BucketKey, BucketSymbol> symbols;
  for (const BucketKey& key : *keys) {
    if (symbols.contains(key)) continue;
    COOPER_ASSIGN_OR_RETURN(const std::string path, SymbolPath(prefix, key));
    COOPER_ASSIGN_OR_RETURN(symbols[key].symbol, LoadSymbol(path, options.compute.load_limits));
  }
  ModuleParams params;
  COOPER_RETURN_IF_ERROR(LoadParamsFile(ParamsPath(prefix, epoch), &params.args, &params.auxs));
  COOPER_ASSIGN_OR_RETURN(std::unique_ptr<BucketingModule> module,
                          LoadDict(std::move(symbols), std::move(options), params));
  if (load_optimizer_states) {
    module->group_->parameters().LoadOptimizerStatesLater(StatesPath(prefix, epoch));
  }
  return module;
}

absl::StatusOr<std::unique_ptr<BucketingModule>> BucketingModule::LoadDict(
    std::map<BucketKey, BucketSymbol> symbols, BucketingModuleOptions options,
    const ModuleParams& params) {
  if (!options.default_bucket_key.has_value() && !symbols.empty()) {
    options.default_bucket_key = symbols.rbegin()->first;
  }
  COOPER_RETURN_IF_ERROR(CheckOptions(options));
  std::unique_ptr<BucketingModule> module(new BucketingModule(std::move(options)));
  for (auto& [key, bucket] : symbols) {
    if (!module->sym_gen_) continue;
    auto generated = module->Generate(key);
    if (!generated.ok()) return module->WithBucket(generated.status(), key);
    bucket.data_names = generated->data_names;
    bucket.label_names = generated->label_names;
  }
  module->loaded_symbols_ = std::move(symbols);
  COOPER_RETURN_IF_ERROR(module->GenerateDefault());
  // Parameters that only other buckets have wait in the store until these are bound.
  module->group_->parameters().Load(params);
  return module;
}

}  // namespace cooper
