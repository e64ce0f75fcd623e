"""A tokenizer: text made, split and counted, line by line of Python."""

import random
import sys

random.seed(1)
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def make_text(words):
    out = []
    for _ in range(words):
        n = random.randint(1, 9)
        out.append("".join(random.choice(LETTERS) for _ in range(n)))
    return " ".join(out)


def tokens(text):
    found = []
    word = []
    for c in text:
        if c.isalpha():
            word.append(c)
        elif word:
            found.append("".join(word))
            word = []
    if word:
        found.append("".join(word))
    return found


def pairs(words, vocabulary):
    counts = {}
    for w in words:
        vocabulary.setdefault(w, len(vocabulary))
        for i in range(1, len(w)):
            key = w[i - 1 : i + 1]
            counts[key] = counts.get(key, 0) + 1
    return counts


def main(rounds):
    vocabulary = {}
    total = 0
    for _ in range(rounds):
        text = make_text(3000)
        words = tokens(text)
        counts = pairs(words, vocabulary)
        best = sorted(counts.items(), key=lambda kv: -kv[1])[:10]
        total += len(best) + len(words)
    return total, len(vocabulary)


print(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
