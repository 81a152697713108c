#include "module/pickle/mxnet_states.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ndarray/base/status_matchers.h"

namespace cooper {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr auto kInvalidArgument = absl::StatusCode::kInvalidArgument;

template <typename T>
void Add(T value, std::string* bytes) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// Returns the bytes of a float32 array (2,) as MXNet pickles it.
std::string Floats(float a, float b) {
  std::string bytes;
  Add(uint32_t{0xF993fac9}, &bytes);
  for (const int32_t number : {0, 1, 2, 0, 1, 0, 0}) Add(number, &bytes);
  Add(a, &bytes);
  Add(b, &bytes);
  return bytes;
}

// Returns the text of protocol 0 with these bytes.
std::string Text(const std::string& bytes) {
  std::string text = "V";
  for (const char c : bytes) {
    if (c == '\0' || c == '\n' || c == '\\') {
      absl::StrAppendFormat(&text, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      text.push_back(c);
    }
  }
  return text + "\n";
}

// Returns an array as Python 2 pickles it, protocol 0.
std::string Array(float a, float b) {
  return absl::StrCat("cmxnet.ndarray\nNDArray\n(NtR(dS'handle'\nc__builtin__\nbytearray\n(",
                      Text(Floats(a, b)), "S'latin-1'\ntRsb");
}

std::string Optimizer(const std::string& name, const std::string& attributes) {
  return absl::StrCat("ccopy_reg\n_reconstructor\n(cmxnet.optimizer\n", name,
                      "\nc__builtin__\nobject\nNtR(d", attributes, "b");
}

constexpr char kCounts[] = "S'_index_update_count'\n(dI0\nI4\nsI1\nI5\nss";

TEST(MxnetStatesTest, ReadsWhatPython2Writes) {
  // A tuple in a tuple, as multi-precision has them.
  const std::string file = absl::StrCat("(dp0\nI0\nNsI1\n", Array(1, 2), "sS'x_bias'\n(",
                                        Array(3, 4), "(N", Array(5, 6), "tts.");
  EXPECT_TRUE(IsMxnetStates(file));
  COOPER_ASSERT_OK_AND_ASSIGN(const MxnetStates states, ParseMxnetStates(file));
  EXPECT_FALSE(states.optimizer.has_value());
  ASSERT_EQ(states.parameters.size(), 3);
  EXPECT_EQ(states.parameters[0].key, MxnetKey(0));
  ASSERT_EQ(states.parameters[0].arrays.size(), 1);
  EXPECT_TRUE(states.parameters[0].arrays[0].array.is_null());
  EXPECT_THAT(states.parameters[1].arrays[0].array.ToVector<float>(),
              IsOkAndHolds(ElementsAre(1, 2)));
  EXPECT_EQ(states.parameters[2].key, MxnetKey("x_bias"));
  ASSERT_EQ(states.parameters[2].arrays.size(), 3);
  EXPECT_TRUE(states.parameters[2].arrays[1].array.is_null());
  EXPECT_THAT(states.parameters[2].arrays[2].array.ToVector<float>(),
              IsOkAndHolds(ElementsAre(5, 6)));
}

TEST(MxnetStatesTest, ReadsTheOptimizerOfAPair) {
  const std::string file = absl::StrCat(
      "((dp1\n",
      Optimizer("Nadam",
                absl::StrCat("S'num_update'\nI5\nsS'lr'\nF0.5\nsS'm_schedule'\nF0.25\nsS'cur_"
                             "lr'\nNsS'idx2name'\n(dI0\nS'w'\nss",
                             kCounts)),
      "t.");
  EXPECT_TRUE(IsMxnetStates(file));
  COOPER_ASSERT_OK_AND_ASSIGN(const MxnetStates states, ParseMxnetStates(file));
  ASSERT_TRUE(states.optimizer.has_value());
  const MxnetOptimizer& optimizer = *states.optimizer;
  EXPECT_EQ(optimizer.class_name, "Nadam");
  EXPECT_EQ(optimizer.num_update, 5);
  EXPECT_EQ(optimizer.learning_rate, 0.5);
  EXPECT_EQ(optimizer.m_schedule, 0.25);
  EXPECT_EQ(optimizer.cur_lr, std::nullopt);
  EXPECT_THAT(optimizer.counts, UnorderedElementsAre(Pair(MxnetKey(0), 4), Pair(MxnetKey(1), 5)));
  EXPECT_THAT(optimizer.names, UnorderedElementsAre(Pair(0, "w")));
}

TEST(MxnetStatesTest, NamesWhatIsNoState) {
  const std::string deep = "((((" + Array(1, 2) + "tttt";
  const std::string long_tuple = "(" + std::string(9, 'N') + "t";
  const auto of_state = [](const std::string& state) { return "(dp0\nI3\n" + state + "s."; };
  const auto of_attributes = [](const std::string& attributes) {
    return "((dp1\n" + Optimizer("SGD", attributes) + "t.";
  };
  const struct {
    std::string file;
    const char* message;
  } kCases[] = {
      {"N.", "expected a dictionary of states, or a pair of it and an optimizer, got None"},
      {"(NNt.", "expected a dictionary of states, or a pair of it and an optimizer, got a tuple"},
      {"(dp0\nF1.5\nNs.", "a key of the states is a float, expected a position or a name"},
      {"(dp0\nI-1\nNs.", "a key of the states is an integer, expected a position or a name"},
      {of_state("I5\n"),
       "the state of position 3: expected None, an array or a tuple of them, got an integer"},
      {"(dp0\nS'x\\n'\nI5\ns.", "the state of 'x\\n': expected None, an array"},
      {of_state(deep), "it has more arrays than any optimizer of MXNet writes"},
      {of_state(long_tuple), "it has more arrays than any optimizer of MXNet writes"},
      {of_state("cmxnet.ndarray\nNDArray\n(NtR"), "an array has no bytes"},
      {of_state("cmxnet.ndarray\nNDArray\n(NtR(dS'handle'\nNsb"), "an array has no bytes"},
      {of_state(
           "cmxnet.ndarray\nNDArray\n(NtR(dS'handle'\nc__builtin__\nbytearray\n(VabcdV\nS'latin-1"
           "'\ntRsb"),
       "an array: "},
      {of_attributes(kCounts), "optimizer SGD: it has no number 'num_update'"},
      {of_attributes("S'num_update'\nI5\ns"), "it has no dictionary '_index_update_count'"},
      {of_attributes(absl::StrCat("S'num_update'\nI5\nsS'lr'\nS'x'\ns", kCounts)),
       "optimizer SGD: attribute 'lr': expected a number, got a text"},
      {of_attributes("S'num_update'\nI5\nsS'_index_update_count'\n(dI0\nNss"),
       "_index_update_count: expected an integer, got None"},
      {of_attributes(absl::StrCat("S'num_update'\nI5\nsS'idx2name'\n(dI0\nI1\nss", kCounts)),
       "idx2name: expected a name, got an integer"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(ParseMxnetStates(c.file), StatusIs(kInvalidArgument, HasSubstr(c.message)));
  }
}

TEST(MxnetStatesTest, TheBytesOfAnArrayCountOncePerArray) {
  // One array, named by the states of 40 parameters.
  std::string states = "(d";
  states += absl::StrCat("I0\ncmxnet.ndarray\nNDArray\n(NtR(dS'handle'\nc__builtin__\nbytearray\n(",
                         Text(Floats(1, 2)), "S'latin-1'\ntRsbp1\ns");
  for (int i = 1; i < 40; ++i) absl::StrAppend(&states, "I", i, "\ng1\ns");
  EXPECT_THAT(ParseMxnetStates(states + "."),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("the arrays take more bytes than the file has")));
}

TEST(MxnetStatesTest, OtherFilesAreNotTaken) {
  std::string params;
  Add(uint64_t{0x112}, &params);
  for (const std::string& bytes : {std::string(), std::string("{"), std::string("abc"), params,
                                   std::string("(x)"), std::string("# text")}) {
    EXPECT_FALSE(IsMxnetStates(bytes)) << bytes;
  }
}

}  // namespace
}  // namespace cooper
