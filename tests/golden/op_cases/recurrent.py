"""LSTM and GRU cells, a step or a sequence."""
from .common import *  # noqa: F403

INPUTS, CELLS = 3, 2


def part(dtype, shape, phase):
    return wave(dtype, shape, scale=0.8, phase=phase)


def weights(dtype, inputs=INPUTS, cells=CELLS):
    return [part(dtype, (inputs + cells, 4 * cells), 1),
            *[part(dtype, (cells,), 2 + k) for k in range(3)], part(dtype, (4 * cells,), 6)]


def gates(dtype, shape, count):
    """Kept values of a forward step: between 0 and 1."""
    return [np.abs(part(dtype, shape, 7 + k)) for k in range(count)]


def lstm(t):
    x, state = part(F32, (2, INPUTS), 0), [part(F32, (2, CELLS), k) for k in (4, 5)]
    x16, state16 = x.astype(F16), [s.astype(F16) for s in state]
    cell, grad = "LSTMBlockCell", "LSTMBlockCellGrad"
    back = gates(F32, (2, CELLS), 6) + [part(F32, (2, CELLS), 14), part(F32, (2, CELLS), 15)]
    for tag, attrs in (("plain", {}), ("peephole", dict(use_peephole=True)),
                       ("clip", dict(cell_clip=0.25, use_peephole=True)),
                       ("no_bias", dict(forget_bias=0, cell_clip=-1))):
        t.add(cell, tag, x, *state, *weights(F32), tol=10, **attrs)
    t.add(cell, "half", x16, *state16, *weights(F16), tol=5)
    for peephole in (False, True):
        tag = "peephole" if peephole else "plain"
        t.add(grad, tag, x, *state, *weights(F32), *back, use_peephole=peephole, tol=10)
        t.add(grad, "one_" + tag, x[:1], *[s[:1] for s in state], *weights(F32),
              *[k[:1] for k in back], use_peephole=peephole, tol=10)
    t.add(grad, "half", x16, *state16, *weights(F16), *[k.astype(F16) for k in back],
          use_peephole=True, tol=5)
    t.add(cell, "bad_batch", x[:1], *state, *weights(F32))
    t.add(cell, "bad_weights", x, *state, *weights(F32, 4))
    t.add(grad, "bad_batch", x[:1], *state, *weights(F32), *back, use_peephole=True)


def sequences(t):
    x, state = part(F32, (3, 2, INPUTS), 0), [part(F32, (2, CELLS), k) for k in (4, 5)]
    kept = gates(F32, (3, 2, CELLS), 7) + [part(F32, (3, 2, CELLS), k) for k in (14, 15)]
    for v2 in ("", "V2"):
        op, grad = "BlockLSTM" + v2, "BlockLSTMGrad" + v2
        bias = {} if v2 else dict(forget_bias=0.5)
        t.add(op, "plain", l(3), x, *state, *weights(F32), tol=10)
        t.add(op, "peephole", l(3), x, *state, *weights(F32), use_peephole=True, tol=10, **bias)
        t.add(op, "clip", l(3), x, *state, *weights(F32), cell_clip=0.25, tol=10)
        t.add(op, "one", l(1), x[:1, :1], state[0][:1], state[1][:1], *weights(F32), tol=10)
        t.add(op, "half", l(3), x.astype(F16), *[s.astype(F16) for s in state], *weights(F16),
              tol=5)
        for peephole in (False, True):
            tag = "peephole" if peephole else "plain"
            t.add(grad, tag, l(3), x, *state, *weights(F32), *kept, use_peephole=peephole, tol=20)
            t.add(grad, "one_" + tag, l(1), x[:1, :1], state[0][:1], state[1][:1], *weights(F32),
                  *[k[:1, :1] for k in kept], use_peephole=peephole, tol=20)
        t.add(grad, "short", l(2), x, *state, *weights(F32), *kept, use_peephole=True, tol=20)
        t.add(op, "bad_batch", l(3), x[:, :1], *state, *weights(F32))
        t.add(op, "bad_weights", l(3), x, *state, *weights(F32, 4))


def gru(t):
    x, h = part(F32, (2, INPUTS), 0), part(F32, (2, CELLS), 4)
    rows = INPUTS + CELLS
    w = [part(F32, (rows, 2 * CELLS), 1), part(F32, (rows, CELLS), 2),
         part(F32, (2 * CELLS,), 3), part(F32, (CELLS,), 5)]
    back = gates(F32, (2, CELLS), 3) + [part(F32, (2, CELLS), 14)]
    cell, grad = "GRUBlockCell", "GRUBlockCellGrad"
    for tag, count, scale in (("two", 2, 1), ("one", 1, 1), ("large", 2, 30), ("zero", 2, 0)):
        scale = F32(scale)
        t.add(cell, tag, x[:count] * scale, h[:count], *w, tol=10)
        t.add(grad, tag, x[:count] * scale, h[:count], *w, *[k[:count] for k in back], tol=10)
    t.add(cell, "no_batch", x[:0], h[:0], *w)
    t.add(grad, "no_batch", x[:0], h[:0], *w, *[k[:0] for k in back])
    for tag, x_, h_, w_ in (("batch", x[:1], h, w), ("weights", x, h, [w[1], *w[1:]])):
        t.add(cell, "bad_" + tag, x_, h_, *w_)
        t.add(grad, "bad_" + tag, x_, h_, *w_, *back)


def cases():
    t = Table()
    lstm(t)
    sequences(t)
    gru(t)
    return t.cases
