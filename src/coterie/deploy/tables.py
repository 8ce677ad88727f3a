"""The tables of a federation file, with every range checked. What concerns more than one of them is in `federation`.

Types are strict, as in a study: text and true are no numbers, an unknown key is an error. A time is a number of seconds or
text such as "28 days".
"""

import base64
import binascii
import ipaddress
import re
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import nkeys
from pydantic import AllowInfNan, BeforeValidator, Field, model_validator

from coterie.choices import Finite, choice
from coterie.limits import EPSILON_LEAST
from coterie.network import GRAPHS
from coterie.studies.messages import given, misfit
from coterie.studies.spec import Hops, Table

NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")
SPANS = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0}
SPAN = re.compile(r"(\d+(?:\.\d+)?) (" + "|".join(SPANS) + r")s?")
YEARS_MOST = 10 * 366 * 86400.0


def seconds_of(span: Any) -> Any:
    """A time in words, as seconds; anything else is left to the check of the field.

    >>> seconds_of("28 days"), seconds_of("90 seconds"), seconds_of("at once"), seconds_of(2.5)
    (2419200.0, 90.0, 'at once', 2.5)
    """
    found = SPAN.fullmatch(span) if isinstance(span, str) else None
    return float(found[1]) * SPANS[found[2]] if found else span


Seconds = Annotated[float, Field(gt=0, le=YEARS_MOST), AllowInfNan(False)]
IN_WORDS = 'or a time such as "28 days"'
Span = Annotated[Seconds, BeforeValidator(seconds_of), Field(description=IN_WORDS)]


class Member(Table):
    """Who takes part: its name, and the public halves of its keys."""

    name: str
    signs: Annotated[str, Field(description="64 hexadecimal digits: the key it signs its words with")]
    connects: Annotated[str, Field(description="the key it connects to the broker with, which begins with U")]
    seals: Annotated[str, Field(description="64 hexadecimal digits: the key others seal to it with")] | None = None

    @model_validator(mode="after")
    def can_be_named_and_checked(self) -> Self:
        if not NAME.fullmatch(self.name):
            wanted = "must be 1 to 40 letters, digits, - or _, as it stands in the broker's subjects"
            raise misfit("name", text=f"{wanted}, got {given(self.name)}")
        if not re.fullmatch(r"[0-9a-f]{64}", self.signs):
            raise misfit("signs", text=f"must be 64 hexadecimal digits in lower case, got {given(self.signs)}")
        if self.seals is not None and not re.fullmatch(r"[0-9a-f]{64}", self.seals):
            raise misfit("seals", text=f"must be 64 hexadecimal digits in lower case, got {given(self.seals)}")
        if (raw := nkey_bytes(self.connects)) is None:
            raise misfit("connects", text=f"must be an nkey of a user, U and 55 more characters, got {given(self.connects)}")
        if raw.hex() == self.signs:
            raise misfit("connects", text="must be another key than signs: one key never serves both purposes")
        return self


def nkey_bytes(text: str) -> bytes | None:
    """The 32 bytes of a user's public nkey; None: it is none, or was mistyped."""
    try:
        raw = base64.b32decode(text)
    except (binascii.Error, ValueError):
        return None
    sound = len(raw) == 35 and raw[0] == nkeys.PREFIX_BYTE_USER
    return raw[1:33] if sound and nkeys.crc16(raw[:33]).to_bytes(2, "little") == raw[33:] else None


class BudgetTable(Table):
    """What every reward may lose in all."""

    epsilon: Annotated[float, Field(ge=EPSILON_LEAST), AllowInfNan(False)]
    delta: Annotated[float, Field(ge=0, lt=1)] = 0.0


class Rewards(Table):
    """Their range, and when one counts: at the end of its window, or at once where the application vouches for it."""

    low: Finite = 0.0
    high: Finite = 1.0
    clip: bool = False
    within: Annotated[
        Seconds | Literal["at once"],
        BeforeValidator(seconds_of),
        Field(description='or a time such as "28 days"; at once: the application vouches that no delay depends on the reward'),
    ]
    missing: Finite | None = None

    @model_validator(mode="before")
    @classmethod
    def one_that_never_comes_counts_as_the_lowest(cls, table: Any) -> Any:
        windowed = isinstance(table, dict) and table.get("within", "at once") != "at once"
        low = table.get("low", 0.0) if windowed else None
        return {"missing": low, **table} if isinstance(low, int | float) else table

    @model_validator(mode="after")
    def range_holds(self) -> Self:
        if self.low >= self.high:
            raise misfit("high", text=f"must be above rewards.low, {self.low:g}, got {self.high:g}")
        if self.within == "at once" and self.missing is not None:
            raise misfit("missing", text=f'must be left out where within is "at once", got {given(self.missing)}')
        if self.missing is not None and not self.low <= self.missing <= self.high:
            raise misfit("missing", text=f"must lie in [{self.low:g}, {self.high:g}], got {given(self.missing)}")
        return self


class Epochs(Table):
    """Around a server: so many reports close an epoch when `within` is over. Default: all of them."""

    quorum: Annotated[int, Field(ge=1)] | None = None
    within: Span = 3600.0


class WithEdges(Table):
    edges: tuple[tuple[str, str], ...] | None = None
    life: Hops | Literal["half-diameter", "half-diameter-down", "diameter"] = "half-diameter"


class Peers(choice("graph", {name: kind for name, kind in GRAPHS.items() if not kind.drawn}, WithEdges)):  # type: ignore[misc]
    """Who is next to whom, by name, and how many hops words live. Default: all next to all."""

    @model_validator(mode="after")
    def one_graph_is_given(self) -> Self:
        if self.edges is not None and self.graph is not None:
            raise misfit("graph", text=f"must be left out where edges are listed, got {given(self.graph)}")
        for index, edge in enumerate(self.edges or ()):
            if edge[0] == edge[1]:
                raise misfit("edges", index, text=f"must join two different agents, got {given(edge)}")
        return self


class BrokerTable(Table):
    """Where the broker listens, and whose certificate it shows; beyond this machine only with TLS."""

    address: str
    ca: Annotated[str, Field(description="path of a certificate")] | None = None

    @model_validator(mode="after")
    def others_cannot_listen(self) -> Self:
        try:
            parts = urlsplit(self.address)
            whole = parts.scheme in ("tls", "nats") and parts.hostname and parts.port
        except ValueError:
            whole = None
        if not whole or parts.path or parts.query or parts.username:
            raise misfit("address", text=f'must be such as "tls://broker.example:4222", got {given(self.address)}')
        if parts.scheme == "nats" and not is_loopback(str(parts.hostname)):
            raise misfit("address", text=f"must begin with tls:// beyond this machine, got {given(self.address)}")
        if parts.scheme == "nats" and self.ca is not None:
            raise misfit("ca", text="must be left out where the address begins with nats://, which shows no certificate")
        return self


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class RehearsalTable(Table):
    """A run with the simulator's chance: for tests, never for patients."""

    seed: Annotated[int, Field(ge=0)]
