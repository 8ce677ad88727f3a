"""What the compiler refuses in a hook is told in our words, with the line of the author's file."""

import importlib.util
import sys

import pytest
from numba import njit

from coterie.engines.refusals import careful
from coterie.errors import AlgorithmError

FILE = """from coterie.kernel import node

LABELS = {{"a": 1}}


@node
def helper(x):
    return x + 1


@node
def my_choice(x):
    y = helper(x)
    {body}
    return y
"""
ENGINE = "from {name} import my_choice\n\ndef run(x):\n    return my_choice(x)\n"
REFUSED = {
    "y = x.real.nothing_of_the_kind": ":14: choose uses .nothing_of_the_kind, which cannot be compiled",
    'y = int(f"{x}")': ":14: choose calls 'str' with what it cannot take",
    "y = LABELS": ":14: choose uses 'LABELS', which cannot be compiled",
    'y = helper("a")': ":8: helper calls 'add' with what it cannot take",
    'y = None if x > 3 else "a"\n    y = y + x': ":15: choose calls 'add' with what it cannot take",
    'if x > 3:\n        y = "a"': ":16: choose must give 'y' one kind of value",
}


@pytest.fixture
def module(tmp_path):
    def made(name, text):
        (tmp_path / f"{name}.py").write_text(text)
        spec = importlib.util.spec_from_file_location(name, tmp_path / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
        return sys.modules[name]

    return made


@pytest.mark.parametrize("body", REFUSED)
def test_a_refusal_names_file_line_hook_and_what_it_was(module, tmp_path, monkeypatch, body):
    monkeypatch.chdir(tmp_path)
    number = list(REFUSED).index(body)
    guest = module(f"guest_{number}", FILE.format(body=body))
    engine = module(f"engine_{number}", ENGINE.format(name=guest.__name__))
    with pytest.raises(AlgorithmError) as told:
        careful(njit(engine.run), {"choose": guest.my_choice})(1)
    line = str(told.value)
    assert line.startswith(f"guest_{number}.py{REFUSED[body]}")
    assert "numba" not in line and "\n" not in line and len(line) < 200


def test_an_error_that_a_compiled_hook_raises_is_one_of_its_file(module):
    guest = module("guest_raising", FILE.format(body='if x > 3:\n        raise ValueError("too many")'))
    run = careful(njit(module("engine_raising", ENGINE.format(name="guest_raising")).run), {"choose": guest.my_choice})
    assert run(1) == 2
    with pytest.raises(AlgorithmError, match=r"guest_raising.py: a hook stops a compiled run: ValueError: too many"):
        run(4)
