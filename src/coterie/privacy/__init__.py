"""What leaves an agent, what it costs, and what may be said about it."""
