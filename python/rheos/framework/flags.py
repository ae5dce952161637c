"""Command-line flags, in the manner of absl.flags."""

import sys as _sys


class Error(Exception):
    """A flag that does not exist, or a value that does not fit."""


class IllegalFlagValueError(Error):
    """A value that a flag cannot take."""


class UnrecognizedFlagError(Error):
    """A flag that no one defined."""


class UnparsedFlagAccessError(Error):
    """A flag was read before the command line was parsed."""


class DuplicateFlagError(Error):
    """A flag was defined twice."""


class ValidationError(Error):
    """A value that a validator refuses, or a required flag without a value."""


class FlagHolder:
    """What defining a flag gives: reads its value."""

    def __init__(self, flag_values, name):
        self._flag_values = flag_values
        self._name = name

    @property
    def name(self):
        """The flag's name."""
        return self._name

    @property
    def value(self):
        """The flag's value; parses the command line if that was not done."""
        return getattr(self._flag_values, self._name)

    @property
    def default(self):
        """The value without a command line."""
        return self._flag_values[self._name].default

    @property
    def present(self):
        """How often the command line has the flag."""
        return self._flag_values[self._name].present


class Flag:
    """One flag: its name, value, default and help text."""

    def __init__(self, name, default, help_text, parse, boolean=False):
        self.name = name
        self.default = default
        self.value = default
        self.help = help_text
        self.boolean = boolean
        self.present = 0
        self._parse = parse

    def parse(self, text):
        """Takes the value from a text; IllegalFlagValueError if it does not fit."""
        try:
            self.value = self._parse(text)
        except (TypeError, ValueError) as error:
            raise IllegalFlagValueError(f"flag --{self.name}={text}: {error}") from None
        self.present += 1


class MultiFlag(Flag):
    """A flag that is given any number of times; its value is the list of what was given."""

    def __init__(self, name, default, help_text, parse):
        if default is not None:
            values = default if isinstance(default, (list, tuple)) else [default]
            default = [parse(value) for value in values]
        super().__init__(name, default, help_text, parse)

    def parse(self, text):
        """Adds the value of a text to the list; IllegalFlagValueError if it does not fit."""
        before = self.value if self.present else []
        super().parse(text)
        self.value = [*before, self.value]


class FlagValues:
    """The flags of a program, read as attributes. Parsed on first use if not before."""

    def __init__(self):
        object.__setattr__(self, "_flags", {})
        object.__setattr__(self, "_parsed", False)
        object.__setattr__(self, "_short", {})
        object.__setattr__(self, "_checks", [])

    @property
    def __flags(self):
        return self._flags

    def _define(self, flag, short_name=None, required=False, **others):
        """Adds a flag; gives its FlagHolder. others: what absl takes and nothing here needs."""
        known = self._flags.get(flag.name)
        if known is not None and known.default != flag.default and known.present:
            raise DuplicateFlagError(f"The flag '{flag.name}' is defined twice.")
        self._flags[flag.name] = flag
        if short_name is not None:
            self._short[short_name] = flag.name
        if required:
            mark_flag_as_required(flag.name, self)
        return FlagHolder(self, flag.name)

    def _check(self):
        """ValidationError for the first validator that refuses the values."""
        for check in self._checks:
            check(self)

    def __call__(self, argv, known_only=False):
        """Parses arguments; returns those that are no flags, the program's name first.

        known_only: whether unknown flags are among those. Error for what does not fit.
        """
        rest = list(argv[:1])
        arguments = list(argv[1:])
        object.__setattr__(self, "_parsed", True)
        while arguments:
            argument = arguments.pop(0)
            if argument == "--":
                rest += arguments
                break
            if not argument.startswith("-") or argument == "-":
                rest.append(argument)
                continue
            name, equals, value = argument.lstrip("-").partition("=")
            name = self._short.get(name, name)
            flag = self._flags.get(name)
            if flag is None and name.startswith("no") and not equals:
                negated = self._flags.get(name[2:])
                if negated is not None and negated.boolean:
                    negated.parse("false")
                    continue
            if flag is None:
                if name in ("help", "helpfull", "h"):
                    self._print_help()
                    raise SystemExit(1)
                if known_only:
                    rest.append(argument)
                    continue
                raise UnrecognizedFlagError(f"Unknown command line flag '{name}'")
            if not equals:
                if flag.boolean:
                    value = "true"
                elif arguments:
                    value = arguments.pop(0)
                else:
                    raise Error(f"Missing value for flag --{name}")
            flag.parse(value)
        self._check()
        return rest

    def _print_help(self):
        print(self.get_help())

    def _parse_once(self):
        if not self._parsed:
            self(_sys.argv, known_only=True)

    def is_parsed(self):
        """Whether the command line was read; before it, flags have no values."""
        return self._parsed

    def unparse_flags(self):
        """Forgets that the command line was parsed; the values stay."""
        object.__setattr__(self, "_parsed", False)

    def mark_as_parsed(self):
        """Lets the flags be read with their defaults, without a command line."""
        object.__setattr__(self, "_parsed", True)

    def __getattr__(self, name):
        if name == "__flags":
            return self._flags
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        if name not in self._flags:
            raise AttributeError(name)
        self._parse_once()
        return self._flags[name].value

    def __setattr__(self, name, value):
        if name not in self._flags:
            raise AttributeError(name)
        self._flags[name].value = value

    def __delattr__(self, name):
        if self._flags.pop(name, None) is None:
            raise AttributeError(name)

    def __getitem__(self, name):
        return self._flags[name]

    def __contains__(self, name):
        return name in self._flags

    def __iter__(self):
        return iter(list(self._flags))

    def __len__(self):
        return len(self._flags)

    def __dir__(self):
        return sorted(self._flags)

    def set_default(self, name, value):
        """Another default, and value where none was given."""
        flag = self._flags.get(name)
        if flag is None:
            raise UnrecognizedFlagError(f"Unknown command line flag '{name}'")
        flag.default = value
        if not flag.present:
            flag.value = value

    def get_help(self):
        """The flags with their help texts and defaults, a line each."""
        flags = sorted(self._flags.values(), key=lambda f: f.name)
        return "\n".join(f"  --{f.name}: {f.help or ''} (default: {f.default!r})" for f in flags)

    def flags_into_string(self):
        """The flags that have a value, as a file of flags holds them."""
        lines = []
        for name, flag in sorted(self._flags.items()):
            if flag.boolean:
                lines.append(f"--{name}" if flag.value else f"--no{name}")
            elif flag.value is not None:
                is_list = isinstance(flag.value, (list, tuple))
                text = ",".join(map(str, flag.value)) if is_list else flag.value
                lines.append(f"--{name}={text}")
        return "\n".join(lines) + "\n"

    def flag_values_dict(self):
        """The values by name."""
        return {name: flag.value for name, flag in self._flags.items()}


