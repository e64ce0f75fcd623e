import time
import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)

vocab_size = 5000
embedding_dim = 64
hidden_size = 64
batch_size = 64
num_reviews = 2048
max_seq_length = 200
num_epochs = 6


def load_reviews():
    rng = np.random.RandomState(42)
    reviews, sentiments = [], []
    lengths = np.clip(rng.lognormal(3.1, 0.6, num_reviews).astype(int), 4, max_seq_length)
    for n in lengths:
        y = rng.randint(2)
        words = rng.randint(2, vocab_size, size=n)
        k = max(1, n // 4)
        words[rng.choice(n, k, replace=False)] = rng.randint(2, 200, size=k) + 200 * y
        reviews.append(words)
        sentiments.append(y)
    return reviews, np.array(sentiments, dtype=np.int32)


def pad(sentence, length):
    padded = np.zeros(length, dtype=np.int32)
    padded[:len(sentence)] = sentence
    return padded


class SentimentModel(object):
    def __init__(self):
        self.seq_input = tf.placeholder(tf.int32, [None, None], name='input')
        self.seq_lengths = tf.placeholder(tf.int32, [None], name='lengths')
        self.target = tf.placeholder(tf.int32, [None], name='target')
        embedding = tf.get_variable('embedding', [vocab_size, embedding_dim])
        x = tf.nn.embedding_lookup(embedding, self.seq_input)
        cell = tf.nn.rnn_cell.LSTMCell(hidden_size)
        _, state = tf.nn.dynamic_rnn(cell, x, sequence_length=self.seq_lengths,
                                     dtype=tf.float32)
        self.logits = tf.layers.dense(state.h, 2)
        self.loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=self.target, logits=self.logits))
        params = tf.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf.gradients(self.loss, params), 5.0)
        self.update = tf.train.AdamOptimizer(0.005).apply_gradients(zip(grads, params))


def get_batches(reviews, lengths, targets, rng):
    by_length = np.argsort(lengths + rng.rand(len(lengths)), kind='stable')
    starts = np.arange(0, len(reviews) - batch_size + 1, batch_size)
    rng.shuffle(starts)
    for i in starts:
        idx = by_length[i:i + batch_size]
        longest = lengths[idx].max()
        yield np.array([pad(reviews[j], longest) for j in idx]), lengths[idx], targets[idx]


def main():
    tf.set_random_seed(0)
    reviews, targets = load_reviews()
    lengths = np.array([len(r) for r in reviews], dtype=np.int32)
    model = SentimentModel()
    rng = np.random.RandomState(0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(num_epochs):
            start, losses = time.time(), []
            for inputs, lens, labels in get_batches(reviews, lengths, targets, rng):
                step_loss, _ = sess.run([model.loss, model.update], feed_dict={
                    model.seq_input: inputs, model.seq_lengths: lens, model.target: labels})
                losses.append(step_loss)
                if len(losses) % 8 == 0:
                    print('epoch %d step %d loss %.4f' % (epoch, len(losses), np.mean(losses[-8:])))
            print('epoch %d: loss %.4f, %.1f s' % (epoch, np.mean(losses), time.time() - start))


if __name__ == '__main__':
    main()
