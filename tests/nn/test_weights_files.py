"""Weights files as people have them: behind links, read-only, in folders, in other types, and forged."""

import contextlib
import errno
import io
import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from course_lib import nn, npz

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need rights of their own on Windows")


def net(seed=0, **options):
    return nn.models.mlp((4, 5, 3), rng=np.random.default_rng(seed), **options)


def same(a, b):
    return all(np.array_equal(p, q) for p, q in zip(a.parameters().values(), b.parameters().values(), strict=True))


def loaded(path):
    other = net(seed=1)
    nn.load_weights(other, path)
    return other


# --- saving


@needs_links
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("there", [True, False])
def test_the_file_that_a_link_leads_to_is_written(tmp_path, depth, there):
    """A folder that is synchronised often holds links: the link was replaced, and the file kept the old weights."""
    drive = tmp_path / "drive"
    drive.mkdir()
    if there:
        (drive / "w.npz").write_bytes(b"old")
    link = Path("drive/w.npz")
    for step in range(depth):
        (tmp_path / f"link{step}").symlink_to(link)
        link = Path(f"link{step}")
    nn.save_weights(net(), tmp_path / link)
    assert (tmp_path / link).is_symlink()
    assert same(loaded(drive / "w.npz"), net())
    assert same(loaded(tmp_path / link), net())
    assert sorted(p.name for p in drive.iterdir()) == ["w.npz"]


@needs_links
def test_links_that_lead_nowhere_are_told(tmp_path):
    (tmp_path / "circle").symlink_to("circle")
    with pytest.raises(OSError, match="the link leads in a circle"):
        nn.save_weights(net(), tmp_path / "circle")
    (tmp_path / "gone").symlink_to("no folder/w.npz")
    with pytest.raises(FileNotFoundError, match=r"the folder .*no folder does not exist"):
        nn.save_weights(net(), tmp_path / "gone")
    assert (tmp_path / "gone").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_the_mode_of_an_older_file_stays(tmp_path, mode):
    path = tmp_path / "w.npz"
    nn.save_weights(net(seed=1), path)
    path.chmod(mode)
    nn.save_weights(net(), path)
    assert path.stat().st_mode & 0o777 == mode
    assert same(loaded(path), net())


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
@pytest.mark.parametrize("older", [True, False])
@pytest.mark.parametrize("step", ["mkstemp", "fsync", "replace"])
def test_what_the_system_refuses_is_told_in_words_and_the_older_file_stays(tmp_path, monkeypatch, number, older, step):
    path = tmp_path / "w.npz"
    if older:
        nn.save_weights(net(), path)

    def refuse(*args, **options):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as broken:
        broken.setattr(f"course_lib.paths.{'tempfile' if step == 'mkstemp' else 'os'}.{step}", refuse)
        with pytest.raises(OSError, match=rf"cannot save .*w\.npz: {os.strerror(number)}") as told:
            nn.save_weights(net(seed=1), path)
    assert told.value.errno == number
    assert ("w.npz is as it was before" in str(told.value)) == older
    assert [p.name for p in tmp_path.iterdir()] == ["w.npz"] * older
    if older:
        assert same(loaded(path), net())


def test_what_is_no_file_is_not_replaced(tmp_path, monkeypatch):
    with pytest.raises(IsADirectoryError, match=r"it is a folder. Name a file in it"):
        nn.save_weights(net(), tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match=r"the folder .*file is a file, no folder"):
        nn.save_weights(net(), tmp_path / "file" / "w.npz")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="no ordinary file but a device or a pipe"):
            nn.save_weights(net(), tmp_path / "pipe")
        assert (tmp_path / "pipe").is_fifo()
    monkeypatch.setattr("course_lib.paths.os.access", lambda *args: False)  # root may write everything
    with pytest.raises(PermissionError, match="the file is write-protected"):
        nn.save_weights(net(), tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.skipif(os.name == "nt", reason="HOME is another variable there")
def test_a_tilde_is_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    nn.save_weights(net(), "~/w.npz")
    assert same(loaded("~/w.npz"), net())
    assert [p.name for p in tmp_path.iterdir()] == ["w.npz"]
    with pytest.raises(FileNotFoundError, match=r"~no such user/w.npz"):
        nn.load_weights(net(), "~no such user/w.npz")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "~").mkdir()  # a folder of that name is meant where there is one
    nn.save_weights(net(), "~/here.npz")
    assert (tmp_path / "~" / "here.npz").is_file()


