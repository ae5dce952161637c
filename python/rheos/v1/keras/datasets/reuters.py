"""The data set reuters."""

from rheos.models.example_data import reuters as load_data, word_numbers


def get_word_index(path=None):
    """{word: its number}."""
    return word_numbers("reuters")


__all__ = ["load_data"]
