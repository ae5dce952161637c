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
        before = self.value if self.present else []
        super().parse(text)
        self.value = [*before, self.value]


class FlagValues:
    """The flags of a program, read as attributes. Parsed on first use if not before."""

    def __init__(self):
        object.__setattr__(self, "_flags", {})
        object.__setattr__(self, "_parsed", False)

    @property
    def __flags(self):
        return self._flags

    def _define(self, flag):
        known = self._flags.get(flag.name)
        if known is not None and known.default != flag.default and known.present:
            raise DuplicateFlagError(f"The flag '{flag.name}' is defined twice.")
        self._flags[flag.name] = flag

    def __call__(self, argv, known_only=False):
        """Parses arguments; returns those that are no flags, the program's name first."""
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
        return rest

    def _print_help(self):
        for flag in sorted(self._flags.values(), key=lambda f: f.name):
            print(f"  --{flag.name}: {flag.help or ''} (default: {flag.default!r})")

    def _parse_once(self):
        if not self._parsed:
            self(_sys.argv, known_only=True)

    def is_parsed(self):
        return self._parsed

    def unparse_flags(self):
        """Forgets that the command line was parsed; the values stay."""
        object.__setattr__(self, "_parsed", False)

    def mark_as_parsed(self):
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
    flag_values._define(Flag(name, default, help, str))


def DEFINE_integer(
    name, default, help, lower_bound=None, upper_bound=None, flag_values=FLAGS, **kwargs
):
    """A flag that holds a whole number."""
    flag_values._define(Flag(name, default, help, _int_parser(lower_bound, upper_bound)))


def DEFINE_float(
    name, default, help, lower_bound=None, upper_bound=None, flag_values=FLAGS, **kwargs
):
    """A flag that holds a number."""
    default = None if default is None else float(default)
    flag_values._define(Flag(name, default, help, float))


def DEFINE_boolean(name, default, help, flag_values=FLAGS, **kwargs):
    """A flag that is on or off: --name, --noname, --name=false."""
    flag_values._define(Flag(name, default, help, _as_bool, boolean=True))


DEFINE_bool = DEFINE_boolean


def DEFINE_list(name, default, help, flag_values=FLAGS, **kwargs):
    """A flag that holds texts separated by commas."""
    default = _as_list(default) if isinstance(default, str) else default
    flag_values._define(Flag(name, default, help, _as_list))


def DEFINE_enum(name, default, enum_values, help, flag_values=FLAGS, **kwargs):
    """A flag that holds one of a few texts."""
    flag_values._define(Flag(name, default, help, _enum_parser(enum_values)))


def DEFINE_enum_class(name, default, enum_class, help, flag_values=FLAGS, **kwargs):
    """A flag that holds a member of an enum.Enum; the command line gives the member's name."""
    parse_name = _enum_parser(list(enum_class.__members__))

    def parse(value):
        return value if isinstance(value, enum_class) else enum_class[parse_name(value)]

    flag_values._define(Flag(name, None if default is None else parse(default), help, parse))


def DEFINE_multi_string(name, default, help, flag_values=FLAGS, **kwargs):
    """A flag given any number of times: a list of texts."""
    flag_values._define(MultiFlag(name, default, help, str))


def DEFINE_multi_integer(
    name, default, help, lower_bound=None, upper_bound=None, flag_values=FLAGS, **kwargs
):
    """A flag given any number of times: a list of whole numbers."""
    flag_values._define(MultiFlag(name, default, help, _int_parser(lower_bound, upper_bound)))


def DEFINE_multi_float(name, default, help, flag_values=FLAGS, **kwargs):
    """A flag given any number of times: a list of numbers."""
    flag_values._define(MultiFlag(name, default, help, float))


def DEFINE_multi_enum(name, default, enum_values, help, flag_values=FLAGS, **kwargs):
    """A flag given any number of times: a list of some of a few texts."""
    flag_values._define(MultiFlag(name, default, help, _enum_parser(enum_values)))


def mark_flag_as_required(flag_name, flag_values=FLAGS):
    """The program checks itself; a flag without a value stays None."""
    if flag_name not in flag_values:
        raise UnrecognizedFlagError(f"Unknown command line flag '{flag_name}'")


def mark_flags_as_required(flag_names, flag_values=FLAGS):
    """Makes parsing fail unless each of these flags is given."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)
