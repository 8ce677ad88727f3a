"""Room for a log (SQLite's WAL), made when its file is opened.

A commit is one sync of the log. While the log grows, the sync has to bring the file's new size to the disk, too, which takes as
long again: a new start would answer slowly until its first checkpoint. So zeros are written behind all that is in the log.
They are no frame of it: a frame has the number of a page, which is never 0, and whoever recovers a log stops at the first
that is none.
"""

import errno
import os
from pathlib import Path

from coterie.files import changed, refused

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def make_room(log: Path, size: int) -> None:
    """The log has this size at least. Where the disk has not twice as much it stays as it is, and grows as others do."""
    with refused(log, "written"), changed(log) as file:
        before, disk = file.seek(0, os.SEEK_END), os.fstatvfs(file.fileno())
        if disk.f_bavail * disk.f_frsize < 2 * size:  # others need some, too
            return
        try:
            while (now := file.tell()) < size:
                file.write(bytes(size - now))
            os.fsync(file.fileno())
        except OSError as error:
            if error.errno not in NO_SPACE:
                raise
            file.truncate(before)
