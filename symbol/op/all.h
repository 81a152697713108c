#ifndef COOPER_SYMBOL_OP_ALL_H_
#define COOPER_SYMBOL_OP_ALL_H_

// Declares the functions of all operators, op::FullyConnected to op::zeros_like. Its target links
// the schemas of all operators, but no kernel. A program that links few operators includes the
// headers of their families instead; docs/symbol.md lists the header of each function.

#include "symbol/op/detection.h"  // IWYU pragma: export
#include "symbol/op/elemwise.h"   // IWYU pragma: export
#include "symbol/op/index.h"      // IWYU pragma: export
#include "symbol/op/linalg.h"     // IWYU pragma: export
#include "symbol/op/loss.h"       // IWYU pragma: export
#include "symbol/op/nn.h"         // IWYU pragma: export
#include "symbol/op/numpy.h"      // IWYU pragma: export
#include "symbol/op/optimizer.h"  // IWYU pragma: export
#include "symbol/op/random.h"     // IWYU pragma: export
#include "symbol/op/reduce.h"     // IWYU pragma: export
#include "symbol/op/rnn.h"        // IWYU pragma: export
#include "symbol/op/shape.h"      // IWYU pragma: export

#endif  // COOPER_SYMBOL_OP_ALL_H_
