#include "module/bucketing/bucket_files.h"

#include <cstdint>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
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

}  // namespace

absl::Status SaveBucketSymbols(const std::string& prefix,
                               const std::map<BucketKey, Symbol>& symbols) {
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
  for (const auto& [path, symbol] : files) COOPER_RETURN_IF_ERROR(SaveSymbol(path, *symbol));
  COOPER_ASSIGN_OR_RETURN(const NDArray keys,
                          NDArray::FromVector(Shape({static_cast<int64_t>(ints.size())}), ints));
  COOPER_RETURN_IF_ERROR(SaveArrays(IntKeysPath(prefix), {keys}));
  return WriteFileAtomically(AllKeysPath(prefix), all);
}

// MXNet writes only `.buckets`, with all buckets of its run, the default one included. If
// `.buckets` lacks a key that SaveBucketSymbols lists in both files, MXNet has saved another run
// under the prefix, and the keys that only `.bucket_keys` has do not belong to this model (the
// largest key may become the default one). If `.buckets` has more keys, the run went on in MXNet,
// or here and was killed between writing the two files.
absl::StatusOr<std::vector<BucketKey>> LoadBucketKeys(const std::string& prefix) {
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

absl::StatusOr<std::map<BucketKey, BucketSymbol>> LoadBucketSymbols(
    const std::string& prefix, absl::Span<const BucketKey> keys, const LoadLimits& limits) {
  std::map<BucketKey, BucketSymbol> symbols;
  for (const BucketKey& key : keys) {
    if (symbols.contains(key)) continue;
    COOPER_ASSIGN_OR_RETURN(const std::string path, SymbolPath(prefix, key));
    COOPER_ASSIGN_OR_RETURN(symbols[key].symbol, LoadSymbol(path, limits));
  }
  return symbols;
}

}  // namespace cooper
