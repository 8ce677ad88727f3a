"""The folder of a run: damage is found and named, starting again removes what is ours, and one process at a time writes."""

import json
import os
import shutil
from contextlib import suppress
from math import inf

import numpy as np
import pytest

from coterie.errors import FencedError, StateError, StorageError, UsageError
from coterie.studies import load_study, running
from coterie.studies.results import manifest
from coterie.studies.running import run_batches
from coterie.studies.store import RESULTS, clear, is_run, load_part, open_folder, read_manifest, save_part

STUDY = {
    "horizon": 2000,
    "replications": 6,
    "seed": 3,
    "problem": {"means": [0.9, 0.6, 0.3, 0.1], "agents": 5},
    "algorithm": [{"name": "cdp-mab", "sweep": {"epsilon": [1, float("inf")]}}],
}
PART = "parts/0000-0000000.npz"


@pytest.fixture(scope="module")
def study():
    return load_study(STUDY)


@pytest.fixture(scope="module")
def finished(study, tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished")
    study.run(out=folder)
    return folder


@pytest.fixture(scope="module")
def broken_off(study, tmp_path_factory):
    """All batches are there, and no results."""
    folder = tmp_path_factory.mktemp("broken_off")
    with open_folder(folder, manifest(study.specification)), pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "KEPT_EVERY", 0.0)
        run_batches(study.specification, parts=folder / "parts")
    return folder


