"""What saved models and checkpoints can be told."""


def _options(name, doc, **defaults):
    """A class of options whose fields have these defaults."""

    def __init__(self, *values, **named):
        if len(values) > len(defaults):
            raise TypeError(f"{name} takes {len(defaults)} arguments, got {len(values)}")
        given = dict(zip(defaults, values))
        for key in named:
            if key not in defaults or key in given:
                raise TypeError(f"{name} got an unexpected argument {key!r}")
        for key, default in defaults.items():
            setattr(self, key, {**given, **named}.get(key, default))

    fields = {"__init__": __init__, "__doc__": doc, "__module__": __name__}
    return type(name, (), {**dict.fromkeys(defaults), **fields})


SaveOptions = _options(
    "SaveOptions",
    "Options of saved_model.save(): extra_tags and function_aliases; the others choose nothing.",
    namespace_whitelist=None,
    save_debug_info=False,
    function_aliases=None,
    experimental_debug_stripper=False,
    experimental_io_device=None,
    experimental_variable_policy=None,
    experimental_custom_gradients=True,
    experimental_image_format=False,
    experimental_skip_saver=False,
    experimental_sharding_callback=None,
    extra_tags=None,
)
LoadOptions = _options(
    "LoadOptions",
    "Options of saved_model.load(): experimental_load_function_aliases; the others choose nothing.",
    allow_partial_checkpoint=False,
    experimental_io_device=None,
    experimental_skip_checkpoint=False,
    experimental_variable_policy=None,
    experimental_load_function_aliases=False,
)
CheckpointOptions = _options(
    "CheckpointOptions",
    "Options of checkpoints; they choose nothing.",
    experimental_io_device=None,
    experimental_enable_async_checkpoint=False,
    experimental_write_callbacks=None,
    enable_async=False,
    experimental_skip_slot_variables=False,
    experimental_sharding_callback=None,
)

DEBUG_DIRECTORY = "debug"
DEBUG_INFO_FILENAME_PB = "saved_model_debug_info.pb"
