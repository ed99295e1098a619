"""A run that is killed again and again, and resumed, writes what an undisturbed run writes."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

COMMAND = [sys.executable, "-m", "onefit.cli", "reproduce", "sm:2", "--datasets", "wdbc", "--splits", "12"]
KILLS = 5


def written(folder):
    """All files but those about times, and the journal."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.suffix == ".csv" and "seconds" not in path.name
    }


@pytest.mark.slow
def test_kills_do_not_change_a_byte(tmp_path):
    start = time.monotonic()
    subprocess.run([*COMMAND, "--out", tmp_path / "whole"], check=True, capture_output=True)
    whole = time.monotonic() - start
    generator = np.random.default_rng(int(os.environ.get("ONEFIT_KILL_SEED", "0")))
    killed = 0
    while killed < KILLS:
        process = subprocess.Popen([*COMMAND, "--out", tmp_path / "cut", "--resume"], stderr=subprocess.DEVNULL)
        try:
            process.wait(generator.uniform(0.2, 1.0) * whole)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        killed += 1
    subprocess.run([*COMMAND, "--out", tmp_path / "cut", "--resume"], check=True, capture_output=True)
    assert written(tmp_path / "whole")
    assert written(tmp_path / "cut") == written(tmp_path / "whole")
