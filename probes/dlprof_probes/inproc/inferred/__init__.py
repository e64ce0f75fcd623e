"""Training loops that a script wrote itself, without Keras and without marks: found by what every loop does."""
