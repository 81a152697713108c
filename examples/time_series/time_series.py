#!/usr/bin/env python3
"""The MXNet twin of time_series.cc: data of the same kind, network and training with MXNet 1.9.1.

For readers who come from MXNet, and for the comparison of sizes (examples/sizes_test.sh).
"""

import logging
import os
import pickle
import random
import sys

import mxnet as mx
import numpy as np

STEPS = {"day": 24, "week": 42}
DATA_NAMES = ["series", "features"]
LABEL_NAMES = ["next_label", "shape_label"]


def make_series(count, seed):
    """Returns tuples of the kind, its values with noise, level and amplitude, the value after the last
    one without noise, and the shape: 0 is a sine, 1 a triangle."""
    rng = np.random.RandomState(seed)
    samples = []
    for _ in range(count):
        kind = rng.choice(list(STEPS))
        shape = rng.randint(2)
        level, amplitude = rng.rand(), 0.5 + rng.rand()
        turn = rng.rand() + np.arange(STEPS[kind] + 1) / 12  # of 12 steps
        wave = np.sin(2 * np.pi * turn) if shape == 0 else 4 * abs(turn - np.round(turn)) - 1
        values = level + amplitude * wave
        noise = 0.02 * rng.randn(STEPS[kind])
        samples.append((kind, values[:-1] + noise, (level, amplitude), values[-1], shape))
    return samples


class SeriesIter(mx.io.DataIter):
    """Serves shuffled batches of one kind each; the last batch of a kind is smaller."""

    def __init__(self, samples, batch_size=32):
        super().__init__(batch_size)
        self.arrays = {}
        for kind in STEPS:
            rows = [values for name, *values in samples if name == kind]
            self.arrays[kind] = [np.array(column) for column in zip(*rows)]
        self.default_bucket_key = "week"
        self.provide_data, self.provide_label = self.describe("week", batch_size)
        self.seek(0, 0)

    def describe(self, kind, rows):
        shapes = [(rows,) + array.shape[1:] for array in self.arrays[kind]]
        return list(zip(DATA_NAMES, shapes[:2])), list(zip(LABEL_NAMES, shapes[2:]))

    def seek(self, epoch, position):
        """Moves to a batch of an epoch, whose order follows from these numbers."""
        rng = random.Random(epoch)
        self.epoch, self.position = epoch, position
        self.batches = []
        for kind, arrays in self.arrays.items():
            order = rng.sample(range(len(arrays[0])), len(arrays[0]))
            for begin in range(0, len(order), self.batch_size):
                self.batches.append((kind, order[begin:begin + self.batch_size]))
        rng.shuffle(self.batches)

    def reset(self):
        self.seek(self.epoch + 1, 0)

    def next(self):
        if self.position == len(self.batches):
            raise StopIteration
        kind, index = self.batches[self.position]
        self.position += 1
        arrays = [mx.nd.array(array[index]) for array in self.arrays[kind]]
        provide_data, provide_label = self.describe(kind, len(index))
        return mx.io.DataBatch(arrays[:2], arrays[2:], pad=0, index=index, bucket_key=kind,
                               provide_data=provide_data, provide_label=provide_label)


def series_network(kind):
    """Maps series (N, steps) and features (N, 2) to next values (N, 1) and shapes (N, 2)."""
    steps = mx.sym.expand_dims(mx.sym.Variable("series"), axis=2)
    _, states = mx.rnn.GRUCell(24, prefix="gru_").unroll(STEPS[kind], steps)
    hidden = mx.sym.FullyConnected(mx.sym.concat(states[0], mx.sym.Variable("features")),
                                   num_hidden=32, name="hidden")
    active = mx.sym.Activation(hidden, act_type="tanh")
    next_value = mx.sym.FullyConnected(active, num_hidden=1, name="next_value")
    scores = mx.sym.FullyConnected(active, num_hidden=2, name="scores")
    losses = mx.sym.Group([mx.sym.LinearRegressionOutput(next_value, name="next"),
                           mx.sym.SoftmaxOutput(scores, name="shape")])
    return losses, DATA_NAMES, LABEL_NAMES


def make_series_model(batches):
    return mx.mod.BucketingModule(series_network, batches.default_bucket_key)


def make_metric():
    return mx.metric.CompositeEvalMetric([
        mx.metric.MSE(output_names=["next_output"], label_names=["next_label"]),
        mx.metric.Accuracy(output_names=["shape_output"], label_names=["shape_label"])])


def save_state(path, model, batches, metric):
    """Saves the counts of updates, which Adam needs to resume and Module.save_optimizer_states omits."""
    updater = model._curr_module._updater
    state = {"params": model.get_params(), "updater": updater.get_states(dump_optimizer=True),
             "position": (batches.epoch, batches.position), "metric": metric}
    with open(path + ".new", "wb") as file:
        pickle.dump(state, file)
    os.replace(path + ".new", path)


def load_state(path, model, batches):
    with open(path, "rb") as file:
        state = pickle.load(file)
    model.set_params(*state["params"])
    model._curr_module._updater.set_states(state["updater"])
    batches.seek(*state["position"])
    return state["metric"]


def train_series(model, batches, prefix, num_epoch):
    """Trains, and saves the state of the run in a file: a call after a kill resumes from it and ends
    with bitwise equal parameters."""
    mx.random.seed(1)
    model.bind(batches.provide_data, batches.provide_label)
    model.init_params(mx.init.Xavier())
    model.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.01})
    path = prefix + ".state"
    metric = load_state(path, model, batches) if os.path.exists(path) else make_metric()
    while batches.epoch < num_epoch:
        for batch in batches:
            model.forward_backward(batch)
            model.update()
            model.update_metric(metric, batch.label)
            if batches.position % 5 == 0:
                save_state(path, model, batches, metric)
        logging.info("Epoch[%d] %s", batches.epoch, metric.get())
        metric.reset()
        batches.reset()


def score_series(model, samples):
    """Returns the mean square error of the next values, and the share of shapes that are recognised."""
    return model.score(SeriesIter(samples), make_metric())


def main():
    batches = SeriesIter(make_series(2000, 1))
    model = make_series_model(batches)
    train_series(model, batches, sys.argv[1] if len(sys.argv) > 1 else "/tmp/time_series_mxnet", 10)
    for name, value in score_series(model, make_series(500, 2)):
        print(name, value)


if __name__ == "__main__":
    main()
