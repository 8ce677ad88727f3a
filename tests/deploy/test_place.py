"""The folder of a member: one process, one run, for its owner alone."""

import os
import subprocess
import sys

import pytest
from nodes import make_federation

from coterie.deploy.place import RUN, place
from coterie.errors import AuthError, FencedError, StateError, StorageError, UsageError

NOTE = '{"name": "north", "file": "", "source": "", "parameters": "", "run": %s}'


@pytest.fixture
def federation(tmp_path):
    return make_federation(tmp_path)


def test_a_new_folder_is_private_and_belongs_to_the_run_from_then_on(tmp_path, federation):
    with place(tmp_path / "north", federation, "north") as found:
        assert found.ledger.parent == tmp_path / "north" and (tmp_path / "north").stat().st_mode & 0o777 == 0o700
    with place(tmp_path / "north", federation, "north"):
        pass


def test_one_process_at_a_time(tmp_path, federation):
    with place(tmp_path / "north", federation, "north"):
        with (
            pytest.raises(FencedError, match="in use by another process") as caught,
            place(tmp_path / "north", federation, "north"),
        ):
            pass
        assert caught.value.exit_code == 6
        other = (
            f"import fcntl, os; fcntl.flock(os.open({str(tmp_path / 'north')!r}, os.O_RDONLY), fcntl.LOCK_EX | fcntl.LOCK_NB)"
        )
        assert subprocess.run([sys.executable, "-c", other], stderr=subprocess.DEVNULL).returncode != 0
    with place(tmp_path / "north", federation, "north"):
        pass


@pytest.mark.parametrize(
    ("change", "words"),
    [({"horizon": 77}, "with another version of the federation file and the algorithm's parameters"),
     ({"title": "the same run"}, None), ({"arms": 2}, "the federation file")],
)  # fmt: skip
def test_the_folder_of_another_run_is_refused_and_kept(tmp_path, federation, change, words):
    folder = tmp_path / "north"
    with place(folder, federation, "north"):
        before = (folder / RUN).read_bytes()
    (tmp_path / "other").mkdir()
    other = make_federation(tmp_path / "other", **change)
    if words is None:
        with place(folder, other, "north"):
            pass
    else:
        with pytest.raises(UsageError, match=words) as caught, place(folder, other, "north"):
            pass
        assert caught.value.exit_code == 2
    assert (folder / RUN).read_bytes() == before


def test_the_folder_of_another_member_is_refused(tmp_path, federation):
    with place(tmp_path / "north", federation, "north"):
        pass
    wrong = pytest.raises(UsageError, match="must be the folder of 'south', got that of 'north'")
    with wrong, place(tmp_path / "north", federation, "south"):
        pass


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "[" * 99_999, *(NOTE % run for run in ("5", "null", '"x"', '"\\ud8"'))])
def test_a_damaged_note_is_told_and_kept(tmp_path, federation, text):
    with place(tmp_path / "north", federation, "north"):
        (tmp_path / "north" / RUN).write_text(text)
    with pytest.raises(StateError, match=r"run.json: is damaged"), place(tmp_path / "north", federation, "north"):
        pass
    assert (tmp_path / "north" / RUN).read_text() == text


def test_a_folder_that_others_can_read_is_refused(tmp_path, federation):
    (tmp_path / "north").mkdir(mode=0o755)
    wrong = pytest.raises(AuthError, match=r"must be for its owner alone \(chmod 700\), got mode 755")
    with wrong as caught, place(tmp_path / "north", federation, "north"):
        pass
    assert caught.value.exit_code == 5


def test_a_file_is_no_folder(tmp_path, federation):
    (tmp_path / "north").write_text("")
    with pytest.raises(UsageError, match="must be a folder"), place(tmp_path / "north", federation, "north"):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_refused_at_the_start(tmp_path, federation):
    (tmp_path / "north").mkdir(mode=0o500)
    with pytest.raises(StorageError) as caught, place(tmp_path / "north", federation, "north"):
        pass
    assert caught.value.exit_code == 7


def test_a_disk_that_refuses_is_told_at_the_start(tmp_path, federation, monkeypatch):
    """As root, too: what would be written is tried."""
    (tmp_path / "north").mkdir(mode=0o700)

    def refuse(*args, **kwargs):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("coterie.files.tempfile.TemporaryFile", refuse)
    with pytest.raises(StorageError, match="Read-only file system"), place(tmp_path / "north", federation, "north"):
        pass
