"""The two keys of a member. Both are made where they are used, and only their public halves are handed over.

One signs words; the other opens the connection. A broker has its clients sign a nonce of its own choosing, so the key that does
that must never be the one that signs words. A third, with which others seal pieces of secure sums to a member, is derived from
the first: there is no more to keep.
"""

import base64
import os
import stat
from pathlib import Path
from typing import NamedTuple

import nkeys
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from coterie.errors import AuthError, UsageError
from coterie.files import make_folder, refused

SIGN, CONNECT = "sign.key", "connect.key"


class Keys(NamedTuple):
    """The private halves."""

    sign: Ed25519PrivateKey
    seed: str  # of the nkey

    @property
    def signs(self) -> str:
        return self.sign.public_key().public_bytes_raw().hex()

    @property
    def connects(self) -> str:
        return public_nkey(self.seed)

    @property
    def seal(self) -> X25519PrivateKey:
        derive = HKDF(hashes.SHA256(), 32, None, b"coterie/1 seal").derive
        return X25519PrivateKey.from_private_bytes(derive(self.sign.private_bytes_raw()))

    @property
    def seals(self) -> str:
        return self.seal.public_key().public_bytes_raw().hex()

    def line(self, name: str) -> dict[str, str]:
        """What is handed over, for the federation file."""
        return {"name": name, "signs": self.signs, "connects": self.connects, "seals": self.seals}


def make_keys(folder: Path, *, anew: bool = False) -> Keys:
    """Two fresh keys in files that only their owner can read. Keys that are there stay, unless they are to be made anew."""
    if not folder.exists():
        make_folder(folder)
        folder.chmod(0o700)
    made = {SIGN: Ed25519PrivateKey.generate().private_bytes_raw().hex(), CONNECT: new_seed()}
    for name in made:
        if (folder / name).exists() and not anew:
            raise UsageError(f"{folder / name}: must not be there yet: keys that are in use are not made again")
    for name, text in made.items():
        write_private(folder / name, text + "\n")
    return load_keys(folder)


def load_keys(folder: Path) -> Keys:
    sign, seed = (read_private(folder / name) for name in (SIGN, CONNECT))
    try:
        keys = Keys(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(sign)), seed)
        raw = base64.b32decode(seed + "=" * (-len(seed) % 8))
        if nkeys.crc16(raw[:-2]).to_bytes(2, "little") != raw[-2:] or len(keys.connects) != 56:
            raise ValueError
    except (ValueError, nkeys.NkeysError):
        raise AuthError(f"{folder}: must hold the keys that `coterie agent init` made, got damaged ones") from None
    return keys


def new_seed() -> str:
    return nkeys.encode_seed(os.urandom(32), nkeys.PREFIX_BYTE_USER).decode()


def public_nkey(seed: str) -> str:
    return nkeys.from_seed(bytearray(seed.encode())).public_key.decode()


def write_private(path: Path, text: str) -> None:
    """Written beside its place and renamed, so that it is whole; nobody else can read it at any moment."""
    scratch = path.with_name(f".coterie-{os.urandom(4).hex()}.tmp")
    with refused(path, "written"):
        handle = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)


def read_private(path: Path) -> str:
    """The text of a file that nobody but its owner can read."""
    if not path.exists():
        raise AuthError(f"{path}: must be a key that `coterie agent init` makes, got no file")
    if path.is_dir():
        raise AuthError(f"{path}: must be a key that `coterie agent init` makes, got a folder")
    check_private(path)
    with refused(path, "read"):
        return path.read_text(encoding="ascii", errors="replace").strip()


def check_private(path: Path) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        wanted = "700" if path.is_dir() else "600"
        raise AuthError(f"{path}: must be for its owner alone (chmod {wanted}), got mode {mode:o}")
