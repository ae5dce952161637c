"""Summaries: operations whose value is what TensorBoard shows, for a FileWriter."""

import contextlib
import re

from rheos.framework import dtypes, messages
from rheos.framework.conversion import convert_to_tensor
from rheos.framework.defaults import get_default_graph
from rheos.framework.graph import name_scope
from rheos.framework.logging import python_logger
from rheos.framework.op_call import op1
from rheos.ops.array.constant_op import make_tensor_proto
from rheos.ops.state.graph_keys import GraphKeys


def clean_tag(name):
    """A tag without the characters that names of operations cannot have."""
    if name is None:
        return None
    clean = re.sub(r"[^-/\w\.]", "_", name).lstrip("/")
    if clean != name:
        python_logger().info("Summary name %s is illegal; using %s instead.", name, clean)
    return clean


@contextlib.contextmanager
def _summary_scope(name, family=None, default_name=None, values=None):
    """The tag of a summary, unique as its scope is, and the name for its operation."""
    name, family = clean_tag(name), clean_tag(family)
    base = name if family is None else f"{family}/{name}"
    with name_scope(base, default_name, values) as scope:
        tag = scope.rstrip("/")
        yield tag if family is None else f"{family}/{tag}", scope


def _collect(value, collections, default):
    graph = get_default_graph()
    for key in default if collections is None else collections:
        graph.add_to_collection(key, value)
    return value


def raw(op_type, collections, name, *inputs, **attrs):
    """A summary whose tags are among the inputs, taken as they are."""
    value = op1(op_type, name or op_type.removesuffix("V2"), *inputs, **attrs)
    return _collect(value, collections, [GraphKeys.SUMMARIES])


def get_summary_description(node_def):
    """The SummaryDescription in the NodeDef of a TensorSummary."""
    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    text = node_def.attr["description"].s.decode()
    return messages.from_json(text, messages.SummaryDescription())


def scalar(name, tensor, collections=None, family=None):
    """A number. Returns a string tensor, which is added to `collections` (SUMMARIES).

    >>> text = tf.summary.scalar("loss", 0.5)
    >>> with tf.Session() as session:
    ...     print(tf.Summary.FromString(session.run(text)).value[0].simple_value)
    0.5
    """
    with _summary_scope(name, family, values=[tensor]) as (tag, scope):
        value = op1("ScalarSummary", scope, tag, tensor)
    return _collect(value, collections, [GraphKeys.SUMMARIES])


def histogram(name, values, collections=None, family=None):
    """How the values of a tensor are distributed."""
    with _summary_scope(name, family, "HistogramSummary", [values]) as (tag, scope):
        value = op1("HistogramSummary", scope, tag, values)
    return _collect(value, collections, [GraphKeys.SUMMARIES])


def image(name, tensor, max_outputs=3, collections=None, family=None):
    """Up to max_outputs images of [batch, height, width, channels 1, 3 or 4]."""
    return image_with_bad_color(name, tensor, max_outputs, collections, family, None)


def image_with_bad_color(name, tensor, max_outputs, collections, family, bad_color):
    """Like image(); bad_color: four uint8 for pixels that are no finite numbers, None: red."""
    attrs = {} if bad_color is None else {"bad_color": make_tensor_proto(bad_color, dtypes.uint8)}
    with _summary_scope(name, family, values=[tensor]) as (tag, scope):
        value = op1("ImageSummary", scope, tag, tensor, max_images=max_outputs, **attrs)
    return _collect(value, collections, [GraphKeys.SUMMARIES])


def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None):
    """Up to max_outputs pieces of sound of [batch, frames, channels], each between -1 and 1."""
    with _summary_scope(name, family, values=[tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        value = op1("AudioSummaryV2", scope, tag, tensor, rate, max_outputs=max_outputs)
    return _collect(value, collections, [GraphKeys.SUMMARIES])


# A SummaryMetadata whose plugin_data names the plugin "text".
_TEXT_METADATA = b"\x0a\x06\x0a\x04text"


def _metadata_bytes(metadata, display_name, description):
    """A serialized SummaryMetadata; fields that are given replace those of `metadata`."""
    data = b"" if metadata is None else metadata
    if not isinstance(data, bytes):
        data = data.SerializeToString()
    for key, text in ((b"\x12", display_name), (b"\x1a", description)):
        if text is not None:
            text = text.encode()
            data += key + varint(len(text)) + text
    return data


def varint(number):
    """A number as protobuf writes it."""
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def tensor_summary(
    name,
    tensor,
    summary_description=None,
    collections=None,
    summary_metadata=None,
    family=None,
    display_name=None,
):
    """A tensor of any dtype. summary_metadata: a SummaryMetadata message or its bytes."""
    metadata = _metadata_bytes(summary_metadata, display_name, summary_description)
    with _summary_scope(name, family, values=[tensor]) as (tag, scope):
        value = op1("TensorSummaryV2", scope, tag, tensor, metadata)
    return _collect(value, collections, [GraphKeys.SUMMARIES])


def timestamp(name=None):
    """Seconds since 1970 when it runs, float64."""
    return op1("Timestamp", name)


def text(name, tensor, collections=None):
    """Strings, which are shown as Markdown."""
    if tensor.dtype != dtypes.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    return tensor_summary(name, tensor, collections=collections, summary_metadata=_TEXT_METADATA)


def merge(inputs, collections=None, name=None):
    """One summary of several, whose tags differ."""
    name = clean_tag(name)
    with name_scope(name, "Merge", inputs):
        value = op1("MergeSummary", name, list(inputs))
    return _collect(value, collections, [])


def merge_all(key=GraphKeys.SUMMARIES, scope=None, name=None):
    """One summary of all that are in a collection; None if there are none."""
    summaries = get_default_graph().get_collection(key, scope)
    return merge(summaries, name=name) if summaries else None
