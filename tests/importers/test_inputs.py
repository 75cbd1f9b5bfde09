"""Paths, folders, zips and standard input."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import threading
import zipfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from memcli.importers import inputs
from memcli.importers.inputs import Unreadable, expand

CHAT = json.dumps([{"role": "user", "content": "hi"}]).encode()


def names(*paths):
    return [each.name for each in expand(paths)]


def problem(*paths):
    [found] = [each for each in expand(paths) if isinstance(each, Unreadable)]
    return found.error


def content(found):
    with found.open() as stream:
        return stream.read()


def zip_of(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return path


def test_a_file_is_one_input_with_its_base_name(tmp_path):
    path = tmp_path / "chat.json"
    path.write_bytes(CHAT)
    [found] = expand([path])
    assert (found.name, found.head, found.is_whole) == ("chat.json", CHAT, True)
    assert content(found) == CHAT
    assert content(found) == CHAT


def test_a_large_file_is_not_whole_in_its_head(tmp_path):
    path = tmp_path / "big"
    path.write_bytes(b"x" * (inputs.HEAD_BYTES + 1))
    [found] = expand([path])
    assert len(found.head) == inputs.HEAD_BYTES
    assert not found.is_whole


def test_folders_are_walked_sorted_without_hidden_files_and_media(tmp_path):
    for name in ("b.txt", "a/z.json", "a.json", ".hidden", ".git/x.json", "photo.PNG"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    assert names(tmp_path) == ["a.json", "z.json", "b.txt"]


def test_an_empty_folder_says_so(tmp_path):
    assert "no files" in problem(tmp_path).message


def test_zips_are_found_by_content_and_named_by_member(tmp_path):
    path = zip_of(
        tmp_path / "export.bin",
        **{"b.json": "2", "a/c.json": "1", "__MACOSX/x": "", ".DS_Store": "", "p.png": ""},
    )
    found = list(expand([path]))
    assert [each.name for each in found] == ["export.bin!a/c.json", "export.bin!b.json"]
    assert [content(each) for each in found] == [b"1", b"2"]
    assert [content(each) for each in reversed(found)] == [b"2", b"1"]


@pytest.mark.parametrize("name", ["../evil.json", "a/../../evil.json", "/etc/evil.json"])
def test_members_that_point_outside_are_refused(tmp_path, name):
    path = zip_of(tmp_path / "x.zip", **{name: "1"})
    assert "outside the archive" in problem(path).message


def test_a_cut_zip_is_named_as_damaged(tmp_path):
    path = zip_of(tmp_path / "x.zip", **{"a.json": os.urandom(5000)})
    path.write_bytes(path.read_bytes()[:3000])
    assert problem(path).message.startswith("x.zip: is a damaged zip")


def test_a_member_with_a_wrong_checksum_does_not_stop_the_others(tmp_path):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as opened:
        opened.writestr("a.json", "needle-1")
        opened.writestr("b.json", "needle-2")
    path.write_bytes(path.read_bytes().replace(b"needle-1", b"nEEdle-1"))
    found = list(expand([path]))
    assert [type(each).__name__ for each in found] == ["Unreadable", "ZipMember"]
    assert "CRC" in found[0].error.message


def test_an_encrypted_member_is_refused(tmp_path):
    path = zip_of(tmp_path / "x.zip", **{"a.json": "1"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(data))
    assert "encrypted" in problem(path).message


def test_a_bomb_is_refused_and_a_well_packed_chat_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "RATIO_FREE_BYTES", 1 << 20)
    path = zip_of(tmp_path / "x.zip", bomb=b"\0" * (4 << 20), small=b"\0" * (1 << 19))
    found = list(expand([path]))
    assert [type(each).__name__ for each in found] == ["Unreadable", "ZipMember"]
    assert "would expand" in found[0].error.message


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "MAX_MEMBERS", 2)
    path = zip_of(tmp_path / "x.zip", a="", b="", c="")
    assert "more than 2 entries" in problem(path).message


def test_a_zip_inside_a_zip_is_refused(tmp_path):
    inner = zip_of(tmp_path / "inner.zip", a="1").read_bytes()
    path = zip_of(tmp_path / "x.zip", **{"inner.zip": inner})
    assert "zip inside a zip" in problem(path).message


def test_a_missing_path_does_not_stop_the_others(tmp_path):
    path = tmp_path / "chat.json"
    path.write_bytes(CHAT)
    found = list(expand([tmp_path / "gone", path]))
    assert isinstance(found[0], Unreadable)
    assert "no such file" in found[0].error.message
    assert found[0].error.hint
    assert found[1].name == "chat.json"


@contextmanager
def ordinary_user():
    """Drop root's right to read everything, where the tests run as root."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such permissions here")
@pytest.mark.parametrize("forbidden", ["chat.json", "locked"])
def test_what_is_forbidden_is_named_and_the_rest_is_read(open_folder, forbidden):
    (open_folder / "locked").mkdir()
    for name in ("a.json", "chat.json", "locked/b.json"):
        (open_folder / name).write_bytes(CHAT)
    (open_folder / forbidden).chmod(0)
    try:
        with ordinary_user():
            found = list(expand([open_folder]))
    finally:
        (open_folder / forbidden).chmod(0o755)
    [unreadable] = [each for each in found if isinstance(each, Unreadable)]
    assert "permission denied" in unreadable.error.message
    assert forbidden in unreadable.error.message
    assert len(found) == 3


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices here")
def test_a_device_is_refused():
    assert "device" in problem("/dev/zero").message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_copied_so_that_it_can_be_read_again(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(CHAT,))
    writer.start()
    [found] = expand([path])
    writer.join()
    assert (content(found), content(found)) == (CHAT, CHAT)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_found_in_a_folder_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.pipe")
    (tmp_path / "b.json").write_bytes(CHAT)
    refused, found = expand([tmp_path])
    assert isinstance(refused, Unreadable)
    assert "is a pipe" in str(refused.error)
    assert content(found) == CHAT


@pytest.mark.parametrize("is_zip", [False, True])
def test_standard_input_is_copied_and_may_be_a_zip(tmp_path, monkeypatch, is_zip):
    data = zip_of(tmp_path / "x.zip", **{"a.json": CHAT}).read_bytes() if is_zip else CHAT
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    [found] = expand(["-"])
    assert found.name == ("stdin!a.json" if is_zip else "stdin")
    assert (content(found), content(found)) == (CHAT, CHAT)


class Broken(io.BytesIO):
    """A stream that fails after its first bytes."""

    def read(self, size=-1):
        if self.tell():
            raise OSError(28, "No space left on device")
        return super().read(size)


def test_a_failing_standard_input_is_named_and_leaves_no_copy(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", type("Stdin", (), {"buffer": Broken(b"x" * 10)}))
    assert "no space left" in problem("-").message
    assert list(tmp_path.iterdir()) == []


def test_the_copy_of_standard_input_goes_with_the_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CHAT)))
    [found] = expand(["-"])
    path = found.path
    assert path.exists()
    inputs._beginning.cache_clear()
    del found
    assert not path.exists()
