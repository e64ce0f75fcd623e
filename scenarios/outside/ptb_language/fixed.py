import logging
import time

import mxnet as mx
import numpy as np

BATCH_SIZE = 64
SEQ_LEN = 30
VOCAB = 120
NUM_HIDDEN = 32
NUM_EMBED = 32
NUM_EPOCH = 16


def make_sentences(n, seed=0):
    """Word ids from a random bigram language, one sentence per row."""
    rng = np.random.RandomState(seed)
    successors = np.random.RandomState(99).randint(1, VOCAB, size=(VOCAB, 4))
    words = np.zeros((n, SEQ_LEN + 1), dtype=np.float32)
    words[:, 0] = rng.randint(1, VOCAB, n)
    for t in range(1, SEQ_LEN + 1):
        pick = rng.randint(0, 4, n)
        words[:, t] = successors[words[:, t - 1].astype(int), pick]
    return words


def lstm_symbol():
    data = mx.sym.Variable('data')
    label = mx.sym.Variable('softmax_label')
    embed = mx.sym.Embedding(data=data, input_dim=VOCAB, output_dim=NUM_EMBED, name='embed')
    embed = mx.sym.transpose(embed, axes=(1, 0, 2))
    rnn = mx.rnn.FusedRNNCell(NUM_HIDDEN, num_layers=1, mode='lstm', prefix='lstm_')
    output, _ = rnn.unroll(SEQ_LEN, inputs=embed, layout='TNC', merge_outputs=True)
    output = mx.sym.transpose(output, axes=(1, 0, 2))
    pred = mx.sym.Reshape(output, shape=(-1, NUM_HIDDEN))
    pred = mx.sym.FullyConnected(data=pred, num_hidden=VOCAB, name='pred')
    label = mx.sym.Reshape(label, shape=(-1,))
    return mx.sym.SoftmaxOutput(data=pred, label=label, name='softmax',
                                normalization='batch')


def main():
    logging.basicConfig(level=logging.INFO, format='%(message)s')
    mx.random.seed(0)
    np.random.seed(0)
    words = make_sentences(3200)
    val_words = make_sentences(320, seed=1)
    data_train = mx.io.NDArrayIter(words[:, :-1], words[:, 1:], BATCH_SIZE, shuffle=True,
                                   label_name='softmax_label')
    data_val = mx.io.NDArrayIter(val_words[:, :-1], val_words[:, 1:], BATCH_SIZE,
                                 label_name='softmax_label')
    model = mx.mod.Module(lstm_symbol(), context=mx.cpu())
    start = time.time()
    model.fit(
        train_data=data_train,
        eval_data=data_val,
        eval_metric=mx.metric.Perplexity(ignore_label=None),
        optimizer='adam',
        optimizer_params={'learning_rate': 0.01},
        initializer=mx.init.Xavier(factor_type='in', magnitude=2.34),
        num_epoch=NUM_EPOCH,
        batch_end_callback=mx.callback.Speedometer(BATCH_SIZE, 25))
    print('total %.1fs' % (time.time() - start))


if __name__ == '__main__':
    main()
