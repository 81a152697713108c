#ifndef COOPER_SYMBOL_CONTROL_COND_H_
#define COOPER_SYMBOL_CONTROL_COND_H_

// A choice between two graphs, as mx.sym.contrib.cond builds it: one node, _cond, that holds both.
//
//   // log(x) where the sum of x is positive, else x.
//   std::vector<Symbol> y = Cond(
//       op::sum(x) > 0,
//       [&] { return std::vector<Symbol>{op::log(x)}; },
//       [&] { return std::vector<Symbol>{x}; });
//
// On a CPU only the branch that is taken runs, forward and backward; on a GPU both do. Values of
// the other branch, NaN among them, reach neither outputs nor gradients.
//
// MXNet: python/mxnet/symbol/contrib.py.

#include <functional>
#include <string>
#include <vector>

#include "symbol/graph/symbol.h"

namespace cooper {

// Builds one branch. May use any symbol. It is called once.
using CondBranchFn = std::function<std::vector<Symbol>()>;

// Builds a node whose outputs are those of `then_branch` if `condition`, one number, is other than
// 0, else those of `else_branch`. Both have equally many outputs; output i of both has one shape
// and one dtype. No gradient passes to the condition. An empty name is an automatic one, "cond0".
//
// The symbols keep an error, like those of the functions of symbol/op: kInvalidArgument if the
// branches return different numbers of symbols, or none, or if a symbol does not have exactly one
// output; else the first error of the condition or a branch. The result then has one symbol, whose
// status() is the error. Shapes that differ are found by InferShape.
std::vector<Symbol> Cond(const Symbol& condition, const CondBranchFn& then_branch,
                         const CondBranchFn& else_branch, const std::string& name = "");

}  // namespace cooper

#endif  // COOPER_SYMBOL_CONTROL_COND_H_
