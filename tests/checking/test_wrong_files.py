"""Files that are wrong: the example algorithm with a small edit each, and the line that is told about it."""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from coterie.checking import apart, inspection
from coterie.cli.main import main

EXAMPLE = (Path(__file__).parents[2] / "examples/own_algorithm.py").read_text()


class Wrong(NamedTuple):
    edits: tuple[tuple[str, str], ...]
    told: str  # how the line begins, behind the file; `N` is the number of the line that `at`, or the hook, stands in
    at: str = ""

    @property
    def text(self) -> str:
        text = EXAMPLE
        for old, new in self.edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text

    @property
    def line(self) -> str:
        hook = self.told.removeprefix(":N: ").partition(" ")[0].rstrip(":")
        lines, at = self.text.splitlines(), self.at or f"def {hook}("
        return self.told.replace(":N:", f":{next((n for n, line in enumerate(lines, 1) if at in line), 0)}:")


def edit(old: str, new: str, told: str, at: str = "") -> Wrong:
    return Wrong(((old, new),), told, at)


IMPORT = "from math import inf, log, sqrt\n"
PULLED = "    open.pulls[arm] += pulls\n"
ORDER = "    order(plan, arm, pulls)\n"
OFFER = "offer(out, k, p.epsilon)"
EXAMPLES = '({}, {"epsilon": inf}, {"commit": True})'
NEWS = "    open.news = -1\n"
SAID = "    return 3\n"
PARAMS = "params(options, setting)"
CLAIM = "Claim(options.epsilon)"
HEAR = "hear=hear,\n"
CHOOSE = "@node\ndef choose(open, p, t, die, plan):\n"
MESSAGE = "return record(arm=int64, count=int64, total=int64)"
PEEK = "@node\ndef peek(secret, inner, open, p, t, die, plan):\n    {}\n    order(plan, 0, 1)\n\n\n" + CHOOSE
OVERHEAR = "@node\ndef overhear(secret, inner, open, peer, p, t, message):\n    {}\n\n\n" + CHOOSE

THE_FILE = {
    "syntax": edit(PULLED, "    open.pulls[arm += 1\n", ":N: must be Python, got ", "[arm +="),
    "a module that is missing": edit(
        IMPORT, "import nowhere\n" + IMPORT, ":N: imports 'nowhere', which is not inst", "nowhere"
    ),
    "an error at import": edit(IMPORT, IMPORT + "1 / 0\n", ":N: divides by zero", "1 / 0"),
    "an exit at import": edit(IMPORT, IMPORT + "raise SystemExit\n", ":N: must not stop the program, got SystemExit", "raise"),
    "an interrupt at import": edit(IMPORT, IMPORT + "raise KeyboardInterrupt\n", ": must not stop the program, got Keyboard"),
    "no entries": edit("ENTRIES = ", "OTHERS = ", ": must define ENTRIES = (Entry(...),) with one entry, got none"),
    "an example with an unknown option": edit(
        EXAMPLES, '({"nope": 1},)', ": example {'nope': 1} of 'block-ucb' must be options that it takes: it"
    ),
    "an example out of range": edit(
        EXAMPLES, '({"epsilon": 0.0},)', ": example {'epsilon': 0.0} of 'block-ucb'"
    ),
    "observe, of the first edition": edit(HEAR, "hear=hear, observe=hear,\n", ":N: observe is no part of an Algo", "observe="),
    "a claim in words": edit(CLAIM, 'Claim(1.0, "all")', ":N: Claim(epsilon, delta) takes numbers", '"all"'),
}

