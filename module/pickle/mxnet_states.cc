#include "module/pickle/mxnet_states.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "module/pickle/pickle_class.h"
#include "module/pickle/pickle_value.h"
#include "module/pickle/unpickle.h"
#include "ndarray/base/status_macros.h"

namespace cooper {
namespace {

using Type = PickleType;

// The states of MXNet's optimizers have up to four arrays, in tuples within a tuple.
constexpr size_t kMaxArrays = 8;
constexpr int kMaxDepth = 3;

const char* TypeName(const PickleValue& value) {
  switch (value.type) {
    case Type::kNone:
      return "None";
    case Type::kBool:
      return "a bool";
    case Type::kInt:
      return "an integer";
    case Type::kFloat:
      return "a float";
    case Type::kText:
      return "a text";
    case Type::kBytes:
      return "bytes";
    case Type::kTuple:
      return "a tuple";
    case Type::kList:
      return "a list";
    case Type::kDict:
      return "a dictionary";
    case Type::kClass:
      return "a class";
    case Type::kObject:
      return "an object";
  }
  return "invalid";
}

absl::Status Unexpected(absl::string_view expected, const PickleValue& value) {
  return absl::InvalidArgumentError(absl::StrCat("expected ", expected, ", got ", TypeName(value)));
}

bool IsOptimizer(const PickleValue& value) {
  return value.type == Type::kObject && value.cls == PickleClass::kOptimizer;
}

absl::StatusOr<MxnetKey> KeyOf(const PickleValue& value) {
  if (value.type == Type::kInt && value.integer >= 0) return MxnetKey(value.integer);
  if (value.type == Type::kText || value.type == Type::kBytes) {
    return MxnetKey(std::string(value.text));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a key of the states is ", TypeName(value), ", expected a position or a name"));
}

std::string KeyText(const MxnetKey& key) {
  if (const auto* position = std::get_if<int64_t>(&key))
    return absl::StrCat("position ", *position);
  return absl::StrCat("'", absl::Utf8SafeCEscape(std::get<std::string>(key)), "'");
}

class StatesReader {
 public:
  StatesReader(const Pickle& pickle, uint64_t file_bytes)
      : pickle_(pickle), bytes_left_(file_bytes) {}

  absl::StatusOr<MxnetStates> Read() {
    const PickleValue& root = pickle_[pickle_.root];
    const PickleValue* states = &root;
    MxnetStates result;
    if (root.type == Type::kTuple && root.items.size() == 2 &&
        IsOptimizer(pickle_[root.items[1]])) {
      states = &pickle_[root.items[0]];
      COOPER_ASSIGN_OR_RETURN(result.optimizer, ReadOptimizer(pickle_[root.items[1]]));
    }
    if (states->type != Type::kDict) {
      return Unexpected("a dictionary of states, or a pair of it and an optimizer", *states);
    }
    for (size_t i = 0; i < states->items.size(); i += 2) {
      MxnetParameterState& state = result.parameters.emplace_back();
      COOPER_ASSIGN_OR_RETURN(state.key, KeyOf(pickle_[states->items[i]]));
      COOPER_RETURN_IF_ERROR(
          AddContext(ReadState(pickle_[states->items[i + 1]], kMaxDepth, &state.arrays),
                     "the state of ", KeyText(state.key)));
    }
    return result;
  }

 private:
  // Appends the arrays of `value`, which may be nested `depth` tuples deep.
  absl::Status ReadState(const PickleValue& value, int depth, std::vector<ParamsEntry>* arrays) {
    if (value.type == Type::kTuple || value.type == Type::kList) {
      if (depth == 0 || value.items.size() > kMaxArrays) {
        return absl::InvalidArgumentError("it has more arrays than any optimizer of MXNet writes");
      }
      for (const PickleRef item : value.items) {
        COOPER_RETURN_IF_ERROR(ReadState(pickle_[item], depth - 1, arrays));
      }
      return absl::OkStatus();
    }
    if (arrays->size() == kMaxArrays) {
      return absl::InvalidArgumentError("it has more arrays than any optimizer of MXNet writes");
    }
    if (value.type == Type::kNone) {
      arrays->emplace_back();
      return absl::OkStatus();
    }
    if (value.type != Type::kObject || value.cls != PickleClass::kNdarray) {
      return Unexpected("None, an array or a tuple of them", value);
    }
    COOPER_ASSIGN_OR_RETURN(arrays->emplace_back(), ReadNdarray(value));
    return absl::OkStatus();
  }

  absl::StatusOr<ParamsEntry> ReadNdarray(const PickleValue& object) {
    // The state is {'handle': bytes}. Requiring one entry makes the search take constant time.
    const PickleValue* const state = object.items.empty() ? nullptr : &pickle_[object.items[0]];
    if (state == nullptr || state->items.size() != 2) {
      return absl::InvalidArgumentError("an array has no bytes");
    }
    const PickleValue* const handle = pickle_.Find(*state, "handle");
    if (handle == nullptr || handle->type != Type::kBytes) {
      return absl::InvalidArgumentError("an array has no bytes");
    }
    // A small file could name the bytes of one array many times.
    if (handle->text.size() > bytes_left_) {
      return absl::ResourceExhaustedError("the arrays take more bytes than the file has");
    }
    bytes_left_ -= handle->text.size();
    return AddContext(ParseArray(handle->text), "an array");
  }

  absl::StatusOr<MxnetOptimizer> ReadOptimizer(const PickleValue& object) {
    MxnetOptimizer optimizer;
    optimizer.class_name = std::string(object.text.substr(object.text.rfind('.') + 1));
    if (object.items.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat("optimizer ", optimizer.class_name, " has no attributes"));
    }
    const PickleValue& attributes = pickle_[object.items[0]];
    COOPER_RETURN_IF_ERROR(
        AddContext(ReadAttributes(attributes, &optimizer), "optimizer ", optimizer.class_name));
    return optimizer;
  }

  absl::Status ReadAttributes(const PickleValue& attributes, MxnetOptimizer* optimizer) const {
    const PickleValue* const num_update = pickle_.Find(attributes, "num_update");
    if (num_update == nullptr || num_update->type != Type::kInt) {
      return absl::InvalidArgumentError("it has no number 'num_update'");
    }
    optimizer->num_update = num_update->integer;
    COOPER_RETURN_IF_ERROR(ReadFloat(attributes, "lr", &optimizer->learning_rate));
    COOPER_RETURN_IF_ERROR(ReadFloat(attributes, "m_schedule", &optimizer->m_schedule));
    COOPER_RETURN_IF_ERROR(ReadFloat(attributes, "cur_lr", &optimizer->cur_lr));
    COOPER_RETURN_IF_ERROR(ReadCounts(attributes, optimizer));
    return ReadNames(attributes, optimizer);
  }

  // Reads a number; an attribute that is missing or None leaves `value` as it is.
  absl::Status ReadFloat(const PickleValue& attributes, absl::string_view name,
                         std::optional<double>* value) const {
    const PickleValue* const found = pickle_.Find(attributes, name);
    if (found == nullptr || found->type == Type::kNone) return absl::OkStatus();
    if (found->type == Type::kFloat) {
      *value = found->number;
    } else if (found->type == Type::kInt) {
      *value = static_cast<double>(found->integer);
    } else {
      return AddContext(Unexpected("a number", *found), "attribute '", name, "'");
    }
    return absl::OkStatus();
  }

  absl::Status ReadCounts(const PickleValue& attributes, MxnetOptimizer* optimizer) const {
    constexpr absl::string_view kName = "_index_update_count";
    const PickleValue* const counts = pickle_.Find(attributes, kName);
    if (counts == nullptr || counts->type != Type::kDict) {
      return absl::InvalidArgumentError(absl::StrCat("it has no dictionary '", kName, "'"));
    }
    for (size_t i = 0; i < counts->items.size(); i += 2) {
      COOPER_ASSIGN_OR_RETURN(const MxnetKey key,
                              AddContext(KeyOf(pickle_[counts->items[i]]), kName));
      const PickleValue& count = pickle_[counts->items[i + 1]];
      if (count.type != Type::kInt) return AddContext(Unexpected("an integer", count), kName);
      optimizer->counts[key] = count.integer;
    }
    return absl::OkStatus();
  }

  absl::Status ReadNames(const PickleValue& attributes, MxnetOptimizer* optimizer) const {
    constexpr absl::string_view kName = "idx2name";
    const PickleValue* const names = pickle_.Find(attributes, kName);
    if (names == nullptr || names->type != Type::kDict) return absl::OkStatus();
    for (size_t i = 0; i < names->items.size(); i += 2) {
      const PickleValue& position = pickle_[names->items[i]];
      const PickleValue& name = pickle_[names->items[i + 1]];
      if (position.type != Type::kInt) return AddContext(Unexpected("a position", position), kName);
      if (name.type != Type::kText) return AddContext(Unexpected("a name", name), kName);
      optimizer->names[position.integer] = std::string(name.text);
    }
    return absl::OkStatus();
  }

  const Pickle& pickle_;
  uint64_t bytes_left_;
};

}  // namespace

bool IsMxnetStates(absl::string_view bytes) {
  if (bytes.size() < 3) return false;
  // Protocols 2 to 5 begin with their number.
  if (bytes[0] == '\x80') return bytes[1] >= 2 && bytes[1] <= 5;
  // Protocol 1 begins with a dictionary and its number in the memo, protocol 0 with a marked one;
  // a pair begins with a mark.
  absl::ConsumePrefix(&bytes, "(");
  if (absl::ConsumePrefix(&bytes, "}")) return bytes[0] == 'q' || bytes[0] == '.';
  absl::ConsumePrefix(&bytes, "(");
  return bytes.size() > 2 && absl::StartsWith(bytes, "dp") &&
         absl::ascii_isdigit(static_cast<unsigned char>(bytes[2]));
}

absl::StatusOr<MxnetStates> ParseMxnetStates(absl::string_view bytes) {
  COOPER_ASSIGN_OR_RETURN(const Pickle pickle, Unpickle(bytes));
  return StatesReader(pickle, bytes.size()).Read();
}

}  // namespace cooper
