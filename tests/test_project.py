"""The tree keeps its own rules."""

import ast
import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import coterie

ROOT = Path(__file__).parents[1]
TRACKED = [
    ROOT / name
    for name in subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    if (ROOT / name).is_file()
]
SOURCES = [path for path in TRACKED if path.suffix == ".py"]
MODULES = ["coterie", *(found.name for found in pkgutil.walk_packages(coterie.__path__, "coterie."))]


def functions(path: Path):
    for item in ast.walk(ast.parse(path.read_text())):
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef):
            yield item, item.end_lineno - (item.body[1:] or item.body)[0].lineno + 1


def test_layers_import_only_what_lies_below_them():
    done = subprocess.run([Path(sys.executable).with_name("lint-imports")], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "ignore_imports" not in (ROOT / "pyproject.toml").read_text()


@pytest.mark.parametrize("command", [["ruff", "check", "."], ["mypy"]], ids=["ruff", "mypy"])
def test_a_linter_has_nothing_to_say(command):
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_function_of_the_package_is_longer_than_seventy_lines():
    long = [f"{path.name}:{item.name}" for path in SOURCES if "src" in path.parts for item, n in functions(path) if n > 70]
    assert long == []


def test_every_module_and_every_file_of_tests_says_what_it_is_for():
    bare = [str(path) for path in SOURCES if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))]
    assert bare == []


def test_no_text_names_a_machine_a_registry_or_unfinished_work():
    words = ["/" + "work/", "/" + "root/", "TO" + "DO", "FIX" + "ME", "index" + "-url", "x" + "fail(", "fla" + "ky("]
    found = [(str(path), word) for path in TRACKED for word in words if word in path.read_text(errors="replace")]
    assert found == []


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("module", ["coterie", "coterie.cli.main"])
def test_importing_the_package_compiles_nothing_and_leaves_the_compiler_alone(module):
    """Nor does `coterie --help`, which once took 1.6 seconds for what now takes 0.4."""
    check = f"import {module}, sys; sys.exit(any(m in sys.modules for m in ('numba', 'polars', 'scipy', 'pydantic')))"
    assert subprocess.run([sys.executable, "-c", check], env=os.environ).returncode == 0


def test_all_exported_names_exist_and_are_few():
    assert all(hasattr(coterie, name) for name in coterie.__all__)
    assert len(coterie.__all__) <= 20


def test_the_guide_shows_the_example_algorithm_as_it_is():
    guide, example = (ROOT / "CONTRIBUTING.md").read_text(), (ROOT / "examples/own_algorithm.py").read_text()
    assert example.strip() in guide


def test_ci_runs_the_test_command_of_the_readme():
    readme = (ROOT / "README.md").read_text()
    command = re.search(r"<!-- test command -->\n```sh\n(.*?)\n```", readme, re.S)
    assert command and "pytest" in command[1]
