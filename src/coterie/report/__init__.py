"""The page of a study, of an audit, and the statement to sign: HTML files that open offline and explain themselves."""

from coterie.report.study import render, write

__all__ = ["render", "write"]