FLAGS = FlagValues()


def _as_bool(text):
    if isinstance(text, (bool, int)):
        return bool(text)
    lowered = text.lower()
    if lowered in ("true", "t", "1", "yes", "y"):
        return True
    if lowered in ("false", "f", "0", "no", "n"):
        return False
    raise ValueError("Non-boolean argument to boolean flag")


def _as_list(text):
    return [part.strip() for part in text.split(",")] if text else []


def _as_int(text):
    if not isinstance(text, str):
        return int(text)
    return int(text, {"0x": 16, "0o": 8}.get(text[:2].lower(), 10))


def _bounds_text(lower, upper):
    if (lower, upper) == (0, None):
        return "a non-negative integer"
    if (lower, upper) == (1, None):
        return "a positive integer"
    if upper is None:
        return f"an integer >= {lower}"
    if lower is None:
        return f"an integer <= {upper}"
    return f"an integer in the range [{lower}, {upper}]"


def _int_parser(lower, upper):
    def parse(text):
        value = _as_int(text)
        if (lower is not None and value < lower) or (upper is not None and value > upper):
            raise ValueError(f"{value} is not {_bounds_text(lower, upper)}")
        return value

    return parse


def _enum_parser(enum_values):
    def parse(text):
        if text not in enum_values:
            raise ValueError(f"value should be one of <{'|'.join(enum_values)}>")
        return text

    return parse


def DEFINE_string(name, default, help, flag_values=FLAGS, **kwargs):
    """A flag that holds a text."""
    return flag_values._define(Flag(name, default, help, str), **kwargs)


def DEFINE_integer(
    name, default, help, lower_bound=None, upper_bound=None, flag_values=FLAGS, **kwargs
):
    """A flag that holds a whole number."""
    return flag_values._define(
        Flag(name, default, help, _int_parser(lower_bound, upper_bound)), **kwargs
    )


def DEFINE_float(
    name, default, help, lower_bound=None, upper_bound=None, flag_values=FLAGS, **kwargs
):
    """A flag that holds a number."""
    default = None if default is None else float(default)
    return flag_values._define(Flag(name, default, help, float), **kwargs)


def DEFINE_boolean(name, default, help, flag_values=FLAGS, **kwargs):
    """A flag that is on or off: --name, --noname, --name=false."""
    return flag_values._define(Flag(name, default, help, _as_bool, boolean=True), **kwargs)


DEFINE_bool = DEFINE_boolean


def DEFINE_list(name, default, help, flag_values=FLAGS, **kwargs):
    """A flag that holds texts separated by commas."""
    default = _as_list(default) if isinstance(default, str) else default
    return flag_values._define(Flag(name, default, help, _as_list), **kwargs)


def DEFINE_enum(name, default, enum_values, help, flag_values=FLAGS, **kwargs):
    """A flag that holds one of a few texts."""
    return flag_values._define(Flag(name, default, help, _enum_parser(enum_values)), **kwargs)


def DEFINE_enum_class(name, default, enum_class, help, flag_values=FLAGS, **kwargs):
    """A flag that holds a member of an enum.Enum; the command line gives the member's name."""
    parse_name = _enum_parser(list(enum_class.__members__))

    def parse(value):
        return value if isinstance(value, enum_class) else enum_class[parse_name(value)]

    return flag_values._define(
        Flag(name, None if default is None else parse(default), help, parse), **kwargs
    )


