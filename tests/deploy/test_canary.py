"""A reward, a key and a person that can be recognised are looked for everywhere but in the file that may hold them."""

import itertools
import signal
import struct

import pytest
from commands import call, run_here, started, state, until

from coterie.deploy.federation import federation_text
from coterie.deploy.keys import make_keys
from coterie.kernel import UNIT

KEY, REWARD = "patient Zebulon-7719", 0.7310546875  # a number of the grid, so that it is kept as it is
PERSON = "person Quillfeather"
TRIALS = 40
STEPS = int(REWARD * UNIT)
SUMS = [struct.pack("<q", STEPS * count) for count in range(1, TRIALS + 1)]  # as records hold them
TRACES = [b"Zebulon", b"Quillfeather", str(REWARD).encode(), struct.pack("<d", REWARD), struct.pack(">d", REWARD), *SUMS]


@pytest.fixture
def home(tmp_path):
    keys = make_keys(tmp_path / "north")
    (tmp_path / "north").chmod(0o700)
    tables = {
        "arms": ["a", "b"], "horizon": 1000, "tick": 0.01, "algorithm": {"name": "dp-ucb-int", "epsilon": 1.0},
        "rewards": {"within": "at once"}, "agents": [{"name": "north", "signs": keys.signs, "connects": keys.connects}],
    }  # fmt: skip
    (tmp_path / "north" / "federation.toml").write_text(federation_text(tables))
    (tmp_path / "north" / "settings.toml").write_text("[budget]\nperson = 1000.0\n")
    return tmp_path / "north"


def test_neither_is_in_any_log_metric_page_error_or_in_the_ledger(home, tmp_path):
    seen = []
    with started("agent", home, "--listen", "127.0.0.1:0", cwd=tmp_path, first="north: ") as process:
        port = int(process.said[-1].partition("127.0.0.1:")[2].partition("/")[0])
        token = (home / "token").read_text().strip()

        def said(method, path, body=None):
            status, text = call(port, method, path, body, token)
            seen.append(f"{method} {status} {text}")
            return status, text

        def visited(number):
            _, text = call(port, "POST", "/v1/decisions", {"key": f"{KEY} {number}", "person": PERSON}, token)
            decision = text.partition('"id":"')[2].partition('"')[0]
            assert call(port, "PUT", f"/v1/decisions/{decision}/reward", {"reward": REWARD}, token)[0] == 204
            return decision

        decision = [visited(number) for number in range(TRIALS)][-1]
        assert said("PUT", f"/v1/decisions/{decision}/reward", {"reward": 0.5})[0] == 409
        assert said("PUT", f"/v1/decisions/{decision}/reward", {"reward": 10 * REWARD})[0] == 422
        assert said("PUT", f"/v1/decisions/{KEY.split()[1]}/reward", {"reward": REWARD})[0] == 404
        assert said("POST", "/v1/decisions", {"key": KEY + "x" * 200})[0] == 422
        assert said("POST", "/v1/decisions", {"patient": KEY})[0] == 422
        assert said("POST", "/v1/decisions", {"person": PERSON + "x" * 200})[0] == 422
        more = itertools.count(TRIALS)  # who asks faster than turns are taken gets answers that no plan waits for
        until(lambda: [visited(next(more)) for _ in range(5)] and state(port)["turn"] > 20)
        for path in ("/", "/v1/state", "/metrics", "/openapi.json", "/health/ready"):
            assert said("GET", path)[0] == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 143
    seen += process.said
    for command in ("doctor", "ledger"):
        seen += [run_here(command, home, *form, cwd=tmp_path).stdout for form in ((), ("--json",))]
    everything = {path.name: path.read_bytes() for path in (*home.iterdir(), *tmp_path.glob("persons.db*"))}
    assert b"Zebulon" in b"".join(data for name, data in everything.items() if name.startswith("rewards.db"))
    open_to_see = {name: data for name, data in everything.items() if not name.startswith("rewards.db")}
    assert {"ledger.db", "persons.db"} <= open_to_see.keys()
    for name, data in (open_to_see | {"what was said": "".join(seen).encode()}).items():
        assert [trace for trace in TRACES if trace in data] == [], name