ITS_PARTS = {
    "parameters of another kind": edit(PARAMS, "{'arms': 4}", ": build: parameters must be made by params(options, set"),
    "no arms": Wrong(
        ((IMPORT, "from collections import namedtuple\n" + IMPORT), (PARAMS, "namedtuple('Own', 'count')(1)")),
        ": build: parameters must have a field 'arms', got count",
    ),
    "a text among parameters": edit(
        PARAMS, 'params(options, setting, epsilon="one")', ": build: parameter 'epsilon' must be a number, go"
    ),
    "a number among parameters that is too large": edit(
        PARAMS, "params(options, setting, epsilon=2**29999)",
        ": build: parameter 'epsilon' must be in [-2^63, 2^63 - 1], got 30000 bits",
    ),
    "no method": edit(
        f"return Method(rule, {PARAMS}, {CLAIM})", "return BLOCK_UCB", ": build must return a Method(Algori"
    ),
    "a claim of nothing": edit(
        CLAIM, "Claim(0.0)", ": build: epsilon of a claim must be a number in [1e-06, 1e+06] or inf, got 0"
    ),
    "no claim": edit(CLAIM, "None", ": build must return a Method(Algorithm, params(...), Claim), got NoneType for Claim"),
    "build fails": edit(PARAMS, "params(setting.arms)", ":N: build: TypeError: ", "params(setting.arms)"),
    "a fact of no field": edit(CLAIM, CLAIM + ", known={'weight': [1] * 4}", ": build: known must name fields of open"),
    "no server": edit(CLAIM, CLAIM + ', structure="server"', ": build: structure 'server' has a server (an Algorithm), got"),
    "a server that does not listen": edit(
        CLAIM, CLAIM + ', server=Algorithm("desk"), structure="server"', ": build: hears of block_ucb must be the message of"
    ),
    "a field of 32 bits": edit("arm=int64", "arm='i4'", ":N: message_record: ValueError: field 'arm' of a rec", "'i4'"),
    "a field that numpy hides": edit("news=int64", "size=int64", ":N: open_record: ValueError: field 'size'", "return record("),
    "arms of its own": edit(
        PARAMS, "params(options, setting, arms=7)", ": build: parameter 'arms' must be that of the setting, 4, got 7"
    ),
    "no record": edit(
        MESSAGE, "return [int64]", ":N: message_record must return record(field=int64, ...)", "def message_record"
    ),
    "no caveat": Wrong(
        ((CHOOSE, PEEK.format("pass")), (HEAR, "hear=hear, peek=peek,\n")), ": block_ucb: caveat must say why peek may read the"
    ),
    "a sum of broken numbers": Wrong(
        ((HEAR, 'hear=hear, additive="news",\n'), ("arm=int64, count=int64", "arm=int64, count=float64")),
        ": block_ucb: a message that is additive must be an arm and then whole numbers",
    ),
}  # fmt: skip

ITS_TEXT = {
    "a parameter less": edit(
        "def publish(open, p, t, plan, out)", "def publish(open, p, t, out)",
        ":N: publish must be publish(open, p, t, plan, out), got (open, p, t, out)", "def publish",
    ),
    "another order": edit(
        "def hear(open, peer, p", "def hear(peer, open, p", ":N: hear must be hear(open, peer, p, t, message), got", "def hear"
    ),
    "the secret, of the first edition": edit(
        "def release(open, p,", "def release(secret, open, p,",
        ":N: release must be release(open, p, t, plan, out), without the secret: rewards are the engine's now", "def release",
    ),
    "no mark": edit("@node\ndef speak", "def speak", ":N: speak must be marked @node", "def speak"),
    "a helper without a mark": Wrong(
        ((CHOOSE, "def one():\n    return 1\n\n\n" + CHOOSE), (PULLED, "    open.pulls[arm] += one()\n")),
        ":N: choose calls 'one', which must be marked @node", "+= one()",
    ),
    "a compiled function": Wrong(
        ((IMPORT, "from numba import njit\n" + IMPORT), ("speak=speak", "speak=njit(speak)")),
        ": block_ucb: speak must be a function that is marked @node, got a compiled function",
    ),
    "a lambda": edit("speak=speak", "speak=lambda open, p, t, message: 0", ":N: speak must be a function at the top", "lambda"),
    "a function inside another": Wrong(
        ((CHOOSE, "def make():\n    @node\n    def speak(open, p, t, message):\n        return 0\n    return speak\n" + CHOOSE),
         ("speak=speak", "speak=make()")), ":N: speak must be a function at the top of a file, under its own name", "    @node",
    ),
    "a field that is missing": edit("+= message.count", "+= message.n", ":N: hear: message has no field 'n'; it has arm", ".n"),
    "a field missing in a helper": Wrong(
        ((CHOOSE, "@node\ndef count(mine):\n    mine.pules[0] += 1\n\n\n" + CHOOSE), (PULLED, PULLED + "    count(open)\n")),
        ":N: count: mine has no field 'pules'", "mine.pules",
    ),
    "a parameter that is missing": edit(
        OFFER, "offer(out, k, p.eps)", ":N: release: p has no field 'eps'; it has arms", "p.eps)"
    ),
    "a clock": Wrong(
        ((IMPORT, "import time\n" + IMPORT), (PULLED, "    open.pulls[arm] += time.time() > 0\n")),
        ":N: choose must use math, numpy and coterie only", "time.time()",
    ),
    "dice of its own": Wrong(
        ((IMPORT, "import numpy as np\n" + IMPORT), (PULLED, "    arm = np.random.randint(4)\n" + PULLED)),
        ":N: choose must use math, numpy and coterie only, and chance from `die`, got 'np.random'", "randint",
    ),
    "what it prints": edit(PULLED, "    print(t)\n" + PULLED, ":N: choose prints more than words", "print(t)"),
    "a variable outside": edit(
        PULLED, "    global most\n" + PULLED, ":N: choose must keep everything in records", "global most"
    ),
}  # fmt: skip

