"""What organisations run: a process each, on their own machines, around the agent of `engines`.

    federation, tables, deployable  the public file that is the same for all, and what runs of it
    keys, place                     who a process is, and where its state lies
    node                            questions and rewards on one side, turns on the other, and what is on disk in between
    roles, desk, mailbox, seen      of a node: what it is, rewards that wait, words that wait, and what may be seen of it
    journal                         a run told again, in memory
    clocks                          what makes a turn begin
    stores, settings                rewards apart from the ledger, on disk; the budget of persons, beside them
    wire                            signed words over a broker
    web, opening, up, customers     the application's side, a page, and a whole federation on one machine
    doctor, log, operations         is all well? What happened, and files for a service manager and a dashboard

A node is coroutines: its disk, wire, clock and chance are handed in, so that a test can be all four.
"""
