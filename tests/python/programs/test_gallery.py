"""The programs of docs/gallery, at sizes that take seconds: they learn, and the page shows all."""

import re
import struct
import subprocess
from pathlib import Path

import pytest
import rheos

SOURCE = Path(__file__).resolve().parents[3]
EXAMPLES = SOURCE / "examples"
BIN = Path(rheos.__file__).resolve().parents[2] / "bin"
PAGE = SOURCE / "docs" / "gallery" / "README.md"


def run(folder, name, *arguments):
    """What a program prints, which warns of nothing."""
    command = [BIN / "rheos", "run", EXAMPLES / name, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def numbers(pattern, text):
    return [float(number) for number in re.findall(pattern + r" *([-\d.]+)", text)]


def test_digits_are_read(tmp_path):
    assert numbers("right of unseen", run(tmp_path, "digits.py", 100))[-1] > 0.8


def test_a_text_is_learnt(tmp_path):
    printed = run(tmp_path, "text_generation.py", 60)
    losses = numbers("loss", printed)
    assert losses[-1] < 0.9 * losses[0]
    assert printed.splitlines()[-1].startswith("The Work ")
    assert len(printed.splitlines()[-1]) == 240


def test_numbers_are_translated(tmp_path):
    printed = run(tmp_path, "translation.py", 120)
    assert numbers("of unseen numbers", printed)[0] > 0.9


def test_digits_are_painted(tmp_path):
    printed = run(tmp_path, "gan.py", 40, "painted.png")
    mean, of_real = numbers("(?:is|ones)", printed)
    assert mean < 0.5 and 0.1 < of_real < 0.4
    assert len(numbers("critic", printed)) == 5
    header = (tmp_path / "painted.png").read_bytes()[:26]  # width, height, bits and kind
    assert struct.unpack(">12x4sIIBB", header) == (b"IHDR", 10 * 48, 4 * 48, 8, 0)


def test_a_pole_is_balanced(tmp_path):
    lengths = numbers("balanced for", run(tmp_path, "dqn.py", 150))
    assert max(lengths) > 3 * lengths[0]


def test_words_of_a_kind_are_near(tmp_path):
    printed = run(tmp_path, "word_vectors.py", 2000)
    total, same = map(int, re.search(r"of (\d+) words, (\d+)", printed).groups())
    assert same > 0.7 * total


def test_a_day_is_foretold(tmp_path):
    printed = run(tmp_path, "time_series.py", 3)
    error, naive = re.search(r"days: error ([\d.]+); .* ([\d.]+)", printed).groups()
    assert float(error) < 0.8 * float(naive)
    assert (tmp_path / "time_series.svg").read_text().count("<polyline") == 3


def test_what_a_model_knows_helps(tmp_path):
    pytest.importorskip("h5py")
    printed = run(tmp_path, "transfer.py", "base.keras")
    assert numbers("reads", printed)[0] > 0.9
    assert numbers("learn a little:", printed)[0] > 0.6
    again = run(tmp_path, "transfer.py", "base.keras")  # with the model that is there
    assert "reads" not in again and numbers("learn a little:", again)[0] > 0.6


def test_a_picture_is_painted_in_a_style(tmp_path):
    printed = run(tmp_path, "style_transfer.py", 20)
    style = numbers("style", printed)
    assert style[-2] < 0.5 * style[0]  # the last line tells of the file
    assert (tmp_path / "style_transfer.png").stat().st_size > 1000


def test_films_are_recommended(tmp_path):
    printed = run(tmp_path, "recommender.py", 2000)
    assert numbers("recommended:", printed)[-1] > 1.2 * numbers("films:", printed)[0]


def test_a_model_is_served(tmp_path):
    printed = run(tmp_path, "serving.py")
    assert "'label': 'in'" in printed and "'label': 'out'" in printed
    assert "'error'" in printed and "[1,3]" in printed


def test_an_optimizer_of_ones_own_learns(tmp_path):
    printed = run(tmp_path, "custom_optimizer.py", 300)
    assert re.findall(r"^[\w ]+?(?=  +loss)", printed, re.MULTILINE)[0] == "SignMomentum"
    mine, descent, _ = re.findall(r"([\d.]+) at the end", printed)
    assert float(mine) < 0.1 < float(descent)


def test_roots_are_found_in_a_loop():
    program = BIN / "roots"
    if not program.exists():
        pytest.skip("the examples are not built")
    done = subprocess.run([program, "144", "-1"], capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n")[:2] == ["144: 12", "-1: nan"]


def test_a_saved_model_is_called_in_c():
    program = BIN / "call_model"
    if not program.exists():
        pytest.skip("the examples are not built")
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout == "y: float[] 3\n"


def test_the_page_shows_sixteen_programs_that_are_there():
    page = PAGE.read_text()
    shown = re.findall(r"\]\(\.\./\.\./examples/([\w.]+)\)", page)
    assert len(shown) == len(set(shown)) == page.count("```console once") == 16
    for name in shown:
        assert 30 <= len((EXAMPLES / name).read_text().splitlines()) <= 150
