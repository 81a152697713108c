"""PyTorch's worker: the same language model with nn.LSTM, eager, on the CPU."""

import time

import protocol

# Before PyTorch loads: the thread counts, and the stream that its messages must not reach.
FLAGS = protocol.parse_flags(__doc__)
STREAM = protocol.claim_stdout()

import torch  # pylint: disable=wrong-import-position
from torch import nn  # pylint: disable=wrong-import-position
from torch.nn import functional  # pylint: disable=wrong-import-position


class LanguageModel(nn.Module):
    """Embedding, LSTM layers and a projection onto the vocabulary."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(FLAGS.vocab, FLAGS.num_embed)
        self.lstm = nn.LSTM(FLAGS.num_embed, FLAGS.num_hidden, FLAGS.num_layers,
                            batch_first=True)
        self.pred = nn.Linear(FLAGS.num_hidden, FLAGS.vocab)

    def forward(self, data):
        """Maps ids (batch, time) to logits (batch * time, vocab)."""
        outputs, _ = self.lstm(self.embed(data))
        return self.pred(outputs.reshape(-1, FLAGS.num_hidden))


class Trainer:
    """One step at a time, as the protocol asks for."""

    def __init__(self, model, batches):
        self._model = model
        self._batches = batches
        self._data = [torch.tensor(batch.data) for batch in batches]
        self._labels = [torch.tensor(batch.label) for batch in batches]
        # fused: one kernel per update, the quickest of PyTorch's SGD implementations.
        self._optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.0,
                                          weight_decay=1e-5, fused=True)
        self._last = 0
        self._loss = None  # summed over tokens
        self._probabilities = None

    def _cross_entropy(self, logits, b):
        # -100, the default, is no id: then every position counts.
        ignored = protocol.PAD_ID if FLAGS.use_ignore else -100
        return functional.cross_entropy(logits, self._labels[b].reshape(-1),
                                        reduction='sum', ignore_index=ignored)

    def train_step(self, b):
        self._optimizer.zero_grad()
        self._loss = self._cross_entropy(self._model(self._data[b]), b)
        (self._loss / FLAGS.batch_size).backward()  # rescale_grad of MXNet's Module
        self._optimizer.step()
        self._last = b

    def forward_step(self, b):
        with torch.inference_mode():
            # Probabilities, because SoftmaxOutput gives them.
            self._probabilities = functional.softmax(self._model(self._data[b]), dim=1)
        self._last = b

    def nll_per_token(self):
        batch = self._batches[self._last]
        loss = self._loss
        if FLAGS.forward_only:
            loss = self._cross_entropy(self._probabilities.log(), self._last)
        return loss.item() / (batch.tokens if FLAGS.use_ignore else batch.padded_tokens)


def main():
    rss_after_import = protocol.memory_mb('VmRSS')
    torch.set_num_threads(FLAGS.threads)
    torch.manual_seed(FLAGS.seed)
    begin = time.perf_counter()
    batches = protocol.flags_batches(FLAGS)
    model = LanguageModel()
    model.train(not FLAGS.forward_only)
    trainer = Trainer(model, batches)
    step = trainer.forward_step if FLAGS.forward_only else trainer.train_step
    protocol.serve(STREAM, batches, step, trainer.nll_per_token, FLAGS.warmup, {
        'peer': 'torch',
        'version': f'PyTorch {torch.__version__}',
        'threads': torch.get_num_threads(),
        'parameters': sum(parameter.numel() for parameter in model.parameters()),
        'bind_s': round(time.perf_counter() - begin, 3),
        'rss_after_import_mb': rss_after_import,
        'onednn': torch.backends.mkldnn.is_available(),
        'mkl': torch.backends.mkl.is_available(),
    })


if __name__ == '__main__':
    main()
