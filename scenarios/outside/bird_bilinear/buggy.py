import time
import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)

NUM_CLASSES = 20
BATCH_SIZE = 16
EPOCHS = 3


class BilinearCNN(object):
    def __init__(self, imgs, num_classes):
        self.imgs = imgs
        self.num_classes = num_classes
        self.conv_layers()
        self.bilinear_layer()

    def conv(self, x, filters, name):
        return tf.layers.conv2d(x, filters, 3, padding='same', activation=tf.nn.relu, name=name)

    def conv_layers(self):
        x = self.imgs - tf.constant([0.48, 0.45, 0.4], shape=[1, 1, 1, 3], name='img_mean')
        x = self.conv(x, 16, 'conv1_1')
        x = tf.layers.max_pooling2d(x, 2, 2)
        x = self.conv(x, 32, 'conv2_1')
        x = tf.layers.max_pooling2d(x, 2, 2)
        x = self.conv(x, 64, 'conv3_1')
        self.conv3 = self.conv(x, 64, 'conv3_2')

    def bilinear_layer(self):
        n = self.conv3.shape[1].value * self.conv3.shape[2].value
        c = self.conv3.shape[3].value
        feat = tf.reshape(self.conv3, [-1, n, c])
        phi = tf.matmul(feat, feat, transpose_a=True) / n
        phi = tf.reshape(phi, [-1, c * c])
        y_sqrt = tf.sign(phi) * tf.sqrt(tf.abs(phi) + 1e-12)
        z = tf.nn.l2_normalize(y_sqrt, axis=1)
        self.logits = tf.layers.dense(z, self.num_classes, name='fc_new')


def make_birds(n, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, NUM_CLASSES, n)
    proto = np.random.RandomState(7).rand(NUM_CLASSES, 8, 8, 3)
    images = np.kron(proto[labels], np.ones((1, 8, 8, 1))) + 0.3 * rng.randn(n, 64, 64, 3)
    return images.astype(np.float32), np.eye(NUM_CLASSES, dtype=np.float32)[labels]


def main():
    tf.set_random_seed(3)
    X_train, Y_train = make_birds(560, 0)
    X_val, Y_val = make_birds(96, 1)

    imgs = tf.placeholder(tf.float32, [None, 64, 64, 3])
    target = tf.placeholder(tf.float32, [None, NUM_CLASSES])
    net = BilinearCNN(imgs, NUM_CLASSES)

    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(
        logits=net.logits, labels=target))
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    check_op = tf.add_check_numerics_ops()
    correct = tf.equal(tf.argmax(net.logits, 1), tf.argmax(target, 1))
    num_correct = tf.reduce_sum(tf.cast(correct, tf.float32))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        order = np.random.RandomState(5)
        for epoch in range(EPOCHS):
            perm = order.permutation(len(X_train))
            start = time.time()
            for i in range(len(X_train) // BATCH_SIZE):
                idx = perm[i * BATCH_SIZE:(i + 1) * BATCH_SIZE]
                batch_xs, batch_ys = X_train[idx], Y_train[idx]
                sess.run([optimizer, check_op], feed_dict={imgs: batch_xs, target: batch_ys})
                cost = sess.run(loss, feed_dict={imgs: batch_xs, target: batch_ys})
                acc = sess.run(accuracy, feed_dict={imgs: batch_xs, target: batch_ys})
                if i % 20 == 0:
                    print('Epoch %d batch %d loss %.4f accuracy %.3f' % (epoch, i, cost, acc))
            val = 0.0
            for i in range(0, len(X_val), BATCH_SIZE):
                val += sess.run(num_correct, feed_dict={imgs: X_val[i:i + BATCH_SIZE],
                                                        target: Y_val[i:i + BATCH_SIZE]})
            print('Epoch %d took %.1fs, validation accuracy %.3f' % (
                epoch, time.time() - start, val / len(X_val)))


if __name__ == '__main__':
    main()
