"""A training on Abacus, as its user wrote it."""

import abacus

trainer = abacus.Trainer([abacus.Layer("first"), abacus.Layer("second")], audit=True)
batches = [[float(row) for row in range(8)] for _ in range(30)] + [[1.0, 2.0]]
print("weights", *[round(weight, 6) for weight in trainer.fit(batches, epochs=3)])
