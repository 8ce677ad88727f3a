"""A hello can be read by whoever gets it, and bytes that are none never raise."""

from hypothesis import given
from hypothesis import strategies as st

from coterie.deploy.wire.envelope import BYTES_MOST
from coterie.deploy.wire.hello import NAMED_MOST, hello, read_hello


def test_what_is_said_is_read():
    word = hello(7, {"south": (3, 4)}, proof=b"signed", lane="say")
    said = read_hello(word.body)
    assert (word.kind, word.turn, said.whole, said.proof, said.lane) == ("hello", 7, {"south": (3, 4)}, b"signed", "say")


def test_two_copies_of_a_folder_do_not_say_the_same():
    assert hello(7).body != hello(7).body


def test_it_fits_into_an_envelope_however_many_there_are():
    word = hello(7, {f"{i:040}": (2**53, 2**53) for i in range(10 * NAMED_MOST)})
    assert len(word.body) < BYTES_MOST // 2


@given(st.binary(max_size=200))
def test_other_bytes_are_none(body):
    said = read_hello(body)
    assert said is None or isinstance(said.whole, dict)
