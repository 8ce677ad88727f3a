"""What becomes of a deployed node when a hook goes wrong. Its own turns end there; what came from others is refused."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from coterie.contract import Algorithm
from coterie.engines.protocol import Protocol
from coterie.errors import AlgorithmError, CoterieError, ProtocolError
from coterie.guests import blamed


def refill(record: Any, data: bytes) -> None:
    """The record is as it was when it had these bytes."""
    kept = np.frombuffer(data, record.dtype)[0]
    for field in record.dtype.names or ():
        record[field] = kept[field]


class Guarded:
    """The hooks of a node are called here. An error that a hook words itself stays as it is."""

    algorithm: Algorithm
    protocol: Protocol
    open: Any
    inner: Any
    t: int

    def _call(self, hook: Callable, *arguments: Any) -> Any:
        try:
            return hook(*arguments)
        except CoterieError:
            raise
        except Exception as fault:
            name, kind = self.algorithm.name, type(fault).__name__
            line = f"{name}: {hook.__name__.strip('_')} of turn {self.t} broke off with {kind}"
            own = "" if self.algorithm.caveat else blamed(fault)
            raise AlgorithmError(own or line) from self._tellable(fault)

    @contextmanager
    def _beyond_recall(self) -> Iterator[None]:
        """What goes wrong in here cannot be taken back."""
        try:
            yield
        except Exception:
            self.protocol.fail()
            raise

    def _attempt(self, hook: Callable, *arguments: Any, peer: Any = None) -> None:
        """A hook on what came from others. If it breaks off, half of its work is taken back, and what came is refused."""
        records = [self.open, self.inner] if peer is None else [self.open, self.inner, peer]
        before = [each.tobytes() for each in records]
        try:
            hook(*arguments)
        except CoterieError:
            self.protocol.fail()
            raise
        except Exception as fault:
            for each, kept in zip(records, before, strict=True):
                refill(each, kept)
            line = f"a message must be one that its hook can take, got {type(fault).__name__}"
            raise ProtocolError(line) from self._tellable(fault)

    def _tellable(self, fault: Exception) -> Exception | None:
        """The words of a hook that reads the secret may show it."""
        return None if self.algorithm.caveat else fault
