"""tf.contrib: random fields, optimizers, images that are turned, embeddings in TensorBoard."""

import itertools

import numpy as np
import pytest
import rheos.v1 as tf
from rheos.v1.contrib import crf, image, opt
from rheos.v1.contrib.tensorboard.plugins import projector


def all_scores(scores, transitions, length):
    """{tags: score} of every sequence of tags."""
    return {
        tags: sum(scores[i, t] for i, t in enumerate(tags))
        + sum(transitions[a, b] for a, b in itertools.pairwise(tags))
        for tags in itertools.product(range(scores.shape[1]), repeat=length)
    }


@pytest.mark.parametrize("steps", [4, 1])
def test_random_fields_are_what_counting_gives(sess, steps):
    random = np.random.RandomState(steps)
    scores = random.randn(3, steps, 3).astype(np.float32)
    tags = random.randint(0, 3, (3, steps))
    lengths = [steps, max(steps - 1, 1), 1]
    likelihood, transitions = crf.crf_log_likelihood(
        tf.constant(scores), tf.constant(tags), tf.constant(lengths)
    )
    best, best_score = crf.crf_decode(tf.constant(scores), transitions, tf.constant(lengths))
    sess.run(tf.global_variables_initializer())
    found, matrix, decoded, reached = sess.run([likelihood, transitions, best, best_score])
    assert transitions.op.name == "transitions"
    for i, length in enumerate(lengths):
        every = all_scores(scores[i], matrix, length)
        expected = every[tuple(tags[i, :length])] - np.log(np.exp(list(every.values())).sum())
        np.testing.assert_allclose(found[i], expected, rtol=1e-4)
        assert tuple(decoded[i, :length]) == max(every, key=every.get)
        assert not decoded[i, length:].any()
        np.testing.assert_allclose(reached[i], max(every.values()), rtol=1e-5)
        by_numpy, score = crf.viterbi_decode(scores[i, :length], matrix)
        assert by_numpy == list(decoded[i, :length])
        np.testing.assert_allclose(score, reached[i], rtol=1e-5)


def test_random_fields_of_no_steps_and_of_several_tags(sess):
    random = np.random.RandomState(0)
    scores = random.randn(2, 3, 2).astype(np.float32)
    transitions = tf.constant(random.randn(2, 2).astype(np.float32))
    lengths = tf.constant([0, 3])
    norm = crf.crf_log_norm(tf.constant(scores), lengths, transitions)
    score = crf.crf_sequence_score(
        tf.constant(scores), tf.zeros([2, 3], tf.int32), lengths, transitions
    )
    every = crf.crf_multitag_sequence_score(
        tf.constant(scores), tf.fill([2, 3, 2], True), lengths, transitions
    )
    norm, score, every = sess.run([norm, score, every])
    assert norm[0] == 0 and score[0] == 0
    np.testing.assert_allclose(every, norm, rtol=1e-6)


def test_random_fields_have_gradients(sess):
    scores = tf.constant(np.random.RandomState(1).randn(2, 3, 2).astype(np.float32))
    transitions = tf.constant([[0.1, -0.2], [0.3, 0.4]])
    for x, shape in ((scores, [2, 3, 2]), (transitions, [2, 2])):
        likelihood, _ = crf.crf_log_likelihood(
            scores, tf.constant([[0, 1, 1], [1, 0, 0]]), tf.constant([3, 2]), transitions
        )
        error = tf.test.compute_gradient_error(x, shape, likelihood, [2], delta=1e-2)
        assert error < 1e-3


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_random_fields_of_any_number_of_steps(steps):
    rng = np.random.RandomState(steps)
    scores = rng.randn(4, steps, 3).astype(np.float32)
    matrix = tf.constant(rng.randn(3, 3), tf.float32)
    lengths = np.minimum([5, 1, 3, 0], steps)
    tags = rng.randint(0, 3, [4, steps])

    def of(scores):
        likelihood, _ = crf.crf_log_likelihood(scores, tags, lengths, matrix)
        best, score = crf.crf_decode(scores, matrix, lengths)
        return [likelihood, tf.gradients(likelihood, [scores, matrix]), best, score]

    known = of(tf.constant(scores))
    unknown = of(tf.placeholder_with_default(scores, [None, None, 3]))
    with tf.Session() as session:
        values = session.run([known, unknown])
        for one, other in zip(*map(tf.contrib.framework.nest.flatten, values)):
            np.testing.assert_allclose(other, one, rtol=1e-5, atol=1e-5)


