"""Marks of public names: tensorflow.python.util.tf_export. They change nothing."""


def tf_export(*names, **options):
    """A decorator that gives back what it decorates."""
    return lambda decorated: decorated


keras_export = estimator_export = tf_export
