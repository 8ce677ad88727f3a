"""The report page of a study run: one HTML file that opens offline and needs no explanation beside it."""

from coterie.report.page import render, write

__all__ = ["render", "write"]