def test_of_what_ends_at_once_no_batch_is_kept_and_of_what_is_broken_off_all_are(study, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "KEPT_EVERY", inf)
    run_batches(study.specification, parts=tmp_path / "whole")
    assert not (tmp_path / "whole").exists()
    real, done = running.LocalCrew.next, []

    def interrupted(crew):
        if done:
            raise KeyboardInterrupt
        answer = real(crew)
        done.extend(answer[:1] if answer else ())
        return answer

    monkeypatch.setattr(running.LocalCrew, "next", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_batches(study.specification, parts=tmp_path / "half")
    assert [path.stem for path in (tmp_path / "half").iterdir()] == [batch.name for batch in done]


@pytest.fixture
def run(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "run")


@pytest.fixture
def half(broken_off, tmp_path):
    return shutil.copytree(broken_off, tmp_path / "half")


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def results(folder):
    """But for what a clock has said."""
    return {name: (folder / name).read_bytes() for name in RESULTS if name.endswith("parquet")}


def refusal(study, folder):
    """The one line; nothing in the folder has changed."""
    before = contents(folder)
    with pytest.raises(StateError) as raised:
        study.run(out=folder)
    assert contents(folder) == before and "\n" not in str(raised.value)
    return str(raised.value)


MANIFESTS = {
    "a list": b"[]",
    "not UTF-8": b"\xff\xfe\x00",
    "cut short": b'{\n "study": {',
    "empty": b"",
    "a number": b"1",
    "deep": b"[" * 100_000,
    "a table of something else": b'{"name": "an app", "icons": []}',
}


@pytest.mark.parametrize("damage", MANIFESTS)
def test_a_damaged_manifest_is_named_and_a_fresh_run_mends_it(study, finished, run, damage):
    (run / "manifest.json").write_bytes(MANIFESTS[damage])
    line = refusal(study, run)
    assert line.startswith(f"{run}/manifest.json: damaged, ") and line.endswith(": --fresh starts again")
    study.run(out=run, fresh=True)
    assert results(run) == results(finished) and read_manifest(run)["seed"] == 3


@pytest.mark.parametrize("key", ["study", "name", "hash", "version", "seed", "platform", "created", "sha256"])
def test_a_manifest_that_lacks_anything_is_damaged(study, run, key):
    found = json.loads((run / "manifest.json").read_text())
    for value in (None, [1]):
        (run / "manifest.json").write_text(json.dumps(found | {key: value}))
        line = refusal(study, run)
        assert "manifest.json: damaged, it has no " in line and "--fresh starts again" in line
    del found[key]
    (run / "manifest.json").write_text(json.dumps(found))
    assert "manifest.json: damaged, it has no " in refusal(study, run)


@pytest.mark.parametrize("rows", ["[]", "[1]", "[{}]", "{}", "null"])
def test_a_summary_of_other_rows_is_damaged(study, run, rows):
    (run / "summary.json").write_text(f'{{"study": {{}}, "rows": {rows}}}')
    assert refusal(study, run) == f"{run}/summary.json: damaged, it is not what was written: --fresh starts again"


@pytest.mark.parametrize("name", RESULTS)
def test_results_that_are_cut_short_changed_or_gone_are_named(study, finished, run, name):
    whole = (run / name).read_bytes()
    for bad in (b"", whole[: len(whole) // 2], whole + b" ", bytes([whole[0] ^ 1]) + whole[1:]):
        (run / name).write_bytes(bad)
        assert refusal(study, run).startswith(f"{run}/{name}: damaged, it is not what was written")
    if name != "summary.json":  # without a summary a run is not complete, and goes on
        (run / name).unlink()
        assert refusal(study, run).startswith(f"{run}/{name}: damaged, it is missing")
    study.run(out=run, fresh=True)
    assert results(run) == results(finished)


def test_a_part_is_read_as_it_was_written_or_called_damaged_wherever_it_was_cut(tmp_path):
    path, columns = tmp_path / "0000-0000000.npz", {"curves": np.arange(12.0).reshape(4, 3), "epsilon": np.ones(4)}
    save_part(path, columns)
    whole, found = path.read_bytes(), load_part(path, 4)
    assert found.keys() == columns.keys() and all(np.array_equal(found[name], columns[name]) for name in columns)
    for length in range(1, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(StateError, match=r"0000-0000000\.npz: damaged, it cannot be read"):
            load_part(path, 4)
    path.write_bytes(whole)
    with pytest.raises(StateError, match="columns or runs are missing"):
        load_part(path, 5)


@pytest.mark.parametrize("left_out", ["all", "curves", "epsilon", "holds"])
def test_a_part_without_its_columns_is_damaged(study, half, left_out):
    kept = {name: values for name, values in np.load(half / PART).items() if left_out not in ("all", name)}
    np.savez(half / PART, **kept)
    line = refusal(study, half)
    assert line.startswith(f"{half}/{PART}: damaged, ")
    assert line.endswith(": without this file its batch is run again; --fresh starts again")


def test_without_the_damaged_part_or_where_a_power_cut_left_it_empty_its_batch_is_run_again(study, finished, half):
    (half / PART).write_bytes(b"")
    (half / "parts/0001-0000000.npz").unlink()
    study.run(out=half)
    assert results(half) == results(finished) and not (half / "parts").exists()


def test_what_was_left_half_written_is_ignored_and_removed(study, finished, half, tmp_path):
    left = [".coterie-0123abcd.tmp", "parts/.coterie-0123abcd.tmp", "parts/0000-0000000.tmp"]
    for name in left:
        (half / name).write_bytes(b"half of")
    (half / "parts/notes.tmp").write_text("not ours")
    study.run(out=half)
    assert results(half) == results(finished)
    assert not any((half / name).exists() for name in left) and (half / "parts/notes.tmp").exists()
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / left[0]).write_bytes(b"half of a manifest")
    with open_folder(tmp_path / "killed", manifest(study.specification)) as complete:
        assert not complete and os.listdir(tmp_path / "killed") == ["manifest.json"]


def test_a_fresh_start_removes_what_a_run_wrote_and_nothing_else(half, run):
    (run / "report.html").write_text("a page")
    shutil.copytree(half / "parts", run / "parts")
    for name in ("notes.txt", "parts/notes.txt", "other.parquet"):
        (run / name).write_text("mine")
    (run / "folder").mkdir()
    clear(run)
    assert {str(path.relative_to(run)) for path in run.rglob("*")} == {
        "notes.txt", "parts", "parts/notes.txt", "other.parquet", "folder"
    }


def test_a_fresh_start_where_nothing_is_yet_is_a_start(study, finished, tmp_path):
    study.run(out=tmp_path / "new", fresh=True)
    assert results(tmp_path / "new") == results(finished)


NO_RUNS = {
    "files of others": {"thesis.tex": "words", ".coterie-0123abcd.tmp": "being written"},
    "a file named like half of a part": {"2026-1234567.tmp": "words"},
    "a manifest of another program": {"manifest.json": '{"name": "app"}'},
    "two files with names like ours": {"manifest.json": '{"name": "app"}', "report.html": "a page"},
    "a damaged manifest beside files of others": {"manifest.json": "[]", "replications.parquet": "x", "thesis.tex": "words"},
    "parts of others": {"manifest.json": "[]", "parts/engine.npz": "x"},
}


@pytest.mark.parametrize("which", NO_RUNS)
def test_a_folder_that_is_no_run_is_refused_and_left_alone(study, tmp_path, which):
    for name, text in NO_RUNS[which].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = contents(tmp_path)
    with pytest.raises(StateError, match="must be empty or hold a run to be begun afresh, got other files: nothing was"):
        study.run(out=tmp_path, fresh=True)
    assert contents(tmp_path) == before and not is_run(tmp_path)
    assert "--fresh" not in refusal(study, tmp_path)  # no remedy is named that would be refused


def test_parts_that_are_a_link_are_not_followed(half, tmp_path):
    shutil.move(half / "parts", tmp_path / "elsewhere")
    (half / "parts").symlink_to(tmp_path / "elsewhere")
    before = contents(tmp_path)
    with pytest.raises(StateError, match="parts: must be a folder, got a link: nothing was removed"):
        clear(half)
    assert contents(tmp_path) == before


def test_something_else_in_the_place_of_a_file_is_found_before_anything_runs(study, tmp_path):
    for name in ("a", "b"):
        with open_folder(tmp_path / name, manifest(study.specification)):
            pass
    (tmp_path / "a/parts").write_text("a file")
    (tmp_path / "b/report.html").mkdir()
    (tmp_path / "c").write_text("a file")
    for fresh in (False, True):
        for name, line in {
            "a": "a/parts: must be a folder, got a file",
            "b": "b/report.html: must be a file, got a folder",
            "c": "c: cannot be made: it is a file, and no folder",
            "c/d": "c is a file, and no folder",
        }.items():
            with (
                pytest.raises(StorageError, match=f"/{line}$"),
                open_folder(tmp_path / name, manifest(study.specification), fresh),
            ):
                pass
    assert sorted(contents(tmp_path)) == ["a/manifest.json", "a/parts", "b/manifest.json", "c"]


def test_a_folder_that_another_run_is_in_is_refused_but_a_finished_one_is_shown(study, half, run):
    before = contents(half)
    with open_folder(half, manifest(study.specification)):
        for fresh in (False, True):
            with pytest.raises(FencedError, match=r"/half: is in use by another run: wait until it has ended, or name another"):
                study.run(out=half, fresh=fresh)
    assert contents(half) == before
    with open_folder(run, manifest(study.specification)):
        assert len(study.run(out=run).summary) == 2


def test_what_a_refused_run_has_made_goes_away_again_and_what_was_there_stays(study, half, tmp_path):
    about, before = manifest(study.specification), contents(half)
    (tmp_path / "kept").mkdir()
    for name in ("new/below", "kept"):
        with pytest.raises(UsageError), open_folder(tmp_path / name, about):
            (tmp_path / name / "parts").mkdir()
            (tmp_path / name / "parts/0000-0000000.npz").write_bytes(b"part")
            raise UsageError("horizon must be shorter")
    assert not (tmp_path / "new").exists() and not list((tmp_path / "kept").iterdir())
    with pytest.raises(UsageError), open_folder(half, about):
        raise UsageError("horizon must be shorter")
    assert contents(half) == before


@pytest.mark.parametrize("files", range(4))
def test_a_disk_that_is_full_at_any_moment_leaves_whole_files_and_the_run_goes_on(study, finished, half, full_disk, files):
    full_disk(files)
    with pytest.raises(StorageError, match="cannot be written: No space left on device"):
        study.run(out=half)
    assert not (half / "summary.json").exists() and not list(half.rglob("*.tmp"))
    full_disk(100)
    study.run(out=half)
    assert results(half) == results(finished)


def test_a_disk_that_is_full_from_the_start_or_at_the_first_part_leaves_no_half(study, tmp_path, full_disk):
    for files, left in ((0, []), (1, ["manifest.json"])):
        full_disk(files)
        with pytest.raises(StorageError):
            study.run(out=tmp_path / "run")
        assert sorted(contents(tmp_path / "run")) == left
        with suppress(FileNotFoundError):
            (tmp_path / "run/manifest.json").unlink()


def test_a_folder_that_may_not_be_written_is_an_error_of_storage_and_a_finished_run_can_be_read(study, half, run, monkeypatch):
    def protected(*_):  # root may write anywhere
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("coterie.files._replace", protected)
    with pytest.raises(StorageError, match=r"results\.parquet: cannot be written: Permission denied"):
        study.run(out=half)
    assert len(study.run(out=run).summary) == 2
