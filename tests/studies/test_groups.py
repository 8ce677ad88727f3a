"""Which settings rows differ in."""

from coterie.studies.groups import groups_by, sweep_of


def row(label, algorithm="m", faults=None, **parameters):
    return {"label": label, "algorithm": algorithm, "parameters": parameters, "faults": faults or {}}


def line(key, values, name="m", **more):
    return [row(f"{name} {key}={'inf' if value is None else value}", name, **{key: value}, **more) for value in values]


def test_rows_that_differ_in_some_keys_only_are_a_group():
    rows = [row(f"{name} liars={liars}", name, {"liars": liars}) for name in ("a", "b") for liars in (0.1, 0.2)]
    assert groups_by(rows, ("liars",)) == [{"name": "a", "rows": [0, 1]}, {"name": "b", "rows": [2, 3]}]
    other = [*rows, row("a rate=2 liars=0.1", "a", {"liars": 0.1}, rate=2)]
    assert [group["rows"] for group in groups_by(other, ("liars",))] == [[0, 1], [2, 3], [4]]


def test_a_sweep_is_in_the_order_of_its_numbers_and_rows_without_one_are_beside_it():
    found = sweep_of(line("epsilon", [2, 0.5, None, 1]))
    assert found.key == "epsilon" and found.lines[0].rows == [1, 3, 0] and found.lines[0].rest == [2]
    found = sweep_of([row("other", "x"), *line("epsilon", [1, 2, 5])])
    assert found.others == [0] and [one.name for one in found.lines] == ["m"]


def test_what_is_no_sweep():
    assert sweep_of([row("a", "a"), row("b", "b")]) is None
    assert sweep_of(line("votes", ["median", "mean"])) is None
    assert sweep_of(line("own_clip", [True, False])) is None
    assert sweep_of([row("x", "x"), row("y", "y"), *line("epsilon", [1, 2, 5])]) is None  # more than one row beside it
    pairs = [one for name in ("a", "b") for one in line("epsilon", [1, 2], name)]
    assert sweep_of(pairs) is None  # two values make a sweep only where they are all there is


def test_of_two_settings_that_which_puts_more_rows_in_line():
    rows = [row(f"m rounds={r} share={s}", rounds=r, share=s) for r in (2, 3, 4) for s in (1, 2, 3, 4)]
    found = sweep_of(rows)
    assert found.key == "share" and len(found.lines) == 3
    assert sweep_of([row(f"m epsilon={e} rate={r}", epsilon=e, rate=r) for e in (1, 2, 3) for r in (1, 2)]).key == "epsilon"


def test_faults_may_be_swept_too():
    assert sweep_of([row(f"m loss={loss}", faults={"loss": loss}) for loss in (0.1, 0.2, 0.3)]).key == "loss"
