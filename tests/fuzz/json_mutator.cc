#include "tests/fuzz/json_mutator.h"

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "symbol/schema/op.h"

namespace cooper {
namespace {

constexpr const char* kNumbers[] = {"0",
                                    "1",
                                    "2",
                                    "3",
                                    "-1",
                                    "100000",
                                    "2147483647",
                                    "2147483648",
                                    "4294967295",
                                    "1e9",
                                    "0.5",
                                    "9223372036854775807",
                                    "99999999999999999999"};
constexpr const char* kTexts[] = {
    "()",      "(1,)",  "(2, 2)", "(0, 1)",   "(-1, 0)",   "None",       "True",    "False",
    "0",       "1",     "-1",     "2",        "65536",     "2147483648", "1e300",   "nan",
    "float16", "int64", "null",   "num_args", "__shape__", "axis",       "lr_mult", "data_lr_mult",
    ""};

// Returns the end of the value that begins at `begin`.
size_t EndOfValue(const std::string& text, size_t begin) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c != '"') continue;
      in_string = false;
    } else if (c == '"') {
      in_string = true;
      continue;
    } else if (c == '[' || c == '{') {
      ++depth;
      continue;
    } else if (c == ']' || c == '}') {
      if (depth == 0) return i;
      --depth;
    } else if (c == ',' || c == ':') {
      if (depth == 0) return i;
      continue;
    } else {
      continue;
    }
    if (depth == 0) return i + 1;
  }
  return text.size();
}

// Returns the beginning of some value or key: after a bracket, a comma or a colon.
size_t SomeValue(RandomGenerator& random, const std::string& text) {
  const size_t at = text.find_first_of("[{,:", random.NextBelow(text.size() + 1));
  if (at == std::string::npos) return text.size();
  const size_t begin = text.find_first_not_of(" \n\t", at + 1);
  return begin == std::string::npos ? text.size() : begin;
}

std::string SomeText(RandomGenerator& random) {
  static const auto* const ops = new std::vector<const OpSchema*>(AllOps());
  if (random.NextBelow(3) != 0) return kTexts[random.NextBelow(std::size(kTexts))];
  const OpSchema* const op = (*ops)[random.NextBelow(ops->size())];
  if (op->params() == nullptr || op->params()->fields().empty() || random.NextBelow(3) != 0) {
    return op->name();
  }
  const auto& fields = op->params()->fields();
  return fields[random.NextBelow(fields.size())].name;
}

void MutateOnce(RandomGenerator& random, std::string* text) {
  const size_t begin = SomeValue(random, *text);
  if (begin == text->size()) return;
  const size_t end = EndOfValue(*text, begin);
  const std::string value = text->substr(begin, end - begin);
  switch (random.NextBelow(6)) {
    case 0:
      text->replace(begin, value.size(), kNumbers[random.NextBelow(std::size(kNumbers))]);
      break;
    case 1:
      text->replace(begin, value.size(), absl::StrCat("\"", SomeText(random), "\""));
      break;
    case 2:
      text->erase(begin, value.size() + (end < text->size() && (*text)[end] == ',' ? 1 : 0));
      break;
    case 3:
      if (value.size() < 4096) text->insert(begin, value + ", ");
      break;
    case 4:
      text->insert(begin, absl::StrCat("\"", SomeText(random), "\": \"", SomeText(random), "\", "));
      break;
    default: {
      const size_t from = SomeValue(random, *text);
      const std::string other = text->substr(from, EndOfValue(*text, from) - from);
      if (!other.empty() && other.size() < 4096) text->replace(begin, value.size(), other);
    }
  }
}

}  // namespace

void MutateJson(RandomGenerator& random, std::string* text) {
  for (uint64_t changes = 1 + random.NextBelow(4); changes > 0; --changes) {
    MutateOnce(random, text);
  }
}

}  // namespace cooper
