"""PyTorch's worker: the same language model with nn.LSTM, nn.GRU or Transformer blocks.

On the CPU or a GPU, eager or compiled.
"""

import math
import time

import corpus
import protocol

# Before PyTorch loads: the thread counts, and the stream that its messages must not reach.
def _add_flags(parser):
    parser.add_argument('--device', default='cpu', help='where the model is: cpu or cuda')
    parser.add_argument('--compile', action='store_true', help='model and loss by torch.compile')


FLAGS = protocol.parse_flags(__doc__, _add_flags)
STREAM = protocol.claim_stdout()

import torch  # pylint: disable=wrong-import-position
from torch import nn  # pylint: disable=wrong-import-position
from torch.nn import functional  # pylint: disable=wrong-import-position

from torch_batches import BucketBatches  # pylint: disable=wrong-import-position


def _on_device(batch):
    """Copies a batch of ids from the CPU to the model's device, as a training loop does."""
    return batch.to(FLAGS.device, non_blocking=True)


def _wait():
    """Waits until the device has done all its work."""
    if FLAGS.device != 'cpu':
        torch.cuda.synchronize()


def _init_matrix(value):
    """As the other workers: Xavier by inputs with magnitude 2.34."""
    bound = math.sqrt(2.34 / value.shape[1])
    nn.init.uniform_(value, -bound, bound)


class LanguageModel(nn.Module):
    """Embedding, recurrent layers and a projection onto the vocabulary."""

    def __init__(self, vocab):
        super().__init__()
        layers = {'lstm': nn.LSTM, 'gru': nn.GRU}[FLAGS.cell]
        self._features = FLAGS.num_hidden * (2 if FLAGS.bidirectional else 1)
        self.embed = nn.Embedding(vocab, FLAGS.num_embed)
        self.layers = layers(FLAGS.num_embed, FLAGS.num_hidden, FLAGS.num_layers,
                             batch_first=True, bidirectional=FLAGS.bidirectional)
        self.pred = nn.Linear(self._features, vocab)
        self._init_parameters()

    def _init_parameters(self):
        """Initialises as the other workers: Xavier by inputs with magnitude 2.34, forget gates' biases 1."""
        for name, value in self.named_parameters():
            if value.dim() == 2:
                _init_matrix(value)
                continue
            nn.init.zeros_(value)
            if FLAGS.cell == 'lstm' and 'bias_ih' in name:  # input, forget, cell, output
                nn.init.ones_(value[FLAGS.num_hidden:2 * FLAGS.num_hidden])

    def forward(self, data):
        """Maps ids (batch, time) to logits (batch * time, vocab)."""
        outputs, _ = self.layers(self.embed(data))
        return self.pred(outputs.reshape(-1, self._features))


class Block(nn.Module):
    """Causal attention and feed-forward layers, each behind a norm, as in examples/transformer."""

    def __init__(self, width):
        super().__init__()
        self._heads = width // 64
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.ff1, self.ff2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        """Maps (batch, time, width) to the same shape."""
        qkv = self.qkv(self.norm1(x)).unflatten(2, (3, self._heads, 64)).permute(2, 0, 3, 1, 4)
        # Padding comes behind the words, which a causal mask keeps from it.
        values = functional.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=True)
        x = x + self.proj(values.transpose(1, 2).flatten(2))
        return x + self.ff2(functional.gelu(self.ff1(self.norm2(x))))


class TransformerModel(nn.Module):
    """Embedding, learned positions, blocks and a projection onto the vocabulary."""

    def __init__(self, vocab):
        super().__init__()
        width = FLAGS.num_hidden
        self.embed = nn.Embedding(vocab, width)
        self.positions = nn.Parameter(torch.empty(max(FLAGS.buckets), width))
        self.blocks = nn.ModuleList(Block(width) for _ in range(FLAGS.num_layers))
        self.norm = nn.LayerNorm(width)
        self.pred = nn.Linear(width, vocab)
        for name, value in self.named_parameters():
            if value.dim() == 2:
                _init_matrix(value)
            elif name.endswith('bias'):
                nn.init.zeros_(value)

    def forward(self, data):
        """Maps ids (batch, time) to logits (batch * time, vocab)."""
        x = (self.embed(data) + self.positions[:data.shape[1]]) * math.sqrt(FLAGS.num_hidden)
        for block in self.blocks:
            x = block(x)
        return self.pred(self.norm(x).flatten(0, 1))


def _make_model(vocab):
    model = TransformerModel(vocab) if FLAGS.cell == 'transformer' else LanguageModel(vocab)
    return model.to(FLAGS.device)


def _compiled(function):
    """A program for each bucket with --compile, else the function itself."""
    if not FLAGS.compile:
        return function
    torch._dynamo.config.recompile_limit = 64  # pylint: disable=protected-access
    return torch.compile(function, dynamic=False)


def _cross_entropy(logits, labels):
    """Returns the loss, summed over tokens."""
    # -100, the default, is no id: all positions count.
    ignored = protocol.PAD_ID if FLAGS.use_ignore else -100
    return functional.cross_entropy(logits, labels.reshape(-1), reduction='sum',
                                    ignore_index=ignored)


