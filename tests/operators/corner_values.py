"""Prints the expected numbers of corner_values_test.cc, computed by MXNet 1.9.1 (numpy below 1.24)."""

import mxnet as mx

nan = float('nan')


def array(values, dtype='float32'):
    return mx.nd.array(values, dtype=dtype)


def gradient(function, data):
    data.attach_grad()
    with mx.autograd.record():
        value = function(data)
    value.backward()
    return value.asnumpy().ravel(), data.grad.asnumpy().ravel()


def clip(low, high):
    return lambda x: mx.nd.clip(x, low, high)


def ctc_loss(data):
    return mx.nd.CTCLoss(data, array([[3, 0]]), label_lengths=array([2]), use_label_lengths=True)


def of_scalar(dtype, scalar, is_int):
    """Returns a product with a scalar, and its dtype."""
    product = mx.sym._internal._mul_scalar(mx.sym.Variable('data'), scalar=scalar, is_int=is_int)
    out = product.bind(mx.cpu(), {'data': array([0, 1], dtype)}).forward()[0]
    return out.dtype.__name__, out.asnumpy()


def averages():
    """Returns the moving averages of BatchNorm below BlockGrad after one step."""
    norm = mx.sym.BatchNorm(mx.sym.Variable('data'), name='bn', fix_gamma=False, momentum=0.5)
    step = mx.sym.BlockGrad(norm).simple_bind(mx.cpu(), data=(4, 2))
    step.arg_dict['data'][:] = array([[1, 2], [3, 4], [5, 6], [7, 9]])
    step.arg_dict['bn_gamma'][:] = 1
    step.aux_dict['bn_moving_var'][:] = 1
    step.forward(is_train=True)
    step.backward(mx.nd.ones((4, 2)))
    mx.nd.waitall()
    return [step.aux_dict[name].asnumpy() for name in ('bn_moving_mean', 'bn_moving_var')]


def main():
    label = array([[0, 2, 1]])
    print(gradient(lambda x: mx.nd.MAERegressionOutput(x, label), array([[0, 1, 2]])))
    print(gradient(clip(-1, 1.5), array([0, 1, 2], 'uint8')))
    print(gradient(clip(0.5, 1.5), array([0, 1, 2], 'int32')))
    for low, high in ((300, 400), (-4, -1)):
        print(gradient(clip(low, high), array([0, 255], 'uint8')))
    print(mx.nd.ftrl_update(array([1, 2]), array([nan, 1]), array([0, 0]), array([0, 0]), lr=0.1))
    print(gradient(ctc_loss, array([.1, .2, .3, .4, .4, .1, .2, .3, .3, .3, .1, .2, .2, .5, .1, .1])
                   .reshape((4, 1, 4))))
    print(mx.sym.arange(0, 10, 2, infer_range=True).infer_shape())
    print(of_scalar('bool', -10000, True), of_scalar('int32', 0.5, False))
    print(mx.nd.arange(0, 3, .5, dtype='int32'), mx.nd.arange(.5, 6, 1.5, dtype='int64'))
    print(averages())


if __name__ == '__main__':
    main()
