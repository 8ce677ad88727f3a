"""The application's side of a node: questions, rewards, what may be seen, and a page, over HTTP."""