# What TensorFlow 1.15 gives for four steps: the sums of w and of b.
TRAINED = {
    "lazy": (lambda: opt.LazyAdamOptimizer(0.1), 1.5039, 0.7783),
    "nadam": (lambda: opt.NadamOptimizer(0.1), 1.8067, 1.0215),
    "adamax": (lambda: opt.AdaMaxOptimizer(0.1), 1.3000, 0.6929),
}


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("name", sorted(TRAINED))
def test_optimizers_train_rows_and_all(sess, name, use_resource):
    make, sum_w, sum_b = TRAINED[name]
    first = np.linspace(-1, 1, 12).reshape(6, 2).astype(np.float32)
    w = tf.get_variable("w", initializer=tf.constant(first), use_resource=use_resource)
    b = tf.get_variable("b", initializer=[0.5, -0.5], use_resource=use_resource)
    rows = tf.nn.embedding_lookup(w, [0, 2, 2, 5])
    train = make().minimize(tf.reduce_sum(tf.square(rows + b - 1.0)))
    sess.run(tf.global_variables_initializer())
    for _ in range(4):
        sess.run(train)
    w, b = sess.run([w, b])
    np.testing.assert_allclose(w[[1, 3, 4]], first[[1, 3, 4]])
    np.testing.assert_allclose([w.sum(), b.sum()], [sum_w, sum_b], atol=1e-3)


@pytest.mark.parametrize("use_resource", [False, True])
def test_weights_decay_apart_from_the_gradient(sess, use_resource):
    a = tf.get_variable("a", initializer=2.0, use_resource=use_resource)
    b = tf.get_variable("b", initializer=2.0, use_resource=use_resource)
    optimizer = opt.MomentumWOptimizer(0.5, learning_rate=0.1, momentum=0.0)
    pairs = [(tf.constant(1.0), a), (tf.constant(1.0), b)]
    only_a = optimizer.apply_gradients(pairs, decay_var_list=[a])
    sess.run(tf.global_variables_initializer())
    sess.run(only_a)
    np.testing.assert_allclose(sess.run([a, b]), [0.9, 1.9], rtol=1e-6)
    sess.run(optimizer.apply_gradients(pairs))
    np.testing.assert_allclose(sess.run([a, b]), [0.35, 0.85], rtol=1e-6)
    kind = opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    table = tf.get_variable("t", initializer=[[4.0], [8.0]], use_resource=use_resource)
    rows = kind(0.5, 0.25).minimize(tf.reduce_sum(tf.gather(table, [1])), var_list=[table])
    sess.run(table.initializer)
    sess.run(rows)
    assert sess.run(table).tolist() == [[4.0], [3.75]]


def test_averages_are_saved_for_variables(sess, tmp_path):
    v = tf.get_variable("v", initializer=4.0)
    optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 0.5)
    with pytest.raises(RuntimeError, match="Must call"):
        optimizer.swapping_saver()
    train = optimizer.minimize(v)
    saver = optimizer.swapping_saver()
    sess.run(tf.global_variables_initializer())
    sess.run(train)
    assert sess.run(v) == 3.0
    path = saver.save(sess, str(tmp_path / "m"))
    assert tf.train.load_variable(path, "v") == 3.5
    assert tf.train.load_variable(path, "v/ExponentialMovingAverage") == 3.0


