"""The LSTM on film reviews of `scenarios/lstm.py` in CNTK, without Keras."""

import cntk
import common
import training_cntk as training


def lstm(rows, kernel, recurrent, bias, units):
    """The last output of an LSTM over a sequence."""

    @cntk.Function
    def cell(hidden, memory, inputs):
        gates = inputs + cntk.times(hidden, recurrent)
        ingate, forget, new, out = (cntk.slice(gates, -1, i * units, (i + 1) * units) for i in range(4))
        memory = cntk.sigmoid(forget) * memory + cntk.sigmoid(ingate) * cntk.tanh(new)
        return cntk.sigmoid(out) * cntk.tanh(memory), memory

    inputs = cntk.times(rows, kernel) + bias
    return cntk.sequence.last(cntk.layers.Recurrence(cell)(inputs), name="lstm_1")


def fed(tokens):
    """Reviews as sequences of single numbers."""
    return tokens[..., None].astype("float32")


def main():
    workload = common.lstm()
    args = workload.args
    with common.mark.phase("construct"):
        rows, weights = cntk.sequence.input_variable(1), training.parameters(workload.weights)
        embedding, kernel, recurrent, bias, dense, dense_bias = weights
        found = cntk.reshape(cntk.gather(embedding, rows), args.embedding, name="embedding_1")
        last = lstm(found, kernel, recurrent, bias, args.units)
        logits = training.dense("dense_1", last, dense, dense_bias)
        functions = training.steps(logits, rows, 2, training.adam(weights), fed)
    common.mark.model(logits, "optimizer")
    common.run(workload, *functions)


if __name__ == "__main__":
    main()
