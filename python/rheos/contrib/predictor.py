"""A saved model as a function of arrays: tf.contrib.predictor."""

from rheos.framework.graph import Graph
from rheos.training import saved_model
from rheos.training.session import Session

_DEFAULT_TAGS = "serve"


def _tensors_of(signature):
    """({name: name of a tensor} of the inputs, of the outputs) of a SignatureDef."""
    return (
        {key: info.name for key, info in signature.inputs.items()},
        {key: info.name for key, info in signature.outputs.items()},
    )


class SavedModelPredictor:
    """Calls a signature of a saved model: of a dict of arrays to a dict of arrays.

    The signature is the one of `signature_def_key` (by default "serving_default"), `signature_def`,
    a message, or the tensors of `input_names` and `output_names`, {name: name of a tensor}.
    tags: of the graph, joined by commas. ValueError for several of these and for unknown inputs.
    """

    def __init__(
        self,
        export_dir,
        signature_def_key=None,
        signature_def=None,
        input_names=None,
        output_names=None,
        tags=None,
        graph=None,
        config=None,
    ):
        given = [signature_def_key is not None, signature_def is not None, input_names is not None]
        if sum(given) > 1:
            raise ValueError(
                "You must specify at most one of signature_def_key OR signature_def OR"
                "(input_names AND output_names)."
            )
        if (input_names is None) != (output_names is None):
            raise ValueError("input_names and output_names must both be specified or both None.")
        self._graph = graph or Graph()
        with self._graph.as_default():
            self._session = Session(graph=self._graph, config=config)
            loaded = saved_model.load(self._session, (tags or _DEFAULT_TAGS).split(","), export_dir)
        if input_names is None:
            if signature_def is None:
                signature_def = self._signature(loaded, signature_def_key, export_dir)
            input_names, output_names = _tensors_of(signature_def)
        element = self._graph.as_graph_element
        self._feed_tensors = {key: element(name) for key, name in input_names.items()}
        self._fetch_tensors = {key: element(name) for key, name in output_names.items()}

    @staticmethod
    def _signature(loaded, key, export_dir):
        key = key or saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        if key not in loaded.signature_def:
            raise ValueError(
                f"Got signature_def_key {key!r}. Available signatures are "
                f"{sorted(loaded.signature_def)}. Saved model: {export_dir}"
            )
        return loaded.signature_def[key]

    @property
    def graph(self):
        """The graph of the model."""
        return self._graph

    @property
    def session(self):
        """The session that runs it."""
        return self._session

    @property
    def feed_tensors(self):
        """{name: tensor} of the inputs."""
        return self._feed_tensors

    @property
    def fetch_tensors(self):
        """{name: tensor} of the outputs."""
        return self._fetch_tensors

    def __call__(self, input_dict):
        """The outputs for these inputs. ValueError for a name that is none of an input."""
        unknown = set(input_dict) - set(self._feed_tensors)
        if unknown:
            raise ValueError(
                f"Got unexpected keys in input_dict: {unknown}\nexpected: {set(self._feed_tensors)}"
            )
        feed = {self._feed_tensors[key]: value for key, value in input_dict.items()}
        return self._session.run(self._fetch_tensors, feed_dict=feed)

    def __repr__(self):
        return (
            f"SavedModelPredictor with feed tensors {self._feed_tensors} and fetch_tensors "
            f"{self._fetch_tensors}"
        )


from_saved_model = SavedModelPredictor