AROUND_A_SERVER = (CLAIM, CLAIM + ', server=Algorithm("desk", message=message_record), structure="server"')

ITS_RUN = {
    "a place too far": edit(
        "(p.arms):\n        n", "(p.arms + 1):\n        n", ":N: choose asks for place 4 of open.count", "n = op"
    ),
    "records for four arms only": edit(
        "n = capacity(p.arms)", "n = 4", ":N: choose asks for place 4 of open.count", "n = open"
    ),
    "a negative place": edit(PULLED, "    open.pulls[arm - 4] += 1\n", ":N: choose asks for place -4 of open.pulls", "arm - 4"),
    "an exit": edit(
        PULLED, "    raise SystemExit\n", ":N: choose must not stop the program, got SystemExit", "raise SystemExit"
    ),
    "a division by zero": edit(PULLED, PULLED + "    open.news = 1 // (t - 3)\n", ":N: choose divides by zero", "t - 3"),
    "numpy divides by zero": edit(
        PULLED, PULLED + "    open.news = 1 // open.news\n", ":N: choose divides by zero", "1 // open"
    ),
    "an overflow": edit(
        PULLED, PULLED + "    open.news = open.pulls[arm] * 2**62 * 2\n", ":N: choose computes a number", "2**62"
    ),
    "an infinite whole number": edit(
        PULLED, PULLED + "    open.news = inf\n", ":N: choose computes a number that is too", "news = inf"
    ),
    "an unknown name": edit(PULLED, "    open.pulls[arm] += won\n", ":N: choose uses 'won', which is not defined", "+= won"),
    "an unknown arm": edit(ORDER, "    order(plan, arm + 2, 1)\n", ":N: choose makes a plan with more entries than"),
    "pulls below 0": edit(ORDER, "    order(plan, arm, -1)\n", ":N: choose makes a plan with more entries than"),
    "no pull": edit(ORDER, "", ":N: choose must order at least one pull, got none in turn 1"),
    "a committed plan without a pull": Wrong(
        ((ORDER, "    order(plan, arm, 0)\n"), (EXAMPLES, '({"commit": True},)')),
        ":N: choose must order at least one pull, got none in turn 1",
    ),
    "an unknown arm in a later plan": Wrong(
        ((ORDER, "    order(plan, arm if pulls < 4 else p.arms, pulls)\n"), (EXAMPLES, '({"commit": True},)')),
        ":N: choose makes a plan with more entries than",
    ),
    "too many pulls": edit(ORDER, "    for k in range(9):\n        order(plan, 0, 1)\n", ":N: choose makes a plan with more"),
    "an arm twice": edit(ORDER, ORDER + ORDER, ":N: choose must order an arm at most once, got arms [0, 0] in turn 1"),
    "too many offers": edit(
        f"        {OFFER}", f"        for k in range(9):\n            {OFFER}", ":N: release offers 9 sums"
    ),
    "a price of nothing": edit(OFFER, "offer(out, k, 0.0)", ":N: release: block_ucb: in turn 1 nothing may leave by a price"),
    "an offer of no arm": edit(
        OFFER, "offer(out, p.arms, 1.0)", ":N: release: block_ucb: in turn 1 nothing may leave by an arm"
    ),
    "words that are missing": edit(
        SAID, "    return 4\n", ":N: speak must return the number of words said, a whole number in 0..3"
    ),
    "words that are no number": edit(
        SAID, "    return 1.5\n", ":N: speak must return the number of words said, a whole number in"
    ),
    "no answer": edit(SAID, "", ":N: speak must return the number of words said, a whole number in 0..3, got None"),
    "a message written": edit(
        "open.count[message.arm] +=", "message.count =", ":N: hear must not write 'message'", "ge.count = m"
    ),
    "a release changed": edit(NEWS, NEWS + "    out.entries = 0\n", ":N: publish must not write 'out'", "out.entries = 0"),
    "a plan changed": edit(NEWS, NEWS + "    plan.pulls[0] = 0\n", ":N: publish must not write 'plan'", "plan.pulls[0] = 0"),
    "peek writes open": Wrong(
        ((CHOOSE, PEEK.format("open.pulls[0] += 1")), (HEAR, 'hear=hear, peek=peek, caveat="a test",\n')),
        ":N: peek must not write 'open'", "pulls[0] += 1",
    ),
    "overhear writes the secret": Wrong(
        ((CHOOSE, OVERHEAR.format("secret.total[0] = 0")), (HEAR, 'hear=hear, overhear=overhear, caveat="a test",\n')),
        ":N: overhear must not write 'secret'", "total[0] = 0",
    ),
    "a sum about no arm": Wrong(
        ((HEAR, 'hear=hear, additive="news",\n'), ("message.arm, message.count, message.total = open.news", "message.arm, "
         "message.count, message.total = open.news - 4")), ":N: speak says a message about an arm that does not exist: -",
    ),
    "uneven plans around a server": Wrong(
        ((ORDER, "    order(plan, arm, 1)\n    order(plan, (arm + 1) % 4, 2)\n"),
         AROUND_A_SERVER),
        ":N: choose must order equally many pulls of all its arms around a server, got [1, 2] in turn 1",
    ),
    "clients with plans of their own": Wrong(
        ((ORDER, "    order(plan, arm, 1 + (die & 7))\n"),
         AROUND_A_SERVER),
        ":N: choose must order equally many pulls for all clients, got ",
    ),
    "a memory outside its records": Wrong(
        ((CHOOSE, "SEEN = []\n\n\n" + CHOOSE), (PULLED, PULLED + "    SEEN.append(1)\n    open.index[0] += len(SEEN)\n")),
        ": two runs with the same seed differ in open.index of block_ucb 0: a hook keeps something outside its records",
    ),
    "a reward taken behind the door": Wrong(
        ((IMPORT, "from sys import _getframe\n" + IMPORT),
         (PULLED, PULLED + "    frame = _getframe()\n    while not hasattr(frame.f_locals.get('self'), 'secret'):\n"
          "        frame = frame.f_back\n    open.index[0] = frame.f_locals['self'].secret.total.sum()\n")),
        ": one changed reward shows in open.index of block_ucb 0, though all that passed the door is the same",
    ),
}  # fmt: skip

WRONG = THE_FILE | ITS_PARTS | ITS_TEXT | ITS_RUN


@pytest.fixture
def here(monkeypatch):
    """The same checks, but in this process: another one would have to start and to compile its dice for every file."""
    monkeypatch.setattr(apart, "steps", lambda target, part: getattr(inspection, part)(target))


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_line_with_its_place_and_exit_code_2(name, here, tmp_path, monkeypatch, capsys):
    (tmp_path / "mine.py").write_text(WRONG[name].text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["coterie", "check", "mine.py", "--quick", "--json"])
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert err.startswith(f"coterie: mine.py{WRONG[name].line}"), f"{err}\nwanted: {WRONG[name].line}"
    assert stopped.value.code == 2 and out == "" and len(err.splitlines()) == 1
    assert "Traceback" not in err and "numba" not in err and "bug" not in err