@pytest.mark.parametrize("path", [None, 3, "", "a\0b", ["w.npz"]])
def test_what_is_no_path_is_told(path):
    for use in (nn.save_weights, nn.load_weights):
        with pytest.raises((TypeError, ValueError), match=r"path is .*; it must"):
            use(net(), path)


@pytest.mark.skipif(os.name == "nt", reason="Windows takes other names")
def test_names_that_no_file_can_have_are_told_in_words():
    for use in (nn.save_weights, nn.load_weights):
        with pytest.raises(ValueError, match=r"path is 'a.ud800.npz'; no file can have that name here"):
            use(net(), "a\ud800.npz")
    with pytest.raises(OSError, match=r"cannot save a+: File name too long"):
        nn.save_weights(net(), "a" * 300)
    with pytest.raises(nn.WeightsError, match=r"a+ cannot be read: File name too long"):
        nn.load_weights(net(), "a" * 300)


# --- loading


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_what_is_there_and_no_file_is_told_from_what_is_not_there(tmp_path):
    (tmp_path / "round").symlink_to("round")
    os.mkfifo(tmp_path / "pipe")
    for path, words in (
        (tmp_path / "none", "there is no weights file .*none; save one"),
        (tmp_path / "round", "a link that leads nowhere"),
        (tmp_path / "pipe", "no ordinary file but a device or a pipe"),
        ("/dev/null", "no ordinary file but a device or a pipe"),
    ):
        with pytest.raises(FileNotFoundError, match=words):
            nn.load_weights(net(), path)


def test_a_flipped_byte_is_refused_or_changes_no_weight(tmp_path):
    """Of the bytes that zip does not check there are dates and names' repetitions: weights are not among them."""
    nn.save_weights(net(), tmp_path / "w.npz")
    whole = (tmp_path / "w.npz").read_bytes()
    for place in range(0, len(whole), 13):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        (tmp_path / "w.npz").write_bytes(damaged)
        with contextlib.suppress(nn.WeightsError):
            assert same(loaded(tmp_path / "w.npz"), net()), place


