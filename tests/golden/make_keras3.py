#!/usr/bin/env python3
"""Records in keras3.json what the programs of keras3_programs.py give in TensorFlow.

python tests/golden/make_keras3.py      # with TensorFlow 2.21 and Keras 3
"""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main():
    environment = dict(os.environ, KERAS_BACKEND="tensorflow", TF_CPP_MIN_LOG_LEVEL="3")
    done = subprocess.run(
        [sys.executable, str(HERE / "keras3_programs.py")],
        env=environment, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    line = [s for s in done.stdout.splitlines() if s.startswith("answer: ")][-1]
    found = json.loads(line.removeprefix("answer: "))
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(found[name])}" for name in found)
    (HERE / "keras3.json").write_text("{\n" + rows + "\n}\n")


if __name__ == "__main__":
    main()
