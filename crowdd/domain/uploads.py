"""Files that projects bring: kept below the data folder under names of our own choice."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import attrs

# What may be shown by a browser; everything else is offered as a download.
TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".pdf": "application/pdf",
}
DOWNLOAD = "application/octet-stream"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")


@attrs.frozen
class Uploads:
    """The folder of uploads: one folder for each project, by its id."""

    folder: Path

    def keep(self, project_id: int, source: Path, name: str) -> str:
        """Copies a file into the project's folder and returns its path below ``/uploads/``."""
        safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "file"
        target = self.folder / f"project-{project_id}" / safe[-200:]
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return f"project-{project_id}/{target.name}"

    def drop(self, project_id: int) -> None:
        """Removes everything a project brought."""
        shutil.rmtree(self.folder / f"project-{project_id}", ignore_errors=True)

    def find(self, container: str, name: str) -> tuple[Path, str] | None:
        """A file and its type, or None; names that lead elsewhere name nothing."""
        if not _NAME.fullmatch(container) or not _NAME.fullmatch(name):
            return None
        path = self.folder / container / name
        if path.is_symlink() or not path.is_file():
            return None
        return path, TYPES.get(path.suffix.lower(), DOWNLOAD)
