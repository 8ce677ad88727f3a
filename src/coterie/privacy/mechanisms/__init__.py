"""Kinds of noise, one file each: see mechanism.py for what a kind is."""

from coterie.privacy.mechanisms.kept import KEPT
from coterie.privacy.mechanisms.laplace import LAPLACE
from coterie.privacy.mechanisms.mechanism import Mechanism
from coterie.privacy.mechanisms.normal import GAUSS
from coterie.privacy.mechanisms.pairs import PAIR, TRIANGLE
from coterie.privacy.mechanisms.shares import SHARES, SUMS
from coterie.privacy.mechanisms.streams import DIGITS, ROOT

MECHANISMS = {mechanism.name: mechanism for mechanism in (LAPLACE, SHARES, SUMS, KEPT, GAUSS, PAIR, TRIANGLE, DIGITS, ROOT)}

__all__ = ["DIGITS", "GAUSS", "KEPT", "LAPLACE", "MECHANISMS", "PAIR", "ROOT", "SHARES", "SUMS", "TRIANGLE", "Mechanism"]
