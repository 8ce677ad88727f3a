"""What is written is whole or not there, and everything that writes does it in one way."""

import ast
import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coterie.errors import FencedError, StorageError
from coterie.files import alone, make_folder, read, write

SOURCES = sorted((Path(__file__).parents[1] / "src/coterie").rglob("*.py"))
WRITES = {"write_text", "write_bytes", "rename", "savetxt", "sink_parquet", "write_csv", "mkdtemp", "mkstemp", "rmtree"}
CODE = "from pathlib import Path; from coterie.files import {0}; {1}"


def python(code, *arguments, **options):
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, text=True, **options)


def test_what_was_written_is_read_again_and_nothing_else_is_left(tmp_path):
    for durable in (True, False):
        write(tmp_path / "new/page.html", "ε = 1", durable)
        write(tmp_path / "new/page.html", "ε = 2", durable)
        assert read(tmp_path / "new/page.html") == "ε = 2".encode()
    assert os.listdir(tmp_path / "new") == ["page.html"]


def test_a_full_disk_is_an_error_of_storage_and_the_old_file_stays(tmp_path, full_disk):
    write(tmp_path / "page.html", "old")
    full_disk()
    for name in ("page.html", "other.html"):
        with pytest.raises(StorageError, match=rf"^\S+{name}: cannot be written: No space left on device$"):
            write(tmp_path / name, "new and longer")
    assert os.listdir(tmp_path) == ["page.html"] and read(tmp_path / "page.html") == b"old"


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("stopped", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()], ids=["refused", "stopped"])
def test_whatever_stops_a_writer_leaves_no_half_of_a_file(tmp_path, monkeypatch, step, stopped):
    def stop(*_):
        raise stopped

    write(tmp_path / "page.html", "old")
    monkeypatch.setattr(os, step, stop)
    with pytest.raises((StorageError, KeyboardInterrupt)):
        write(tmp_path / "page.html", "new")
    assert os.listdir(tmp_path) == ["page.html"] and read(tmp_path / "page.html") == b"old"


def test_a_limit_on_the_size_of_files_is_met_in_the_same_way(tmp_path):
    limit = "import resource, sys; sys.dont_write_bytecode = True; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    attempt = "write(Path(__import__('sys').argv[1]), 'x' * 100_000)"
    done = python(f"{limit}; {CODE.format('write', attempt)}", tmp_path / "big", stderr=subprocess.PIPE)
    assert "StorageError" in done.communicate()[1] and os.listdir(tmp_path) == []


def test_a_file_where_a_folder_should_be_is_named(tmp_path):
    (tmp_path / "taken").write_text("a file")
    for attempt in (
        lambda: make_folder(tmp_path / "taken"),
        lambda: make_folder(tmp_path / "taken/in/it"),
        lambda: write(tmp_path / "taken/page.html", "x"),
        lambda: read(tmp_path / "taken/page.html"),
    ):
        with pytest.raises(StorageError, match=r": cannot be (made|written|read): (it|\S+/taken) is a file, and no folder$"):
            attempt()
    for attempt in (lambda: write(tmp_path, "x"), lambda: read(tmp_path)):
        with pytest.raises(StorageError, match=r": it is a folder$"):
            attempt()
    assert os.listdir(tmp_path) == ["taken"] and (tmp_path / "taken").read_text() == "a file"


def test_a_link_is_followed_and_a_pipe_is_no_file_to_be_replaced(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write(tmp_path / "link", "through")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_text() == "through"
    write(Path(os.devnull), "nowhere")
    assert not Path(os.devnull).is_file()


def test_a_protected_file_is_not_replaced(tmp_path, monkeypatch):
    write(tmp_path / "signed.html", "signed")
    opened = Path.open

    def protected(path, mode="r", *rest):  # root may write what is protected
        if path.name == "signed.html" and mode != "rb":
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, mode, *rest)

    monkeypatch.setattr(Path, "open", protected)
    with pytest.raises(StorageError, match=r"signed\.html: cannot be written: Permission denied"):
        write(tmp_path / "signed.html", "other")
    assert read(tmp_path / "signed.html") == b"signed"


def test_a_folder_belongs_to_one_process_until_that_ends_in_whatever_way(tmp_path):
    hold = "c = alone(Path(__import__('sys').argv[1])); c.__enter__(); print('mine', flush=True); input()"
    other = python(CODE.format("alone", hold), tmp_path, stdin=subprocess.PIPE)
    assert other.stdout.readline() == "mine\n"
    with pytest.raises(FencedError, match="is in use by another run"), alone(tmp_path):
        pass
    other.kill()
    other.communicate()
    with alone(tmp_path):
        assert os.listdir(tmp_path) == []
        with pytest.raises(FencedError), alone(tmp_path):  # a thread of the same process is another one, too
            pass


def writes(call):
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    words = [ast.unparse(word) for word in call.args]
    if name == "open":
        modes = [word.value for word in call.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        return any(set(mode) & set("wax+") for mode in modes) and words != ["os.devnull", "'w'"]
    return name in WRITES or (name in {"savez", "write_parquet"} and "buffer" not in words)


def test_nothing_else_in_the_package_writes_files():
    calls = {path: [item for item in ast.walk(ast.parse(path.read_text())) if isinstance(item, ast.Call)] for path in SOURCES}
    assert [path.name for path, found in calls.items() if any(map(writes, found))] == ["files.py"]


def test_texts_are_read_the_same_whatever_the_locale():
    """In one without UTF-8 no engine could be written down, as our own sources say ε."""
    items = [(path.name, item) for path in SOURCES for item in ast.walk(ast.parse(path.read_text("utf-8")))]
    calls = [(name, item) for name, item in items if isinstance(item, ast.Call) and isinstance(item.func, ast.Attribute)]
    reads = [(name, call) for name, call in calls if call.func.attr == "read_text"]
    assert [name for name, call in reads if not call.args and "encoding" not in {word.arg for word in call.keywords}] == []
    assert len(reads) > 5