def test_a_folder_in_place_of_the_file_is_told_with_what_it_holds(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder, not a weights file; the .npz files in it: none"):
        nn.load_weights(net(), tmp_path)
    nn.save_weights(net(), tmp_path / "w.npz")
    with pytest.raises(IsADirectoryError, match=r"in it: \['w.npz'\]"):
        nn.load_weights(net(), tmp_path)


def test_packed_and_column_major_arrays_are_read_as_well(tmp_path):
    arrays = {name: np.asfortranarray(p) for name, p in net().parameters().items()}
    np.savez_compressed(tmp_path / "w.npz", **arrays)
    assert same(loaded(tmp_path / "w.npz"), net())


@pytest.mark.parametrize("kind", [">f4", ">f8", np.float16, np.int64, np.uint8, bool, np.longdouble])
def test_the_advice_for_another_type_can_be_typed_and_helps(tmp_path, kind):
    """It was: Build the network with dtype=np.>f4."""
    path = tmp_path / "w.npz"
    arrays = {name: p.astype(kind) for name, p in net().parameters().items()}
    np.savez(path, **arrays)
    with pytest.raises(nn.WeightsError, match=r"0\.w is .*, the network's is float32\. .*Convert the file: ") as told:
        nn.load_weights(net(), path)
    exec(str(told.value).partition("Convert the file: ")[2], {"np": np})
    for name, p in loaded(path).parameters().items():
        np.testing.assert_array_equal(p, arrays[name].astype(np.float32))


@pytest.mark.parametrize("kind", ["U1", "S3", complex, "M8[s]", "u1,u1"])
def test_what_are_no_weights_at_all_is_told(tmp_path, kind):
    np.savez(tmp_path / "w.npz", **{name: np.zeros(p.shape, kind) for name, p in net().parameters().items()})
    with pytest.raises(nn.WeightsError, match="Weights are real numbers: save them anew"):
        nn.load_weights(net(), tmp_path / "w.npz")


def header(shape, dtype="<f4", text=None):
    text = text or f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}"
    text = text.encode("latin1")
    text += b" " * (63 - (len(text) + 10) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text


def forged(path, first, method=zipfile.ZIP_STORED, name="0.w.npy"):
    """Right weights, but for the bytes of the first array."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), first, method)
        for key, value in net().parameters().items():
            if key != "0.w":
                content = io.BytesIO()
                np.save(content, value)
                archive.writestr(key + ".npy", content.getvalue())
    return path


@pytest.mark.parametrize("shape", [(375_000_000,), (10**12, 4), (5, 4), ()])
def test_no_array_is_unpacked_before_all_headers_fit(tmp_path, monkeypatch, shape):
    """A file of 1.5 MB can unpack to 1.5 GB."""
    path = forged(tmp_path / "bomb.npz", header(shape) + bytes(2**20), zipfile.ZIP_DEFLATED)
    monkeypatch.setattr(npz.Stored, "read", lambda self: pytest.fail("an array was unpacked"))
    with pytest.raises(nn.WeightsError, match=r"0\.w is \(.*\), the network's is \(4, 5\)"):
        nn.load_weights(net(), path)


def test_of_an_archive_no_more_is_unpacked_than_the_network_holds(tmp_path, monkeypatch):
    read, asked = zipfile.ZipExtFile.read, []
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: asked.append(n) or read(self, n))
    path = forged(tmp_path / "bomb.npz", header((4, 5)) + bytes(2**24), zipfile.ZIP_DEFLATED)
    with pytest.raises(nn.WeightsError, match="has more bytes after its header, which says 80"):
        nn.load_weights(net(), path)
    assert min(asked) >= 0
    assert sum(asked) < 2000
    asked.clear()
    nn.save_weights(net(), path)
    assert same(loaded(path), net())
    assert sum(asked) < 2000


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (header((4, 5)) + bytes(79), "has only 79 bytes after its header, which says 80"),
        (header((4, 5)) + bytes(81), "has more bytes"),
        (b"\x93NUMPY\2\0" + struct.pack("<I", 2**31) + b"{" * 100, "has no header of an array"),
        (b"\x93NUMPY\1\0" + struct.pack("<H", 60_000) + b"(" * 60_000, "has no header of an array"),
        (b"\x93NUMPY\x09\0", "has no header of an array"),
        (b"", "has no header of an array"),
        (header((4, 5), "|O") + b"\x80\x04N.", "holds pickled objects"),
        (header(None, text="{'descr': '<f4', 'fortran_order': False, 'shape': (-4, -5)}"), r"has the shape \(-4, -5\)"),
        (header(None, text="((((((("), "is damaged"),
        (header(None, text="__import__('os').system('true')"), "is damaged"),
    ],
)
def test_forged_arrays_are_refused_in_words(tmp_path, first, message):
    target = net()
    with pytest.raises(nn.WeightsError, match=rf"is not a weights file: 0\.w {message}"):
        nn.load_weights(target, forged(tmp_path / "w.npz", first))
    assert same(target, net())


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_what_numpy_never_packs_with_is_refused(tmp_path, method):
    """Unpacking a piece of these may take gigabytes at once."""
    path = forged(tmp_path / "w.npz", header((4, 5)) + bytes(80), method)
    with pytest.raises(nn.WeightsError, match="packed in a way that NumPy never uses"):
        nn.load_weights(net(), path)


def test_other_forgeries(tmp_path):
    path = forged(tmp_path / "w.npz", header((4, 5)) + bytes(80), name="0.w")
    with pytest.raises(nn.WeightsError, match=r"0.w in it is no array"):
        nn.load_weights(net(), path)
    with pytest.warns(UserWarning, match="Duplicate name"):
        path = forged(tmp_path / "w.npz", header((4, 5)) + bytes(80), name="2.b.npy")
    with pytest.raises(nn.WeightsError, match="two arrays in it have the same name"):
        nn.load_weights(net(), path)
    content = bytearray(forged(tmp_path / "w.npz", header((4, 5)) + bytes(80)).read_bytes())
    content[content.index(bytes(80)) + 40] = 1  # one byte changed: the checksum does not fit
    path.write_bytes(content)
    with pytest.raises(nn.WeightsError, match=r"0.w is damaged"):
        nn.load_weights(net(), path)
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(3000):
            archive.writestr(f"{number}.npy", b"")
    with pytest.raises(nn.WeightsError, match=r"has \['0', .* and 2992 more besides"):
        nn.load_weights(net(), path)
