"""What one agent seals for another: nobody else can open it, and nobody else can have made it.

X25519 of the two standing keys, HKDF to a key for one run, epoch, sender, holder and list of arms, ChaCha20-Poly1305. A piece
that was moved to another place in any of these does not open.
"""

import hashlib
import os
from collections.abc import Mapping
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from coterie.deploy.secure.shamir import WORD

DOMAIN = b"coterie/1 piece\0"
NONCE, TAG = 12, 16


class DoesNotOpen(Exception):
    """It was sealed with another key, for another place, or altered."""


class Place(NamedTuple):
    """Where pieces belong: which epoch of which run, and which arms their numbers are of, in this order."""

    run: bytes
    epoch: int
    arms: tuple[int, ...]

    def between(self, sender: str, holder: str) -> bytes:
        parts = [self.run, self.epoch.to_bytes(8, "little"), repr(self.arms).encode(), sender.encode(), holder.encode()]
        return DOMAIN + b"".join(hashlib.sha256(part).digest() for part in parts)


class Box:
    """One agent's key, and the public keys of all."""

    def __init__(self, name: str, key: X25519PrivateKey, public: Mapping[str, bytes]):
        self.name, self.key, self.public = name, key, public
        self.shared: dict[str, bytes] = {}

    def seal(self, place: Place, holder: str, data: bytes) -> bytes:
        nonce, context = os.urandom(NONCE), place.between(self.name, holder)
        return nonce + self._cipher(holder, context).encrypt(nonce, data, context)

    def open(self, place: Place, sender: str, sealed: bytes) -> bytes:
        context = place.between(sender, self.name)
        try:
            return self._cipher(sender, context).decrypt(sealed[:NONCE], sealed[NONCE:], context)
        except (InvalidTag, ValueError):
            raise DoesNotOpen(f"a piece of {sender} does not open") from None

    def _cipher(self, other: str, context: bytes) -> ChaCha20Poly1305:
        if other not in self.shared:
            self.shared[other] = self.key.exchange(X25519PublicKey.from_public_bytes(self.public[other]))
        return ChaCha20Poly1305(HKDF(hashes.SHA256(), 32, None, context).derive(self.shared[other]))


def sealed_size(numbers: int) -> int:
    """Bytes of a sealed piece of so many numbers."""
    return NONCE + TAG + WORD * numbers
