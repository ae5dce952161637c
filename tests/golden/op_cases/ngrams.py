"""N-grams of strings."""
from .common import *  # noqa: F403
from .strings import none


def cases():
    t = Table()

    def add(tag, data, splits, widths, pad=0, short=False, left="LP", right="RP", sep="|"):
        t.add("StringNGrams", tag, s(data) if data else none((0,)), splits, separator=sep,
              ngram_widths=widths, left_pad=left, right_pad=right, pad_width=pad,
              preserve_short_sequences=short)

    data, splits = ["a", "b", "c", "d", "e", "", "f"], l([0, 4, 4, 5, 7])
    add("bigrams", data, splits, [2])
    add("unigrams", data, i([0, 4, 7]), [1])
    add("several_widths", data, splits, [2, 3, 1])
    add("full_padding", data, splits, [3], pad=-1)
    add("some_padding", data, splits, [4, 2], pad=1)
    add("wide_padding", data, splits, [2], pad=9)
    add("left_only", data, splits, [3], pad=-1, right="")
    add("no_separator", data, splits, [2], pad=-1, sep="")
    add("short_kept", data, splits, [3], short=True)
    add("short_kept_padded", ["x"], l([0, 0, 1]), [5], pad=1, short=True)
    add("too_wide", data, splits, [20])
    add("no_widths", data, splits, [])
    add("no_widths_short", data, splits, [], pad=2, short=True)
    add("empty_rows", [], l([0, 0, 0]), [2])
    add("empty_rows_padded", [], l([0, 0]), [2], pad=-1)
    add("no_splits", [], l([]), [2])
    add("only_padding", ["x"], l([0, 1, 1]), [3], pad=-1)
    add("bad_first", data, l([1, 7]), [2])
    add("bad_last", data, l([0, 5]), [2])
    add("bad_order", data, l([0, 5, 3, 7]), [2])
    add("bad_width", data, splits, [0])
    add("bad_short", data, splits, [], pad=-1, short=True)
    t.add("StringNGrams", "bad_matrix", s([["a"]]), l([0, 1]), separator="", ngram_widths=[1],
          left_pad="", right_pad="", pad_width=0, preserve_short_sequences=False)
    return t.cases
