"""Files of results that are measured cell by cell."""

import pytest

from onefit.studies import result_lines

FIELDS = ("set", "split", "method", "error")
CELLS = [(("a", 0), ["x", "y"]), (("b", 0), ["x", "y"])]


def measure(cell, methods):
    return [{"set": cell[0], "split": cell[1], "method": method, "error": 1.5} for method in methods]


def test_only_what_is_missing_is_measured(tmp_path):
    path, asked = tmp_path / "new" / "results.csv", []

    def counted(cell, methods):
        asked.append((cell, methods))
        return measure(cell, methods)

    result_lines.run(path, FIELDS, [(("a", 0), ["x"])], counted)
    result_lines.run(path, FIELDS, CELLS, counted)
    result_lines.run(path, FIELDS, CELLS, counted)
    assert asked == [(("a", 0), ["x"]), (("a", 0), ["y"]), (("b", 0), ["x", "y"])]
    assert [(line["set"], line["method"]) for line in result_lines.read(path)] == [
        ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"),
    ]  # fmt: skip


def test_a_run_that_is_interrupted_leaves_whole_cells(tmp_path):
    path = tmp_path / "results.csv"

    def interrupted(cell, methods):
        if cell[0] == "b":
            raise KeyboardInterrupt
        return measure(cell, methods)

    with pytest.raises(KeyboardInterrupt):
        result_lines.run(path, FIELDS, CELLS, interrupted)
    assert len(result_lines.read(path)) == 2


def test_a_file_that_is_not_there_has_no_lines(tmp_path):
    assert result_lines.read(tmp_path / "none.csv") == []
