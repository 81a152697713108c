#include "symbol/visualization/test_networks.h"

#include <string>

#include "symbol/rnn/base_rnn_cell.h"
#include "symbol/rnn/fused_rnn_cell.h"
#include "symbol/rnn/lstm_cell.h"

namespace cooper {
namespace {

Symbol Layer(const std::string& op, const std::string& name, const Symbol& data,
             const AttrMap& attrs = {}) {
  return *Symbol::Create(op, {.name = name, .inputs = {data}, .attrs = attrs});
}

Symbol LanguageModel(BaseRNNCell& cell, int num_steps) {
  const Symbol embed = Layer("Embedding", "embed", Symbol::Variable("data"),
                             {{"input_dim", "11"}, {"output_dim", "4"}});
  const Unrolled unrolled = *cell.Unroll(num_steps, embed, {.merge_outputs = true});
  const Symbol rows = Layer("Reshape", "rows", unrolled.outputs.merged(), {{"shape", "(-1, 8)"}});
  const Symbol pred = Layer("FullyConnected", "pred", rows, {{"num_hidden", "11"}});
  const Symbol labels =
      Layer("Reshape", "labels", Symbol::Variable("softmax_label"), {{"shape", "(-1,)"}});
  return *Symbol::Create("SoftmaxOutput", {.name = "softmax", .inputs = {pred, labels}});
}

}  // namespace

Symbol Mlp() {
  const Symbol fc1 =
      Layer("FullyConnected", "fc1", Symbol::Variable("data"), {{"num_hidden", "128"}});
  const Symbol relu = Layer("Activation", "relu1", fc1, {{"act_type", "relu"}});
  const Symbol fc2 = Layer("FullyConnected", "fc2", relu, {{"num_hidden", "10"}});
  return Layer("SoftmaxOutput", "softmax", fc2);
}

Symbol ConvNet() {
  Symbol x = Symbol::Variable("data");
  x = Layer("Convolution", "conv1", x, {{"kernel", "(5, 5)"}, {"num_filter", "20"}});
  x = Layer("BatchNorm", "bn1", x);
  x = Layer("Activation", "tanh1", x, {{"act_type", "tanh"}});
  x = Layer("Pooling", "pool1", x,
            {{"pool_type", "max"}, {"kernel", "(2, 2)"}, {"stride", "(2, 2)"}});
  x = Layer("Convolution", "conv2", x,
            {{"kernel", "(5, 5)"},
             {"num_filter", "50"},
             {"num_group", "2"},
             {"stride", "(1, 1)"},
             {"no_bias", "True"}});
  x = Layer("LeakyReLU", "prelu2", x, {{"act_type", "prelu"}});
  x = Layer("Pooling", "pool2", x, {{"pool_type", "avg"}, {"global_pool", "True"}});
  x = Layer("Flatten", "flat", x);
  x = Layer("FullyConnected", "fc1", x, {{"num_hidden", "10"}});
  return Layer("SoftmaxOutput", "softmax", x);
}

Symbol UnrolledLstm(int num_steps) {
  LSTMCell cell(8);
  return LanguageModel(cell, num_steps);
}

Symbol FusedLstm(int num_steps) {
  FusedRNNCell cell(8, {.num_layers = 1, .mode = RNNMode::kLstm, .prefix = "lstm_"});
  return LanguageModel(cell, num_steps);
}

}  // namespace cooper
