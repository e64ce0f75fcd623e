import time
import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)

NUM_SAMPLES = 4096
IMAGE_SIZE = 28
NUM_CLASSES = 10
BATCH_SIZE = 32
NUM_EPOCHS = 2


def make_images():
    rng = np.random.RandomState(0)
    labels = rng.randint(0, NUM_CLASSES, size=NUM_SAMPLES).astype(np.int64)
    images = rng.rand(NUM_SAMPLES, IMAGE_SIZE, IMAGE_SIZE, 1).astype(np.float32)
    for i, lab in enumerate(labels):
        images[i, lab:lab + 4, :, 0] += 0.5
    return images, labels


def input_pipeline(image_table, label_table):
    indices = tf.train.range_input_producer(NUM_SAMPLES, num_epochs=None,
                                            shuffle=True, seed=1, capacity=512)
    idx = indices.dequeue_many(BATCH_SIZE)
    seen = tf.get_variable('seen', [1], tf.int64, tf.zeros_initializer(), trainable=False)
    count = tf.assign_add(seen, [BATCH_SIZE])
    epoch = count // NUM_SAMPLES
    return epoch, tf.gather(label_table, idx), tf.gather(image_table, idx)


def convnet(x):
    with tf.variable_scope('net'):
        h = tf.layers.conv2d(x, 8, 5, activation=tf.nn.relu, name='conv1')
        h = tf.layers.max_pooling2d(h, 2, 2)
        h = tf.layers.conv2d(h, 16, 5, activation=tf.nn.relu, name='conv2')
        h = tf.layers.max_pooling2d(h, 2, 2)
        h = tf.layers.flatten(h)
        h = tf.layers.dense(h, 64, activation=tf.nn.relu, name='fc1')
        return tf.layers.dense(h, NUM_CLASSES, name='logits')


def main():
    tf.set_random_seed(1)
    images, labels = make_images()
    image_init = tf.placeholder(tf.float32, images.shape)
    label_init = tf.placeholder(tf.int64, labels.shape)
    image_table = tf.Variable(image_init, trainable=False, name='images')
    label_table = tf.Variable(label_init, trainable=False, name='labels')
    epoch, label_batch, image_batch = input_pipeline(image_table, label_table)
    logits = convnet(image_batch)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=label_batch, logits=logits))
    train_step = tf.train.AdamOptimizer(1e-3).minimize(loss)

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer(),
                 feed_dict={image_init: images, label_init: labels})
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=sess, coord=coord)
        step = 0
        cur_epoch = 0
        start = time.time()
        while cur_epoch < NUM_EPOCHS:
            cur_epoch, loss_val, _ = sess.run([epoch[0], loss, train_step])
            step += 1
            if step % 64 == 0:
                print('epoch %d step %d loss %.4f (%.1f examples/s)' % (
                    cur_epoch, step, loss_val, 64 * BATCH_SIZE / (time.time() - start)))
                start = time.time()
        coord.request_stop()
        coord.join(threads)


if __name__ == '__main__':
    main()
