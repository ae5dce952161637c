"""What is beside the conversion: options of loops, functions that are called as they are."""

from rheos.autograph.api import Feature, do_not_convert, set_loop_options
from rheos.framework.absent import attribute_of as _attribute_of

__all__ = ["Feature", "do_not_convert", "set_loop_options"]
__getattr__ = _attribute_of("tensorflow.autograph.experimental")
