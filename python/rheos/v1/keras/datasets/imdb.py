"""The data set imdb."""

from rheos.models.example_data import imdb as load_data, word_numbers


def get_word_index(path=None):
    """{word: its number}."""
    return word_numbers("imdb")


__all__ = ["load_data"]
