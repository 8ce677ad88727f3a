"""Hashes that follow one another."""

from hashlib import sha256

import pytest
from msgspec import msgpack

from coterie.deploy.stores.chain import digest, links


def test_a_digest_is_sha256_of_msgpack_so_that_others_can_check_it():
    assert digest(b"head", 1, "arm", 0.5) == sha256(msgpack.encode([b"head", 1, "arm", 0.5])).digest()


def test_every_link_covers_its_row_and_all_before_it():
    rows = [(1, "a"), (2, "b"), (3, "c")]
    one, two, three = links(b"start", rows)
    assert (one, two, three) == (digest(b"start", 1, "a"), digest(one, 2, "b"), digest(two, 3, "c"))
    changed = list(links(b"start", [(1, "A"), *rows[1:]]))
    assert not set(changed) & {one, two, three}
    assert list(links(b"start", [])) == []


@pytest.mark.parametrize(
    "one, other", [((1, "2"), ("1", 2)), (("ab", "c"), ("a", "bc")), ((1,), (1.0,)), ((None,), (0,)), ((b"a",), ("a",))]
)
def test_rows_that_differ_have_digests_that_differ(one, other):
    assert digest(*one) != digest(*other)
