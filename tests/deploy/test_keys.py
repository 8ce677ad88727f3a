"""Two keys, for their owner alone."""

import pytest

from coterie.deploy.keys import CONNECT, SIGN, load_keys, make_keys
from coterie.deploy.tables import nkey_bytes
from coterie.errors import AuthError, StorageError, UsageError


def test_keys_are_kept_and_their_public_halves_are_what_a_file_takes(tmp_path):
    made = make_keys(tmp_path / "north")
    found = load_keys(tmp_path / "north")
    assert (found.signs, found.connects) == (made.signs, made.connects)
    assert len(found.signs) == 64 and len(nkey_bytes(found.connects)) == 32 and nkey_bytes(found.connects).hex() != found.signs
    assert (tmp_path / "north").stat().st_mode & 0o777 == 0o700
    assert all((tmp_path / "north" / name).stat().st_mode & 0o777 == 0o600 for name in (SIGN, CONNECT))


def test_the_key_that_others_seal_with_follows_from_the_one_that_signs_and_is_another(tmp_path):
    made, other = make_keys(tmp_path / "north"), make_keys(tmp_path / "south")
    assert load_keys(tmp_path / "north").seals == made.seals == made.seal.public_key().public_bytes_raw().hex()
    assert len({made.seals, made.signs, other.seals}) == 3
    assert made.seal.private_bytes_raw() != made.sign.private_bytes_raw()
    assert made.line("north") == {"name": "north", "signs": made.signs, "connects": made.connects, "seals": made.seals}


def test_no_two_are_alike(tmp_path):
    made = [make_keys(tmp_path / str(i)) for i in range(3)]
    assert len({keys.signs for keys in made}) == len({keys.connects for keys in made}) == 3


def test_keys_in_use_are_made_anew_only_when_this_is_meant(tmp_path):
    before = make_keys(tmp_path)
    with pytest.raises(UsageError, match="must not be there yet"):
        make_keys(tmp_path)
    assert load_keys(tmp_path).signs == before.signs
    assert make_keys(tmp_path, anew=True).signs != before.signs


@pytest.mark.parametrize("name", [SIGN, CONNECT])
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o622])
def test_a_key_that_others_can_read_or_write_is_refused(tmp_path, name, mode):
    make_keys(tmp_path)
    (tmp_path / name).chmod(mode)
    with pytest.raises(AuthError, match=rf"{name}: must be for its owner alone \(chmod 600\), got mode {mode:o}") as caught:
        load_keys(tmp_path)
    assert caught.value.exit_code == 5


@pytest.mark.parametrize("name", [SIGN, CONNECT])
@pytest.mark.parametrize("text", ["", "zz", "SU" + "A" * 56, "\xff"])
def test_damaged_and_missing_keys_are_told(tmp_path, name, text):
    make_keys(tmp_path)
    (tmp_path / name).write_text(text)
    with pytest.raises(AuthError, match="got damaged ones"):
        load_keys(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(AuthError, match="got no file"):
        load_keys(tmp_path)


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        make_keys(tmp_path / "file" / "north")


def test_no_key_is_ever_shown(tmp_path):
    keys = make_keys(tmp_path)
    secret = (tmp_path / SIGN).read_text().strip()
    (tmp_path / CONNECT).write_text("damaged")
    with pytest.raises(AuthError) as caught:
        load_keys(tmp_path)
    assert secret not in str(caught.value) and keys.seed not in str(caught.value)


def test_a_folder_in_the_place_of_a_key_is_called_one(tmp_path):
    make_keys(tmp_path)
    (tmp_path / SIGN).unlink()
    (tmp_path / SIGN).mkdir(mode=0o755)
    with pytest.raises(AuthError, match="must be a key that `coterie agent init` makes, got a folder"):
        load_keys(tmp_path)
