"""Loops around one turn: `star` (clients and a server), `mesh` (peers on a graph), and `agent` (a deployed node)."""
