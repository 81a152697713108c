#ifndef COOPER_SYMBOL_VISUALIZATION_TEST_NETWORKS_H_
#define COOPER_SYMBOL_VISUALIZATION_TEST_NETWORKS_H_

// Networks for the tests of this folder.

#include "symbol/graph/symbol.h"

namespace cooper {

// Returns the network FullyConnected 'fc1' (128), Activation 'relu1', FullyConnected 'fc2' (10),
// SoftmaxOutput.
Symbol Mlp();

// Returns a network of two convolutions, the first with a BatchNorm, and two dense layers.
Symbol ConvNet();

// Returns a network of a word embedding (11 x 4), an unrolled LSTM of 8 units, a projection to 11
// classes and a softmax. `num_steps` is the length of a sentence.
Symbol UnrolledLstm(int num_steps);

// Returns the network of UnrolledLstm with one RNN operator in place of the unrolled cells.
Symbol FusedLstm(int num_steps);

// Number of elements of the weights of the LSTM networks above.
inline constexpr int kLstmParams = 11 * 4 + 4 * 8 * (4 + 8) + 2 * 4 * 8 + 11 * 8 + 11;

}  // namespace cooper

#endif  // COOPER_SYMBOL_VISUALIZATION_TEST_NETWORKS_H_
