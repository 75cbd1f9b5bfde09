"""Checkpoints: saved manifests, and files of their own once a store moves on without them.

A checkpoint costs one small file as long as the store only grows. Before an undo, a
compaction or a repair takes bytes away that it names, they are copied beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from memcli.errors import NothingFound, StoreDamaged, StoreError, UsageError
from memcli.store.disk import Disk, write_atomically
from memcli.store.jsonl import BUFFER_BYTES
from memcli.store.layout import CHECKPOINTS, is_checkpoint_name
from memcli.store.manifest import FileEntry, Manifest, decode, encode
from memcli.store.snapshot import Snapshot, faults

_SUFFIX = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A named state of the store.

    Attributes:
        name: Its name.
        manifest: The state; its ``committed_at`` is that of the commit, not of the saving.
        is_copied: True once its files are its own.
    """

    name: str
    manifest: Manifest

    @property
    def is_copied(self) -> bool:
        """Return whether any of its files is a copy made for it."""
        return any(entry.name.startswith(CHECKPOINTS) for entry in self.manifest.files.values())


def checkpoint_file(path: Path, name: str) -> Path:
    """Return the file of a checkpoint.

    Raises:
        UsageError: If the name is no checkpoint name.
    """
    if not is_checkpoint_name(name):
        raise UsageError(
            f"{name!r} cannot name a checkpoint",
            hint="use letters, digits, '.', '_' and '-', at most 64",
        )
    return path / CHECKPOINTS / (name + _SUFFIX)


def list_checkpoints(path: Path) -> list[Checkpoint]:
    """Return the checkpoints of a store, oldest commit first, then by name.

    Raises:
        StoreDamaged: If one cannot be read.
    """
    files = (path / CHECKPOINTS).glob("*" + _SUFFIX)
    found = [
        Checkpoint(name=file.name.removesuffix(_SUFFIX), manifest=decode(file.read_bytes(), file))
        for file in files
    ]
    return sorted(found, key=lambda checkpoint: (checkpoint.manifest.commit, checkpoint.name))


def open_checkpoint(path: Path, name: str) -> Snapshot:
    """Return the state of a checkpoint.

    Raises:
        NothingFound: If there is none of that name.
        StoreDamaged: If its files do not hold it any more.
    """
    file = checkpoint_file(path, name)
    try:
        manifest = decode(file.read_bytes(), file)
    except FileNotFoundError:
        raise NothingFound(
            f"{path} has no checkpoint {name!r}", hint="`memcli inspect checkpoints` lists them"
        ) from None
    except OSError as error:
        raise StoreError(f"cannot read {file}: {error.strerror}") from error
    for kind, fault in faults(path, manifest).items():
        entry = manifest.files[kind]
        raise StoreDamaged(f"checkpoint {name!r}: {path / entry.name} is {fault}")
    return Snapshot(path=path, manifest=manifest)


def save_checkpoint(disk: Disk, path: Path, name: str, manifest: Manifest) -> Checkpoint:
    """Write a checkpoint, atomically; its undo points are dropped."""
    checkpoint = Checkpoint(name=name, manifest=replace(manifest, before=()))
    file = checkpoint_file(path, name)
    disk.make_folder(file.parent)
    write_atomically(disk, file, encode(checkpoint.manifest))
    disk.fsync_dir(file.parent)
    disk.fsync_dir(path)
    return checkpoint


def remove_checkpoint(disk: Disk, path: Path, checkpoint: Checkpoint) -> None:
    """Remove a checkpoint, its name first, then the copies made for it."""
    disk.remove(checkpoint_file(path, checkpoint.name))
    for entry in checkpoint.manifest.files.values():
        if entry.name.startswith(CHECKPOINTS):
            disk.remove(path / entry.name)


def tidy_checkpoints(disk: Disk, path: Path) -> None:
    """Remove what an interrupted save or copy left; nothing while a checkpoint is unreadable."""
    files = [file for file in (path / CHECKPOINTS).glob("*") if file.suffix != _SUFFIX]
    if not files:
        return
    try:
        manifests = [checkpoint.manifest for checkpoint in list_checkpoints(path)]
    except StoreDamaged:  # `verify` names it; its copies may be all that is left of it
        return
    named = {path / entry.name for manifest in manifests for entry in manifest.files.values()}
    for file in sorted(set(files) - named):
        disk.remove(file)


def copy_broken(disk: Disk, path: Path, breaks: Callable[[FileEntry], bool]) -> list[str]:
    """Copy, for each checkpoint, the files that a change is about to break.

    Args:
        disk: Where to write.
        path: The store.
        breaks: Whether the change takes away bytes of an entry.

    Returns:
        Names of the checkpoints that got files of their own, in `list_checkpoints` order.
    """
    copied = []
    for checkpoint in list_checkpoints(path):
        lost = faults(path, checkpoint.manifest)
        files = checkpoint.manifest.files
        doomed = [kind for kind in files if breaks(files[kind]) and kind not in lost]
        if doomed:
            own = {kind: _copy(disk, path, checkpoint, kind) for kind in doomed}
            _save_own(disk, path, checkpoint, own)
            copied.append(checkpoint.name)
    return copied


def _copy(disk: Disk, path: Path, checkpoint: Checkpoint, kind: str) -> FileEntry:
    """Copy the committed bytes of one kind beside the checkpoint; memory is one buffer."""
    entry = checkpoint.manifest.files[kind]
    name = f"{CHECKPOINTS}/{checkpoint.name}.{kind}.jsonl"
    copy_bytes(disk, path / entry.name, path / name, 0, entry.bytes)
    return replace(entry, name=name)


def _save_own(disk: Disk, path: Path, checkpoint: Checkpoint, own: Mapping[str, FileEntry]) -> None:
    files = {**checkpoint.manifest.files, **own}
    disk.fsync_dir(path / CHECKPOINTS)
    save_checkpoint(disk, path, checkpoint.name, replace(checkpoint.manifest, files=files))


def copy_bytes(disk: Disk, source: Path, target: Path, start: int, end: int) -> None:
    """Copy a byte range into a fresh file and sync it."""
    descriptor = disk.open(target, fresh=True)
    try:
        with source.open("rb", BUFFER_BYTES) as file:
            file.seek(start)
            while data := file.read(min(BUFFER_BYTES, end - start)):
                disk.write(descriptor, data)
                start += len(data)
        disk.fsync(descriptor)
    finally:
        disk.close(descriptor)