class Trainer:
    """Trains on batches of (data, label), both (batch, time)."""

    def __init__(self, model):
        self._model = _compiled(model)
        self._loss = _compiled(_cross_entropy)
        # fused: one kernel per update, the fastest of PyTorch's SGD implementations.
        self._optimizer = torch.optim.SGD(model.parameters(), lr=FLAGS.lr, momentum=0.0,
                                          weight_decay=1e-5, fused=True)

    def gradients(self, data, labels):
        """Computes the gradients and returns the loss, summed over tokens."""
        self._optimizer.zero_grad()
        loss = self._loss(self._model(_on_device(data)), _on_device(labels))
        (loss / FLAGS.batch_size).backward()  # rescale_grad of MXNet's Module
        return loss

    def step(self, data, labels):
        """Computes the gradients and updates."""
        loss = self.gradients(data, labels)
        self._optimizer.step()
        return loss


class Passes:
    """Runs passes over the protocol's batches."""

    def __init__(self, model, batches):
        self._predict = _compiled(lambda data: functional.softmax(model(data), dim=1))
        self._trainer = Trainer(model)
        self._batches = batches
        pinned = FLAGS.device != 'cpu'
        self._data = [torch.tensor(batch.data, pin_memory=pinned) for batch in batches]
        self._labels = [torch.tensor(batch.label, pin_memory=pinned) for batch in batches]
        self._last = 0
        self._loss = None
        self._probabilities = None

    def train_step(self, b):
        self._loss = self._trainer.step(self._data[b], self._labels[b])
        self._last = b
        _wait()

    def forward_step(self, b):
        with torch.inference_mode():
            # The worker computes probabilities, because SoftmaxOutput does.
            self._probabilities = self._predict(_on_device(self._data[b]))
        self._last = b
        _wait()

    def nll_per_token(self):
        batch = self._batches[self._last]
        loss = self._loss
        if FLAGS.forward_only:
            loss = _cross_entropy(self._probabilities.log(), _on_device(self._labels[self._last]))
        return loss.item() / (batch.tokens if FLAGS.use_ignore else batch.padded_tokens)


class Epochs:
    """Runs epochs over a text."""

    def __init__(self):
        sentences = corpus.read_sentences(FLAGS.corpus, FLAGS.max_sentences)
        ids = corpus.make_vocabulary(sentences)
        self.vocab = corpus.vocab_size(ids)
        self.model = _make_model(self.vocab)
        self._trainer = Trainer(self.model)
        self._valid = None
        if FLAGS.valid:
            valid = corpus.encode(corpus.read_sentences(FLAGS.valid), ids)
            self._valid = BucketBatches(valid, FLAGS.batch_size, FLAGS.buckets)
        # Warms up without an update, so that the parameters stay as they are.
        for bucket in self._batches(corpus.encode(sentences, ids)).buckets:
            zeros = torch.zeros((FLAGS.batch_size, bucket), dtype=torch.int64)
            self._trainer.gradients(zeros, zeros + 1)

    @staticmethod
    def _batches(encoded):
        batches = BucketBatches(encoded, FLAGS.batch_size, FLAGS.buckets)
        if not batches.buckets:
            raise SystemExit(f'{FLAGS.corpus}: no bucket fills a batch')
        return batches

    def _read(self):
        sentences = corpus.read_sentences(FLAGS.corpus, FLAGS.max_sentences)
        return self._batches(corpus.encode(sentences, corpus.make_vocabulary(sentences)))

    def _train(self, batches, stopwatch):
        loss, tokens, padded = 0.0, 0, 0
        for data, labels in stopwatch.over(batches):
            loss += self._trainer.step(data, labels).item()
            tokens += int((labels != protocol.PAD_ID).sum())
            padded += labels.numel()
        return math.exp(loss / tokens), tokens, padded

    def _validate(self):
        if self._valid is None:
            return []
        loss, tokens = 0.0, 0
        self.model.eval()
        with torch.inference_mode():
            for data, labels in self._valid:
                loss += _cross_entropy(self.model(_on_device(data)), _on_device(labels)).item()
                tokens += int((labels != protocol.PAD_ID).sum())
        self.model.train()
        return [math.exp(loss / tokens)]

    def run(self, epochs):
        """Returns the answer to the command "run"."""
        return corpus.run_epochs(epochs, self._read, self._train, self._validate)


def main():
    rss_after_import = protocol.memory_mb('VmRSS')
    torch.set_num_threads(FLAGS.threads)
    torch.manual_seed(FLAGS.seed)
    # Recurrent layers use float32 as the products do: cuDNN would round their factors to TF32.
    torch.backends.cudnn.allow_tf32 = False
    begin = time.perf_counter()
    epochs = Epochs() if FLAGS.corpus else None
    model = epochs.model if epochs else _make_model(FLAGS.vocab)
    model.train(not FLAGS.forward_only)
    ready = {
        'peer': 'torch',
        'version': f'PyTorch {torch.__version__}',
        'device': torch.cuda.get_device_name() if FLAGS.device != 'cpu' else 'cpu',
        'threads': torch.get_num_threads(),
        'parameters': sum(parameter.numel() for parameter in model.parameters()),
        'bind_s': round(time.perf_counter() - begin, 3),
        'rss_after_import_mb': rss_after_import,
        'onednn': torch.backends.mkldnn.is_available(),
        'mkl': torch.backends.mkl.is_available(),
    }
    if epochs:
        protocol.serve(STREAM, epochs.run, {**ready, 'vocab': epochs.vocab})
        return
    batches = protocol.flags_batches(FLAGS)
    passes = Passes(model, batches)
    step = passes.forward_step if FLAGS.forward_only else passes.train_step
    protocol.serve_batches(STREAM, batches, step, passes.nll_per_token, FLAGS.warmup, ready)


if __name__ == '__main__':
    main()
