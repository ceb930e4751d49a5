"""Files are written whole or not at all, and read without trusting them."""

import errno
import json
import math
import os
import socket
import stat
import subprocess
import sys
import threading

import pytest

from fuzzymil import RescuedError
from fuzzymil._utils import storage
from fuzzymil._utils.errors import InputError, ModelFileError
from fuzzymil._utils.own_files import ForeignFileError, OwnFolder, make_own_folder
from fuzzymil._utils.storage import (
    check_writable,
    decode_number,
    encode_number,
    folder_written_atomically,
    own_names,
    read_document,
    rescuing,
    write_atomically,
    write_document,
    written_atomically,
)


@pytest.mark.parametrize("value", [0.1, -0.0, 5e-324, 1e308, 3, math.inf, -math.inf])
def test_numbers_go_through_json_unchanged(value):
    text = json.dumps(encode_number(value), allow_nan=False)
    back = decode_number(json.loads(text))
    assert back == value
    assert math.copysign(1, back) == math.copysign(1, value)
    assert type(back) is float


def test_nan_goes_through_json():
    assert math.isnan(decode_number(json.loads(json.dumps(encode_number(math.nan), allow_nan=False))))


@pytest.mark.parametrize(
    "value", ["1.0", "Infinity", "", None, True, False, [1.0], {}, pytest.param(10**400, id="huge")]
)
def test_what_is_no_number_is_damage(value):
    with pytest.raises(ModelFileError, match="Expected a number"):
        decode_number(value)


def test_a_document_comes_back_with_its_head(tmp_path):
    path = tmp_path / "a.json"
    write_document(path, "kind", 2, {"name": "größe", "values": [1, 0.1]})
    document = read_document(str(path), {"other": 1, "kind": 2})
    assert document == {"format": "kind", "version": 2, "name": "größe", "values": [1, 0.1]}
    assert "größe" in path.read_text(encoding="utf-8")  # readable, not escaped


def test_an_older_version_is_read_and_a_newer_one_is_not(tmp_path):
    path = tmp_path / "a.json"
    write_document(path, "kind", 2, {})
    assert read_document(path, {"kind": 3})["version"] == 2
    with pytest.raises(ModelFileError, match=r"file version 2,.*this.*reads up to 1.*pip install --upgrade"):
        read_document(path, {"kind": 1})


def test_a_document_of_another_kind_names_those_expected(tmp_path):
    path = tmp_path / "a.json"
    write_document(path, "kind", 1, {})
    with pytest.raises(ModelFileError, match=r"'format' is 'kind',.*'one' or 'two'"):
        read_document(path, {"one": 1, "two": 1})


def test_a_file_that_is_not_there_is_reported_as_such(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_document(tmp_path / "nowhere.json", {"kind": 1})
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "a.txt", "text")


def test_an_integer_of_too_many_digits_is_damage(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"format": "kind", "version": ' + "1" * 5000 + "}", encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"a\.json"):
        read_document(path, {"kind": 1})


def test_a_number_that_json_does_not_know_is_not_written_and_the_old_file_stays(tmp_path):
    path = tmp_path / "a.json"
    write_document(path, "kind", 1, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_document(path, "kind", 1, {"a": math.nan})
    assert read_document(path, {"kind": 1})["a"] == 1


@pytest.mark.parametrize("failing", ["replace", "fsync", "chmod"])
def test_a_failure_at_any_step_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failing):
    path = tmp_path / "a.txt"
    write_atomically(path, "old")

    def fail(*_):
        raise OSError("no space")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, "new")
    monkeypatch.undo()
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_new_file_can_be_read_by_those_the_umask_lets_and_an_old_one_keeps_its_mode(tmp_path):
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write_atomically(path, "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    write_atomically(path, "more")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="utf-8") == "more"


def test_a_bare_file_name_is_written_into_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomically("a.txt", "text\nwith lines\n")
    assert (tmp_path / "a.txt").read_bytes() == b"text\nwith lines\n"


# ---------------------------------------------------------------------- what is never replaced


def reading(path):
    """Read a named pipe in the background; call the result to get what came."""
    found = []
    thread = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    thread.start()

    def result():
        thread.join(10)
        return found[0]

    return result


def test_a_named_pipe_is_written_to(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    (tmp_path / "link").symlink_to(path)
    for name in ("pipe", "link"):
        check_writable(tmp_path / name)  # does not wait for a reader
        came = reading(path)
        write_atomically(tmp_path / name, "text\n" * 50_000)
        assert came() == b"text\n" * 50_000
        assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_device_is_written_to(tmp_path):
    path = tmp_path / "nothing"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))  # a null device of our own
        path.write_bytes(b"")
    except OSError:
        pytest.skip("needs the right to make devices")
    check_writable(path)
    write_atomically(path, "text")
    assert stat.S_ISCHR(path.stat().st_mode)
    assert os.listdir(tmp_path) == ["nothing"]


