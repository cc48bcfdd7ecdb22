"""The only door from the log to files: a directory on disk, or the same thing in memory.

Owned by the broker node's thread. Bytes given to ``append`` are with the kernel when it returns (no buffer in
between), so a killed process loses
nothing that was acknowledged; ``sync`` is for power failures. It must never touch a path outside its directory: names
are checked here once more.
Tests put their own ``Storage`` in its place to fail a sync, cut a write short or fill the disk.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from typing import Protocol

from pykclient.errors import KafkaStorageError
from pykclient.protocol.buffers import Buffer

OPEN_FILE_COUNT_MAX = 500
"""Handles that one data directory keeps open; half of the usual limit of a process."""


class File(Protocol):
    """An append-only file that can be read anywhere and cut at the end."""

    @property
    def size(self) -> int:
        """Bytes that whole appends have put there."""
        ...

    def append(self, parts: Sequence[Buffer]) -> None:
        """Put all parts at the end, or raise OSError and leave the file as it was."""
        ...

    def read(self, position: int, size: int) -> bytes:
        """Up to ``size`` bytes from ``position``; fewer at the end of the file."""
        ...

    def truncate(self, size: int) -> None:
        """Cut everything from ``size`` on."""
        ...

    def sync(self) -> None:
        """Return when the bytes would survive a power failure. After an error nothing is known: do not try again,
        recover."""
        ...

    def close(self) -> None:
        """Let go of the file handle; the next use opens it again."""
        ...


class Storage(Protocol):
    """A flat directory of files, with directories below it."""

    @property
    def path(self) -> str:
        """What to call it in answers and messages."""
        ...

    def open(self, name: str) -> File:
        """The file of this name, made when it is not there."""
        ...

    def read_all(self, name: str) -> bytes | None:
        """The content of a small file, None when there is none."""
        ...

    def replace(self, name: str, content: Buffer, *, sync: bool = True) -> None:
        """Write a small file as a whole: after a crash it has the old content or the new, never a mix."""
        ...

    def rename(self, name: str, to: str) -> None:
        """Rename a file, replacing another of that name."""
        ...

    def delete(self, name: str) -> None:
        """Remove a file; one that is not there is fine."""
        ...

    def file_names(self) -> list[str]:
        """Names of the files, sorted."""
        ...

    def directory_names(self) -> list[str]:
        """Names of the directories, sorted."""
        ...

    def directory(self, name: str) -> Storage:
        """A directory below this one, made when it is not there."""
        ...

    def delete_directory(self, name: str) -> None:
        """Remove a directory and what is in it; one that is not there is fine."""
        ...

    def sync(self) -> None:
        """Make new names, renames and deletions survive a power failure."""
        ...

    def space(self) -> tuple[int, int]:
        """Total and usable bytes of the volume, -1 where unknown."""
        ...


def check_name(name: str) -> str:
    """A plain name that stays inside its directory, or KafkaStorageError. Topic names are checked long before; this
    is the last fence."""
    if not name or name in (".", "..") or "/" in name or "\\" in name or "\0" in name or len(name) > 255:
        raise KafkaStorageError(f"{name!r} cannot be the name of a file")
    return name


class MemoryFile:
    """A file that is a bytearray; reading copies, so that appending never meets an exported buffer."""

    __slots__ = ("_content",)

    def __init__(self, content: Buffer = b"") -> None:
        self._content = bytearray(content)

    @property
    def size(self) -> int:
        return len(self._content)

    def append(self, parts: Sequence[Buffer]) -> None:
        for part in parts:
            self._content += part

    def read(self, position: int, size: int) -> bytes:
        with memoryview(self._content) as view:
            return bytes(view[position : position + size])

    def truncate(self, size: int) -> None:
        del self._content[size:]

    def sync(self) -> None:
        pass

    def close(self) -> None:
        pass


class MemoryStorage:
    """A directory in memory. It outlives the logs opened on it, so that a broker of a test can be stopped and started
    again."""

    def __init__(self, path: str = "memory:") -> None:
        self._path = path
        self._files: dict[str, MemoryFile] = {}
        self._directories: dict[str, MemoryStorage] = {}

    @property
    def path(self) -> str:
        return self._path

    def open(self, name: str) -> File:
        return self._files.setdefault(check_name(name), MemoryFile())

    def read_all(self, name: str) -> bytes | None:
        file = self._files.get(name)
        return None if file is None else file.read(0, file.size)

    def replace(self, name: str, content: Buffer, *, sync: bool = True) -> None:
        self._files[check_name(name)] = MemoryFile(content)

    def rename(self, name: str, to: str) -> None:
        self._files[check_name(to)] = self._files.pop(name)

    def delete(self, name: str) -> None:
        self._files.pop(name, None)

    def file_names(self) -> list[str]:
        return sorted(self._files)

    def directory_names(self) -> list[str]:
        return sorted(self._directories)

    def directory(self, name: str) -> Storage:
        found = self._directories.get(check_name(name))
        if found is None:
            found = self._directories[name] = MemoryStorage(f"{self._path}/{name}")
        return found

    def delete_directory(self, name: str) -> None:
        self._directories.pop(name, None)

    def sync(self) -> None:
        pass

    def space(self) -> tuple[int, int]:
        return -1, -1


class _OpenFiles:
    """Keeps the number of open handles of a directory tree below a limit: beyond it the one opened first is closed,
    and opens again when used."""

    def __init__(self, count_max: int) -> None:
        self._count_max = count_max
        self._files: dict[DirectoryFile, None] = {}

    def __len__(self) -> int:
        return len(self._files)

    def opened(self, file: DirectoryFile) -> None:
        """A file has a handle now."""
        if len(self._files) >= self._count_max:
            next(iter(self._files)).close()
        self._files[file] = None

    def closed(self, file: DirectoryFile) -> None:
        """It has none any more."""
        self._files.pop(file, None)


class DirectoryFile:
    """A file on disk, opened when it is first used."""

    __slots__ = ("__weakref__", "_descriptor", "_open_files", "_path", "_size")

    def __init__(self, path: str, open_files: _OpenFiles) -> None:
        self._path = path
        self._open_files = open_files
        self._descriptor = -1
        try:
            self._size = os.lstat(path).st_size
        except FileNotFoundError:
            self._size = os.fstat(self._open()).st_size
            self.close()

    @property
    def size(self) -> int:
        return self._size

    def append(self, parts: Sequence[Buffer]) -> None:
        descriptor = self._open()
        total = sum(len(part) for part in parts)
        try:
            written = os.writev(descriptor, parts)
            if written < total:
                self._append_rest(descriptor, b"".join(parts), written)
        except OSError:
            # Readers trust ``size``, but the next append would land behind the torn bytes: cut them off before
            # anything else.
            os.ftruncate(descriptor, self._size)
            raise
        self._size += total

    def _append_rest(self, descriptor: int, content: bytes, written: int) -> None:
        view = memoryview(content)
        while written < len(content):
            written += os.write(descriptor, view[written:])

    def read(self, position: int, size: int) -> bytes:
        size = min(size, self._size - position)
        if size <= 0:
            return b""
        descriptor = self._open()
        found = os.pread(descriptor, size, position)
        while len(found) < size:
            more = os.pread(descriptor, size - len(found), position + len(found))
            if not more:
                break  # somebody cut the file behind our back
            found += more
        return found

    def truncate(self, size: int) -> None:
        if size < self._size:
            os.ftruncate(self._open(), size)
            self._size = size

    def sync(self) -> None:
        os.fsync(self._open())

    def close(self) -> None:
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            self._open_files.closed(self)
            os.close(descriptor)

    def _open(self) -> int:
        if self._descriptor < 0:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
            self._descriptor = os.open(self._path, flags, 0o644)
            self._open_files.opened(self)
        return self._descriptor

    def __del__(self) -> None:
        self.close()


class DirectoryStorage:
    """A directory on disk."""

    def __init__(self, path: str, open_files: _OpenFiles | None = None) -> None:
        self._path = os.path.abspath(path)
        self._open_files = open_files or _OpenFiles(OPEN_FILE_COUNT_MAX)
        os.makedirs(self._path, exist_ok=True)

    @property
    def path(self) -> str:
        return self._path

    def open(self, name: str) -> File:
        return DirectoryFile(self._at(name), self._open_files)

    def read_all(self, name: str) -> bytes | None:
        try:
            with open(self._at(name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def replace(self, name: str, content: Buffer, *, sync: bool = True) -> None:
        temporary = self._at(name + ".tmp")
        with open(temporary, "wb", buffering=0) as file:
            view = memoryview(content)
            while view:
                view = view[file.write(view) :]
            if sync:
                os.fsync(file.fileno())
        os.replace(temporary, self._at(name))
        if sync:
            self.sync()

    def rename(self, name: str, to: str) -> None:
        os.replace(self._at(name), self._at(to))

    def delete(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._at(name))

    def file_names(self) -> list[str]:
        return sorted(entry.name for entry in os.scandir(self._path) if entry.is_file(follow_symlinks=False))

    def directory_names(self) -> list[str]:
        return sorted(entry.name for entry in os.scandir(self._path) if entry.is_dir(follow_symlinks=False))

    def directory(self, name: str) -> Storage:
        return DirectoryStorage(self._at(name), self._open_files)

    def delete_directory(self, name: str) -> None:
        shutil.rmtree(self._at(name), ignore_errors=True)

    def sync(self) -> None:
        descriptor = os.open(self._path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def space(self) -> tuple[int, int]:
        usage = shutil.disk_usage(self._path)
        return usage.total, usage.free

    def _at(self, name: str) -> str:
        return os.path.join(self._path, check_name(name))


__all__ = ["DirectoryFile", "DirectoryStorage", "File", "MemoryFile", "MemoryStorage", "Storage", "check_name"]
