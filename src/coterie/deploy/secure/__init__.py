"""A secure sum: a server adds up what it is not shown. Explained, with costs and proofs: docs/secure-sum.md.

    share  a reporter splits its noised sums among all agents, so that `threshold` pieces open them, each sealed to its holder
    roll   the server names who is in the sum, at least a quorum, and hands each holder the pieces that are sealed to it
    sum    a holder adds them up; the first roll of an epoch is the only one that it answers
    open   `threshold` answers give the sum; further ones must agree, or the epoch is void

One message up and one answer. Anyone may vanish at any time: who has shared is in the sum though it be gone, who is away does
not answer, and below the quorum nothing opens. The pieces are of the noised sums themselves, so there is no key to recover.
"""