def DEFINE_multi_string(name, default, help, flag_values=FLAGS, **kwargs):
    """A flag given any number of times: a list of texts."""
    return flag_values._define(MultiFlag(name, default, help, str), **kwargs)


def DEFINE_multi_integer(
    name, default, help, lower_bound=None, upper_bound=None, flag_values=FLAGS, **kwargs
):
    """A flag given any number of times: a list of whole numbers."""
    return flag_values._define(
        MultiFlag(name, default, help, _int_parser(lower_bound, upper_bound)), **kwargs
    )


def DEFINE_multi_float(name, default, help, flag_values=FLAGS, **kwargs):
    """A flag given any number of times: a list of numbers."""
    return flag_values._define(MultiFlag(name, default, help, float), **kwargs)


def DEFINE_multi_enum(name, default, enum_values, help, flag_values=FLAGS, **kwargs):
    """A flag given any number of times: a list of some of a few texts."""
    return flag_values._define(MultiFlag(name, default, help, _enum_parser(enum_values)), **kwargs)


def DEFINE_spaceseplist(name, default, help, comma_compat=False, flag_values=FLAGS, **kwargs):
    """A flag that holds texts separated by spaces, and by commas if `comma_compat`."""

    def parse(text):
        if not isinstance(text, str):
            return list(text)
        return (text.replace(",", " ") if comma_compat else text).split()

    default = None if default is None else parse(default)
    return flag_values._define(Flag(name, default, help, parse), **kwargs)


def DEFINE_multi_enum_class(name, default, enum_class, help, flag_values=FLAGS, **kwargs):
    """A flag given any number of times: a list of members of an enum.Enum."""
    parse_name = _enum_parser(list(enum_class.__members__))

    def parse(value):
        return value if isinstance(value, enum_class) else enum_class[parse_name(value)]

    return flag_values._define(MultiFlag(name, default, help, parse), **kwargs)


def DEFINE_alias(name, original_name, flag_values=FLAGS, **kwargs):
    """Another name for a flag on the command line."""
    if original_name not in flag_values:
        raise UnrecognizedFlagError(f"Unknown command line flag '{original_name}'")
    flag_values._short[name] = original_name


def _known(names, flag_values):
    names = [name.name if isinstance(name, FlagHolder) else name for name in names]
    for name in names:
        if name not in flag_values:
            raise UnrecognizedFlagError(f"Unknown command line flag '{name}'")
    return names


def register_validator(flag_name, checker, message="Flag validation failed", flag_values=FLAGS):
    """Makes parsing fail with ValidationError unless `checker(value)` is true."""
    (name,) = _known([flag_name], flag_values)

    def check(values):
        if not checker(values[name].value):
            raise ValidationError(f"flag --{name}={values[name].value}: {message}")

    flag_values._checks.append(check)


def validator(flag_name, message="Flag validation failed", flag_values=FLAGS):
    """A decorator: register_validator() of the function."""

    def decorate(function):
        register_validator(flag_name, function, message, flag_values)
        return function

    return decorate


def register_multi_flags_validator(
    flag_names, multi_flags_checker, message="Flags validation failed", flag_values=FLAGS
):
    """Makes parsing fail unless `multi_flags_checker({name: value})` is true."""
    names = _known(flag_names, flag_values)

    def check(values):
        if not multi_flags_checker({name: values[name].value for name in names}):
            raise ValidationError(f"flags {', '.join('--' + name for name in names)}: {message}")

    flag_values._checks.append(check)


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    """Makes parsing fail where the flag has no value."""
    register_validator(
        flag_name,
        lambda value: value is not None,
        "Flag must have a value other than None.",
        flag_values,
    )


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    """Makes parsing fail unless each of these flags has a value."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)


def mark_flags_as_mutual_exclusive(flag_names, required=False, flag_values=FLAGS):
    """Makes parsing fail where more than one of the flags has a value, or none if `required`."""

    def checker(values):
        count = sum(value is not None for value in values.values())
        return count == 1 or (not required and count == 0)

    message = f"{'Exactly' if required else 'At most'} one of them must have a value."
    register_multi_flags_validator(flag_names, checker, message, flag_values)


def mark_bool_flags_as_mutual_exclusive(flag_names, required=False, flag_values=FLAGS):
    """Makes parsing fail where more than one of the flags is on, or none if `required`."""

    def checker(values):
        count = sum(map(bool, values.values()))
        return count == 1 or (not required and count == 0)

    message = f"{'Exactly' if required else 'At most'} one of them must be on."
    register_multi_flags_validator(flag_names, checker, message, flag_values)


def adopt_module_key_flags(module, flag_values=FLAGS):
    """Does nothing: help lists the flags of all modules."""


def declare_key_flag(flag_name, flag_values=FLAGS):
    """Does nothing: help lists the flags of all modules."""
