"""TF-Slim: layers, default arguments in scopes, losses and variables in one module."""

from rheos.contrib import model_analyzer, tfexample_decoder
from rheos.v1._names import fill as _fill
from rheos.v1.contrib import _layers_utils as utils, losses, metrics

_fill(__name__)
