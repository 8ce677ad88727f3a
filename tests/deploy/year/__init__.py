"""A whole deployed federation in one deterministic loop: real nodes, and a world of seeded accidents around them.

    loop     time that passes when everybody waits
    disk     SQLite in memory, that can be slow, full, broken, copied, and robbed of what was not committed
    network  the broker in memory, with partitions, delays and lost tails
    process  one start of a member in its folder, and the operator who starts it again
    patients who ask and tell
    liar     a member that signs whatever it likes
    faults   what goes wrong, and when
    witness  what must always hold, looked at whenever something is committed, sent or answered
    story    all of it, from a seed

One `random.Random(seed)` decides everything. `python tests/deploy/year --seed 7` tells one year again.
"""
