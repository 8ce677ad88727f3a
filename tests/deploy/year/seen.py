"""What the world has seen of one folder: kept by the witness, and copied with the folder."""

from dataclasses import dataclass, field


@dataclass
class Seen:
    decided: dict = field(default_factory=dict)  # id: (key, arm) of every decision that was answered
    told: dict = field(default_factory=dict)  # id: steps of every reward that was acknowledged
    said: dict = field(default_factory=dict)  # (lane, seq): envelope of every word on disk
    releases: int = 0
    head: bytes = b""
    words: int = 0  # rows of the outbox
    heard: int = 0  # rows of the inbox
    s: int = 0
    spent: float = 0.0
    losses: int = 0  # of the broker, when this copy was made
