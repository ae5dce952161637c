"""Steps of optimizers that run at once: traced ones mean what the first one did."""

import copy

import numpy as np
import pytest
import rheos as tf
from rheos.models.traced_steps import TracedSteps

OPTIMIZERS = {
    "SGD": {"learning_rate": 0.1},
    "SGD with momentum": {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True},
    "RMSprop": {"learning_rate": 0.1, "centered": True},
    "Adam": {"learning_rate": 0.1, "amsgrad": True},
    "Adamax": {"learning_rate": 0.1},
    "Adagrad": {"learning_rate": 0.1},
    "Adadelta": {"learning_rate": 0.1},
    "Nadam": {"learning_rate": 0.1},
    "Ftrl": {"learning_rate": 0.1},
    "AdamW": {"learning_rate": 0.1, "weight_decay": 0.01, "clipnorm": 0.5},
}


def optimizer_of(label):
    return getattr(tf.keras.optimizers, label.split()[0])(**OPTIMIZERS[label])


def trained(optimizer, steps=6, change=lambda optimizer, step: None):
    v, w = tf.Variable([1.0, -2.0]), tf.Variable([[0.5]])
    for step in range(steps):
        change(optimizer, step)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(v)) * (step + 1.0) + tf.reduce_sum(w * w * w)
        optimizer.apply_gradients(zip(tape.gradient(loss, [v, w]), [v, w]))
    return [v.numpy(), w.numpy(), int(optimizer.iterations.numpy())]


def assert_same(one, other):
    for a, b in zip(one, other):
        np.testing.assert_array_equal(a, b)


@pytest.fixture
def untraced(monkeypatch):
    """Makes what a function gives if no step is traced."""

    def run(function):
        with monkeypatch.context() as patched:
            patched.setattr(TracedSteps, "run", lambda *unused: False)
            return function()

    return run


@pytest.mark.parametrize("label", OPTIMIZERS)
def test_traced_steps_have_the_bits_of_others(label, untraced):
    optimizer = optimizer_of(label)
    found = trained(optimizer)
    assert any(optimizer._traced_steps._seen.values())
    assert_same(found, untraced(lambda: trained(optimizer_of(label))))


@pytest.mark.parametrize(
    "change",
    [
        lambda optimizer, step: setattr(optimizer, "learning_rate", 0.1 / (step + 1)),
        lambda optimizer, step: setattr(optimizer, "epsilon", 10.0 ** -(step + 1)),
        lambda optimizer, step: setattr(optimizer, "clipvalue", 0.1 * (step + 1)),
        lambda optimizer, step: optimizer.beta_1.assign(0.5 + 0.05 * step),
    ],
)
def test_a_changed_optimizer_takes_other_steps(change, untraced):
    found = trained(optimizer_of("Adam"), change=change)
    assert_same(found, untraced(lambda: trained(optimizer_of("Adam"), change=change)))


def test_a_schedule_goes_on_in_traced_steps(untraced):
    def run():
        schedule = tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
        return trained(tf.keras.optimizers.SGD(schedule))

    assert_same(run(), untraced(run))


def test_a_programs_optimizer_is_called_in_each_step():
    seen = []

    class Counting(tf.keras.optimizers.SGD):
        def _update_dense(self, step, grad, var):
            seen.append(var)
            return super()._update_dense(step, grad, var)

    trained(Counting(0.1), steps=4)
    assert len(seen) == 8


def test_a_copy_has_steps_of_its_own():
    optimizer = optimizer_of("SGD")
    before = trained(optimizer)
    other = copy.deepcopy(optimizer)
    assert other._traced_steps._seen == {} and before[2] == 6
    trained(other)
    assert int(optimizer.iterations.numpy()) == 6


def test_a_variable_without_a_gradient_stays():
    optimizer, v, w = optimizer_of("Adam"), tf.Variable(1.0), tf.Variable(2.0)
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(1.0), v), (None, w)])
    assert w.numpy() == 2 and v.numpy() != 1


def test_gradients_come_in_the_form_of_the_sources():
    v, x = tf.Variable(3.0), tf.constant(2.0)

    def gradients(sources):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = v * v * x
        return tape.gradient(y, sources)

    assert gradients(v).numpy() == 12 and gradients(x).numpy() == 9
    assert [g.numpy() for g in gradients([v, x])] == [12, 9]
    assert isinstance(gradients((v, x)), tuple)
    assert gradients({"v": v})["v"].numpy() == 12
    assert gradients([v, tf.Variable(1.0)])[1] is None and gradients(tf.Variable(1.0)) is None


def test_rows_are_indexed_slices():
    table = tf.Variable(tf.ones([4, 2]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [1, 1]))
    gradient = tape.gradient(loss, [table])[0]
    assert isinstance(gradient, tf.IndexedSlices) and gradient.indices.numpy().tolist() == [1, 1]
    optimizer = tf.keras.optimizers.SGD(1.0)
    for _ in range(3):
        optimizer.apply_gradients([(gradient, table)])
    assert table.numpy().tolist() == [[1, 1], [-5, -5], [1, 1], [1, 1]]


def test_a_tape_is_used_up():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, [v])
    with pytest.raises(RuntimeError, match="non-persistent"):
        tape.gradient(y, [v])


def steps_of(optimizer, batches):
    v = tf.Variable([1.0, -2.0])
    for batch in batches:
        optimizer.apply_gradients([(tf.constant(batch), v)])
    return v.numpy()


@pytest.mark.parametrize("label", ["SGD with momentum", "Adam", "AdamW"])
def test_gathered_gradients_make_the_step_of_their_mean(label):
    kind, options = label.split()[0], OPTIMIZERS[label]
    batches = np.array([[1.0, 2.0], [3.0, -4.0], [0.5, 0.0], [1.5, 8.0]], np.float32)
    gathering = getattr(tf.keras.optimizers, kind)(gradient_accumulation_steps=2, **options)
    found = steps_of(gathering, batches)
    means = batches.reshape(2, 2, 2).mean(1)
    np.testing.assert_allclose(found, steps_of(optimizer_of(label), means), rtol=1e-6)
    assert int(gathering.iterations) == 2
    found = steps_of(gathering, batches[:1])  # which is only kept
    np.testing.assert_array_equal(found, [1.0, -2.0])
    assert gathering.get_config()["gradient_accumulation_steps"] == 2


def test_gradients_of_a_scaled_loss_are_scaled_back():
    v, optimizer = tf.Variable([1.0, -2.0]), tf.keras.optimizers.SGD(0.5, loss_scale_factor=1024.0)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = optimizer.scale_loss(tf.reduce_sum(v))
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    np.testing.assert_array_equal(v.numpy(), [-0.5, -3.5])


def test_one_step_is_nothing_to_gather():
    with pytest.raises(ValueError, match="must be an integer >= 2"):
        tf.keras.optimizers.SGD(gradient_accumulation_steps=1)
