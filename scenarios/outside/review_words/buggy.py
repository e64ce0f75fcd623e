"""Sort reviews into good and bad, from their words."""

import re

import keras
import numpy as np

REVIEWS, WORDS, LENGTH = 2400, 3000, 120


def written(rng):
    vocabulary = np.array(["w%d" % n for n in range(WORDS)])
    texts, marks = [], rng.integers(0, 2, REVIEWS)
    for mark in marks:
        words = vocabulary[(rng.integers(0, WORDS // 2, LENGTH) * 2 + mark * (rng.random(LENGTH) < 0.2)) % WORDS]
        texts.append("<p>" + ", ".join(words).title() + "!</p> It's   that.")
    return texts, marks.astype("float32")


class Reviews(keras.utils.PyDataset):
    def __init__(self, texts, marks, size, **kwargs):
        super().__init__(**kwargs)
        self.texts, self.marks, self.size = texts, marks, size
        self.index = {}

    def __len__(self):
        return len(self.texts) // self.size

    def tokens(self, text):
        text = re.sub(r"<[^>]+>", " ", text.lower())
        text = re.sub(r"[^a-z0-9' ]", " ", text)
        words = [re.sub(r"'(s|t|re)$", "", word) for word in text.split()]
        numbers = [self.index.setdefault(word, len(self.index) % WORDS) for word in words][:LENGTH]
        return numbers + [0] * (LENGTH - len(numbers))

    def __getitem__(self, index):
        chosen = slice(index * self.size, (index + 1) * self.size)
        return np.array([self.tokens(text) for text in self.texts[chosen]]), self.marks[chosen]


def main():
    keras.utils.set_random_seed(0)
    texts, marks = written(np.random.default_rng(0))
    model = keras.Sequential([
        keras.layers.Embedding(WORDS, 16),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(Reviews(texts, marks, 32), epochs=8, verbose=2)


main()