def test_images_are_turned_and_moved(sess):
    x = tf.reshape(tf.range(9.0), [3, 3])
    turned, moved, twice = sess.run(
        [
            image.rotate(x, np.pi / 2),
            image.translate(x, [1.0, 0.0]),
            image.compose_transforms([1.0, 0, 1, 0, 1, 0, 0, 0], [1.0, 0, 0, 0, 1, 2, 0, 0]),
        ]
    )
    assert turned.tolist() == [[2.0, 5.0, 8.0], [1.0, 4.0, 7.0], [0.0, 3.0, 6.0]]
    assert moved.tolist() == [[0.0, 0.0, 1.0], [0.0, 3.0, 4.0], [0.0, 6.0, 7.0]]
    assert twice.tolist() == [[1.0, 0, 1, 0, 1, 2, 0, 0]]
    same = [1.0] + [0.0] * 7
    assert image.transform(tf.zeros([2, 5, 6, 3]), same, output_shape=[4, 2]).shape == (2, 4, 2, 3)
    with pytest.raises(TypeError, match="rank between 2 and 4"):
        image.rotate(tf.zeros([3]), 0.0)
    with pytest.raises(TypeError, match="rank 0 or 1"):
        image.rotate(x, [[0.0]])


def test_embeddings_are_described_for_tensorboard(tmp_path):
    config = projector.ProjectorConfig()
    embedding = config.embeddings.add()
    embedding.tensor_name = "words:0"
    embedding.sprite.single_image_dim.extend([28, 28])
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        projector.visualize_embeddings(writer, config)
    text = (tmp_path / "projector_config.pbtxt").read_text()
    assert 'tensor_name: "words:0"' in text and text.count("single_image_dim: 28") == 2


def test_outputs_of_layers_are_found_by_name():
    slim = tf.contrib.slim
    with slim.arg_scope([slim.conv2d, slim.fully_connected], outputs_collections="ends"):
        net = slim.conv2d(tf.ones([1, 4, 4, 2]), 3, [3, 3], scope="conv")
        logits = slim.fully_connected(slim.flatten(net), 2, scope="logits")
    slim.utils.collect_named_outputs("ends", "mine", tf.constant(1.0))
    ends = slim.utils.convert_collection_to_dict("ends", clear_collection=True)
    assert list(ends) == ["conv", "logits", "mine"] and ends["logits"] is logits
    assert tf.get_collection("ends") == []
    assert slim.utils.get_tensor_aliases(tf.constant(1.0, name="c")) == ["c"]
    assert slim.utils.channel_dimension(net.shape, "NCHW") == 4
    assert slim.utils.n_positive_integers(2, 3) == (3, 3)
    with pytest.raises(ValueError, match="sequence of 2"):
        slim.utils.n_positive_integers(2, [1, 2, 3])
    assert slim.utils.two_element_tuple(tf.TensorShape([2, 3])) == (2, 3)


def test_queue_runners_run_within_their_context():
    slim = tf.contrib.slim
    number = tf.train.range_input_producer(3, shuffle=False, num_epochs=1).dequeue()
    queue = slim.prefetch_queue.prefetch_queue([number])
    taken = queue.dequeue()
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with slim.queues.QueueRunners(session):
            assert [session.run(taken) for _ in range(3)] == [0, 1, 2]
            with pytest.raises(slim.queues.NestedQueueRunnerError):
                with slim.queues.QueueRunners(session):
                    pass


def test_items_of_datasets_are_checked():
    slim = tf.contrib.slim
    provider = slim.data_provider.DataProvider({"x": tf.constant(1)}, 3)
    assert provider.num_samples() == 3 and list(provider.list_items()) == ["x"]
    with pytest.raises(ValueError, match=r"Item \[y\] is invalid"):
        provider.get(["y"])
    with pytest.raises(ValueError, match="must be a list"):
        provider.get("x")
    with pytest.raises(ValueError, match="No data files"):
        slim.parallel_reader.get_data_files("/nothing/like/*")
    with pytest.raises(ValueError, match="4 keys"):
        slim.tfexample_decoder.BoundingBox(["a"])