def test_a_disk_is_not_overwritten(tmp_path):
    path = tmp_path / "disk"
    try:
        os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(0, 0))  # no such disk
    except OSError:
        pytest.skip("needs the right to make devices")
    for use in (check_writable, lambda path: write_atomically(path, "text")):
        with pytest.raises(PermissionError, match="is a disk"):
            use(path)
    assert stat.S_ISBLK(path.stat().st_mode)


def test_a_socket_is_written_to(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # addresses of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        server.listen()
        write_atomically("socket", "text")
        with server.accept()[0] as connection:
            assert connection.recv(100) == b"text"
    assert stat.S_ISSOCK(os.stat("socket").st_mode)


def test_an_open_file_is_continued(tmp_path):
    with open(tmp_path / "log", "ab") as file:
        file.write(b"before ")
        file.flush()
        write_atomically(f"/proc/self/fd/{file.fileno()}", "text")
        file.write(b" after")
    assert (tmp_path / "log").read_bytes() == b"before text after"


def test_links_stay_links(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to("far/file")
    for text in ("new", "newer"):  # the first one creates the file
        write_atomically(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "far" / "file").read_text() == text
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        write_atomically(tmp_path / "loop", "text")
    assert (tmp_path / "loop").is_symlink()


def test_a_write_protected_file_stays(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    write_atomically(path, "mine")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everything
    for use in (check_writable, lambda path: write_atomically(path, "text")):
        with pytest.raises(PermissionError, match="write-protected"):
            use(path)
    assert path.read_text() == "mine"


# ---------------------------------------------------------------------- full disks


def test_nothing_is_written_on_a_full_disk_and_the_error_names_the_file(tmp_path, full_disks):
    path = tmp_path / "a.txt"
    write_atomically(path, "old")
    full_disks[tmp_path] = 1000
    for use in (check_writable, lambda path: write_atomically(path, "x" * 5000)):
        with pytest.raises(OSError, match="No space left") as caught:
            use(path)
        assert caught.value.filename == str(path)
        assert not isinstance(caught.value, RescuedError)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_what_does_not_fit_is_rescued_whole(tmp_path, full_disks, monkeypatch):
    folders = [tmp_path / name for name in ("full", "here", "home")]
    for folder in folders:
        folder.mkdir()
    full, here, home = folders
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(home))
    full_disks |= {full: 300_000, here: 500_000}  # the second one is full too, but takes more at first
    content = os.urandom(10) * 100_000
    (home / "rescued-a.bin").write_text("taken")
    (full / "a.bin").write_text("old")
    told = r"full/a\.bin: No space left.*home/rescued-2-a\.bin"

    def write():
        with rescuing(), written_atomically(full / "a.bin") as file:
            for start in range(0, len(content), 7_777):
                file.write(content[start : start + 7_777])
            file.seek(0)  # as formats with a table of contents do
            file.write(b"HEAD")

    with pytest.raises(RescuedError, match=told) as caught:
        write()
    assert caught.value.errno == errno.ENOSPC
    assert (home / "rescued-2-a.bin").read_bytes() == b"HEAD" + content[4:]
    assert [sorted(os.listdir(folder)) for folder in folders] == [
        ["a.bin"],
        [],
        ["rescued-2-a.bin", "rescued-a.bin"],
    ]
    assert (full / "a.bin").read_text() == "old"


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
def test_a_late_failure_is_rescued_too(tmp_path, monkeypatch, step):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    real, calls = getattr(os, step), []

    def fail_first(*args, **settings):
        calls.append(args)
        if len(calls) == 1:
            raise OSError(errno.EDQUOT, "Disk quota exceeded")
        return real(*args, **settings)

    monkeypatch.setattr(os, step, fail_first)
    with pytest.raises(RescuedError, match=r"quota.*rescued-a\.txt"), rescuing():
        write_atomically("out/a.txt", "text")
    assert (tmp_path / "rescued-a.txt").read_text() == "text"
    assert os.listdir(tmp_path / "out") == []


def test_only_its_user_can_read_a_rescued_result(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = os.umask(0)
    try:
        with pytest.raises(RescuedError), rescuing():
            write_atomically("gone/a.txt", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "rescued-a.txt").stat().st_mode) == 0o600


def test_a_folder_that_has_gone_is_survived(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RescuedError, match=r"Folder not found.*rescued-a\.txt"), rescuing():
        write_atomically("gone/a.txt", "text")
    assert (tmp_path / "rescued-a.txt").read_text() == "text"


def test_what_is_not_precious_is_not_rescued(tmp_path, full_disks, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    full_disks[tmp_path / "full"] = 0
    with pytest.raises(OSError, match="No space left"), rescuing():
        write_atomically("full/a.txt", "text", precious=False)
    with pytest.raises(OSError, match="No space left"), rescuing(), folder_written_atomically(tmp_path / "full" / "b"):
        write_atomically(tmp_path / "full" / "c", "text")
    assert os.listdir(tmp_path) == ["full"]
    assert os.listdir(tmp_path / "full") == []


def test_when_no_folder_takes_it_the_first_problem_is_told(tmp_path, full_disks, monkeypatch):
    monkeypatch.setattr(storage, "_refuges", lambda: [tmp_path])
    full_disks[tmp_path] = 0
    with pytest.raises(OSError, match=r"No space left.*a\.txt") as caught, rescuing():
        write_atomically(tmp_path / "a.txt", "text")
    assert not isinstance(caught.value, RescuedError)
    assert os.listdir(tmp_path) == []


# ---------------------------------------------------------------------- processes that were killed

DIE = """
import os, signal, sys
from pathlib import Path
from fuzzymil._utils import storage
with storage.written_atomically(sys.argv[1]) as file, storage.folder_written_atomically(Path(sys.argv[2])):
    file.write(b"half")
    file.flush()
    if sys.argv[3] == "wait":
        print("ready", flush=True)
        sys.stdin.read()
    else:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_killed_processes_left_is_removed_and_that_of_others_is_not(tmp_path):
    target, folder = tmp_path / "a.json", tmp_path / "arrays"
    (tmp_path / ".mine.part").write_text("of another program")
    os.mkfifo(tmp_path / ".trap.fuzzymil-999999999.part")
    others = set(os.listdir(tmp_path))
    arguments = [sys.executable, "-c", DIE, str(target), str(folder)]
    subprocess.run([*arguments, "die"])
    left = set(os.listdir(tmp_path)) - others
    assert len(left) == 2
    with subprocess.Popen([*arguments, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        running.stdout.readline()
        now = set(os.listdir(tmp_path)) - others
        assert len(now) == 2  # the running process has removed what the killed one left
        assert not now & left
        write_atomically(target, "whole")
        assert now < set(os.listdir(tmp_path))
        running.stdin.close()
    assert set(os.listdir(tmp_path)) == others | {"a.json", "arrays"}
    assert target.read_text() == "half"  # whoever finishes last


def test_a_draft_that_is_locked_stays(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "_is_running", lambda process: False)  # as seen from another container
    with written_atomically(tmp_path / "a.txt") as file:
        file.write(b"text")
        monkeypatch.setattr(storage, "_looked", {})
        storage.remove_leftovers(tmp_path)
    assert (tmp_path / "a.txt").read_text() == "text"


def test_many_writers_of_one_file_leave_one_whole_file(tmp_path):
    path = tmp_path / "a.txt"
    texts = [f"{n}" * 100_000 for n in range(8)]
    threads = [threading.Thread(target=write_atomically, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() in texts
    assert os.listdir(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127], ids=["letters", "accents"])
def test_the_longest_names_can_be_written(tmp_path, name):
    write_atomically(tmp_path / name, "text")
    assert os.listdir(tmp_path) == [name]


def test_a_folder_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "arrays"
    with folder_written_atomically(target) as folder:
        (folder / "a").write_text("text")
        assert not target.exists()
    assert os.listdir(target) == ["a"]
    with pytest.raises(KeyError), folder_written_atomically(tmp_path / "other"):
        raise KeyError
    assert os.listdir(tmp_path) == ["arrays"]


def test_text_that_no_file_can_hold_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"a\.txt.*half of a character"):
        write_atomically(tmp_path / "a.txt", "x\udcff")
    assert os.listdir(tmp_path) == []


# ---------------------------------------------------------------------- names that the program chose


def test_what_the_program_names_is_never_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    places = [tmp_path / name for name in ("link", "dangling", "pipe", "hard")]
    places[0].symlink_to(victim)
    places[1].symlink_to(tmp_path / "nothing")
    os.mkfifo(places[2])
    os.link(victim, places[3])
    with own_names():
        for path in places:
            check_writable(path)
            write_atomically(path, "text")
            assert stat.S_ISREG(path.lstat().st_mode)
            assert path.read_text() == "text"
    assert victim.read_text() == "mine"
    assert not (tmp_path / "nothing").exists()
    (tmp_path / "folder").mkdir()
    with own_names(), pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "folder", "text")


def test_a_second_figure_beside_the_one_that_was_named_follows_no_link(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from fuzzymil.plots import save_figure

    (tmp_path / "victim").write_text("mine")
    (tmp_path / "a.svg").symlink_to("victim")
    save_figure(pyplot.figure(), tmp_path / "a.png")
    assert (tmp_path / "victim").read_text() == "mine"
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


def test_the_folder_of_such_a_file_is_the_choice_of_the_user(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "here").symlink_to("far")
    with own_names():
        write_atomically(tmp_path / "here" / "a.txt", "text")
    assert (tmp_path / "far" / "a.txt").read_text() == "text"


def test_own_files_are_plain_and_reached_through_no_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"mine")
    (tmp_path / "link").symlink_to(victim)
    os.link(victim, tmp_path / "hard")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with OwnFolder(tmp_path) as folder:
        for name in ("link", "hard", "pipe", "folder"):
            for flags in (os.O_RDONLY, os.O_RDWR | os.O_CREAT | os.O_APPEND, os.O_WRONLY):
                with pytest.raises(ForeignFileError):
                    folder.open(name, flags)
        for name in ("link", "hard", "pipe"):
            folder.write(name, b"text")
            assert folder.read(name) == b"text"
        with pytest.raises(OSError, match="irectory"):
            folder.write("folder", b"text")
    assert victim.read_bytes() == b"mine"
    assert sorted(os.listdir(tmp_path)) == ["folder", "hard", "link", "pipe", "victim"]
    (tmp_path / "other").symlink_to("folder")
    for use in (OwnFolder, make_own_folder):
        with pytest.raises(ForeignFileError, match="is a link"):
            use(tmp_path / "other")


def test_a_rescued_result_avoids_links(tmp_path, full_disks, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    full_disks[tmp_path / "full"] = 0
    (tmp_path / "rescued-a.txt").symlink_to("nothing")
    with pytest.raises(RescuedError, match=r"rescued-2-a\.txt"), rescuing():
        write_atomically("full/a.txt", "text")
    assert not (tmp_path / "nothing").exists()
