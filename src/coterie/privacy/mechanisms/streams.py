"""Doors for streams: all prefix sums of an arm's rewards, with noise that is correlated over time, paid for once.

An entry of a stream is the exact sum of rewards 1..first, of at most `last`. The noise of all entries of an arm together is
L z for one vector z of independent numbers, where L R is the matrix of prefix sums. One reward moves R x by a column of R, so
the scale of z follows from the norm of R's columns; the price covers the whole stream, however many of its sums are asked for.
Choices may depend on earlier outputs: a shift of z by the column of a changed reward leaves earlier outputs as they were and
makes up for it in all later ones. Proof: streams.md.

    digits  R: membership in the nodes of a ternary tree (each reward is in one node of each level, L1 norm = height);
            L: the digits -1, 0, 1 of a prefix. Nodes that overshoot contribute noise only. Laplace, price epsilon.
    root    R = L, the Toeplitz square root with coefficients r_0 = 1, r_j = r_{j-1} (2 j - 1) / (2 j). Normal, price mu.

Numbers z are functions of (arm, place), so nothing needs to be stored in a simulation. Where a stream has no reward yet its sum
is 0 to everybody, and it leaves without noise: z alone would undo that of the first sum.
"""

from math import inf, sqrt

from coterie.kernel import UNIT, discrete_laplace, fold, node, normal
from coterie.privacy.mechanisms.mechanism import Mechanism


@node
def digits_height(rewards):
    """Levels of a ternary tree whose signed prefixes reach `rewards`: the least h with 3^h >= 2 rewards + 1."""
    h, reach = 0, 1
    while reach < 2 * rewards + 1:
        h += 1
        reach *= 3
    return h


@node
def digits_used(m):
    """Nodes with a sign in the prefix of m: its nonzero balanced ternary digits."""
    used = 0
    while m > 0:
        used += 1 if m % 3 != 0 else 0
        m = (m + 1) // 3
    return used


@node
def add_digits(out, secret, die, lasting):
    for e in range(out.entries):
        if out.price[e] < inf and out.first[e] <= out.last[e]:
            scale = UNIT * out.sensitivity[e] * secret.norm / out.price[e]
            out.value[e] += digits_noise(fold(lasting, out.arm[e]), out.first[e], scale)


@node
def digits_noise(die, m, scale):
    """Digit d at level j stands for the node before (d = -1) or after (d = 1) the place where the higher digits end."""
    noise, j = 0, 0
    while m > 0:
        rest = (m + 1) // 3
        digit = m - 3 * rest
        if digit != 0:
            place = 3 * rest if digit > 0 else 3 * rest - 1
            noise += digit * discrete_laplace(fold(fold(die, j), place), scale)
        m, j = rest, j + 1
    return noise


@node
def root_norm(rewards):
    """L2 norm of the first column: sqrt(sum of r_j^2, j < rewards)."""
    total, r = 0.0, 1.0
    for j in range(1, rewards + 1):
        total += r * r
        r *= (2.0 * j - 1.0) / (2.0 * j)
    return sqrt(total)


@node
def add_root(out, secret, die, lasting):
    for e in range(out.entries):
        if out.price[e] < inf and out.first[e] <= out.last[e]:
            sigma = UNIT * out.sensitivity[e] * secret.norm / out.price[e]
            out.value[e] += rounded(sigma * root_noise(fold(lasting, out.arm[e]), out.first[e]))


@node
def root_noise(die, m):
    """Sum over j < m of r_j z_{m - j}."""
    noise, r = 0.0, 1.0
    for j in range(m):
        noise += r * normal(fold(die, m - j), 0)
        r *= (2.0 * j + 1.0) / (2.0 * j + 2.0)
    return noise


@node
def rounded(x):
    return int(x + 0.5) if x >= 0.0 else -int(0.5 - x)


DIGITS = Mechanism("digits", add_digits, "streams.md", covers="stream", norm=lambda rewards: float(digits_height(rewards)))
ROOT = Mechanism("root", add_root, "streams.md", adds_up="squares", covers="stream", norm=root_norm)
