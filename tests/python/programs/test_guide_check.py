"""tools/check-guide: a page is right if it shows what its blocks print, and only then."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("RHEOS_BUILD", SOURCE / "build"))
PAGE = """# A page

```c
// line.c
#include <stdio.h>
int main(void) { printf("sum %.2f\\n", 1.25); }
```

```console
$ cc line.c -o line && ./line
sum 1.25
```

```python
x = 2
print(x, open("line.c").readline(), end="")
open("twice", "w").write(str(2 * x))
```

```
2 // line.c
```

```console
$ cat twice; echo
4
```

```python
print(x + 1.5)
```

```
3.5
```
"""


WRONG = [
    ("\nsum 1.25", "\nsum 1.35"),
    ("\nsum 1.25", "\nthe sum 1.25"),
    ("\nsum 1.25\n", "\n"),
    ("$ cat twice", "$ cat thrice"),
    ("print(x + 1.5)", "print(y)"),
    ("\n```\n3.5\n```\n", ""),
    ("// line.c", "// all of sum"),
]


@pytest.fixture
def check(tmp_path):
    if not (BUILD / "lib" / "librheos.so").exists():
        pytest.skip("installs what was built, which has no library here")

    def check(texts, *options):
        """Checks pages with these texts; returns for each what is said of it, and its new text."""
        pages = [tmp_path / str(number) / "page.md" for number in range(len(texts))]
        for page, text in zip(pages, texts):
            page.parent.mkdir(exist_ok=True)
            page.write_text(text)
        command = [sys.executable, SOURCE / "tools" / "check-guide", BUILD, *pages, *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        lines = done.stdout.splitlines()
        said = [[line for line in lines if f"/{n}/page.md:" in line] for n in range(len(texts))]
        assert done.returncode == any(said), done.stdout + done.stderr
        return said, [page.read_text() for page in pages]

    return check


def test_a_page_is_right_if_it_shows_what_is_printed_and_only_then(check):
    wrong = [PAGE.replace(*change) for change in WRONG]
    # Digits that another processor may give, and lines left out.
    also_right = PAGE.replace("\nsum 1.25", "\nsum 1.24").replace("2 // line.c\n", "...\n")
    # Times and their units may vary, words may not.
    varying = PAGE.replace("```console\n$ cc", "```console varies\n$ cc")
    also_right_too = varying.replace("\nsum 1.25", "\nsum 17ms").replace("%.2f\\n", "%.2fus\\n")
    wrong.append(varying.replace("\nsum 1.25", "\ntime 1.25"))
    right = [PAGE, also_right, also_right_too]
    said, _ = check(right + wrong)
    assert said[: len(right)] == [[]] * len(right)
    for text, told in zip(wrong, said[len(right) :]):
        assert PAGE not in text and told, text


def test_pages_are_written_anew_where_they_are_wrong(check):
    wrong = PAGE.replace("\nsum 1.25", "\nsum 3").replace("\n3.5\n", "\n").replace("\n4\n", "\n5\n")
    assert check([PAGE, wrong], "--write") == ([[], []], [PAGE, PAGE])
