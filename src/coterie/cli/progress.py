"""The bar that commands show while they work."""

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


def progress_bar(console: Console) -> Progress:
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
    times = (TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    return Progress(*columns, *times, console=console, transient=True, disable=not console.is_terminal)


def advance(bar: Progress, task: Any, done: int, total: int, label: str) -> None:
    bar.update(task, completed=done, total=total, description=label)
