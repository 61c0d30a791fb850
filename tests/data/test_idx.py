"""The IDX reader and load_mnist: every good file is read exactly, every bad one is named with what was found."""

import gzip
import itertools
import struct

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from course_lib.data import DataFileError, DataFileMissing, Digits, files, load_mnist, read_idx

CODES = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}
IMAGES, LABELS = "{}-images-idx3-ubyte", "{}-labels-idx1-ubyte"


def idx_bytes(array):
    """The IDX file of an array."""
    code = CODES[array.dtype.str[1:]]
    header = bytes([0, 0, code, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(array.dtype.newbyteorder(">")).tobytes()


def write_mnist(folder, train=20, test=10, seed=0):
    """Write a tiny data set in the format of MNIST; return its arrays by file name."""
    rng = np.random.default_rng(seed)
    folder.mkdir(exist_ok=True)
    arrays = {}
    for part, count in (("train", train), ("t10k", test)):
        arrays[IMAGES.format(part)] = rng.integers(0, 256, size=(count, 28, 28), dtype=np.uint8)
        arrays[LABELS.format(part)] = np.arange(count, dtype=np.uint8) % np.uint8(10)
    for name, array in arrays.items():
        (folder / name).write_bytes(idx_bytes(array))
    return arrays


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data(), code=st.sampled_from(sorted(CODES)), packed=st.booleans())
def test_any_array_is_read_back_exactly(tmp_path, data, code, packed):
    shapes = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5)
    array = data.draw(hnp.arrays(np.dtype(code), shapes))
    content = idx_bytes(array)
    path = tmp_path / "some.file"  # the name says nothing about gzip
    path.write_bytes(gzip.compress(content) if packed else content)
    found = read_idx(str(path))
    assert found.dtype == np.dtype(code)
    assert found.dtype.isnative
    assert found.flags.writeable
    np.testing.assert_array_equal(found, array)


def test_a_misleading_suffix_does_not_matter(tmp_path):
    (tmp_path / "plain.gz").write_bytes(idx_bytes(np.arange(5, dtype=np.uint8)))
    np.testing.assert_array_equal(read_idx(tmp_path / "plain.gz"), np.arange(5))


def test_a_file_larger_than_one_piece_is_read(tmp_path):
    array = np.random.default_rng(0).integers(0, 256, size=3 * files._CHUNK + 17, dtype=np.uint8)
    (tmp_path / "big").write_bytes(gzip.compress(idx_bytes(array), 1))
    np.testing.assert_array_equal(read_idx(tmp_path / "big"), array)


def test_a_missing_file_is_named_with_where_to_get_it(tmp_path):
    with pytest.raises(DataFileMissing, match=r"no-such-file does not exist\. Get the four MNIST .*https://") as e:
        read_idx(tmp_path / "no-such-file")
    assert str(tmp_path) in str(e.value)
    assert isinstance(e.value, FileNotFoundError)
    assert isinstance(e.value, ValueError)


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(DataFileError, match="is a folder, not a file"):
        read_idx(tmp_path)


def test_a_path_through_a_file_is_an_error(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(DataFileError, match="cannot be read"):
        read_idx(tmp_path / "file" / "below")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"starts with nothing \(it is empty\)"),
        (b"\0\0\x08", "starts with 00 00 08;"),
        (b"\0\0\x07\x01\0\0\0\0", "starts with 00 00 07 01;"),
        (b"\0\0\x08\0", "starts with 00 00 08 00;"),
        (b"\x01\0\x08\x01\0\0\0\0", "starts with 01 00 08 01;"),
        (b"\x03\x08\0\0", r"starts with 03 08 00 00 \(its bytes are in the wrong order"),
        (b"<!DOCTYPE html>", r"starts with 3c 21 44 4f \(a web page"),
        (b"PK\x03\x04", r"starts with 50 4b 03 04 \(a zip archive"),
        (gzip.compress(gzip.compress(b"x")), r"starts with 1f 8b .* \(packed with gzip, twice: unpack it first"),
        (b"BZh91AY", r"\(packed with bzip2"),
        (b"\xfd7zXZ\0", r"\(packed with xz"),
        (b"version https://git-lfs.github.com/spec/v1", r"a pointer of Git LFS.*git lfs pull"),
        (b"\x89PNG\r\n", "starts with 89 50 4e 47;"),
    ],
)
def test_a_wrong_magic_number_is_shown_in_hexadecimal(tmp_path, content, message):
    path = tmp_path / "train-images-idx3-ubyte"
    for packed in (content, gzip.compress(content)):
        path.write_bytes(packed)
        with pytest.raises(DataFileError, match=message) as caught:
            read_idx(path)
        assert "train-images-idx3-ubyte is no IDX file" in str(caught.value)
        assert "00 00 08 03 for MNIST images" in str(caught.value)
        assert "https://" in str(caught.value)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_truncated_file_tells_expected_and_found_bytes(tmp_path, pack):
    content, path = idx_bytes(np.zeros((6, 28, 28), np.uint8)), tmp_path / "images"
    path.write_bytes(pack(content[:1000]))
    with pytest.raises(DataFileError, match=r"truncated: its header says \(6, 28, 28\).* 4704 bytes .*only 984"):
        read_idx(path)
    path.write_bytes(pack(content[:10]))
    with pytest.raises(DataFileError, match="00 00 08 03 announces 3 sizes of 4 bytes, but only 6 bytes follow"):
        read_idx(path)
    path.write_bytes(pack(content + b"x"))
    with pytest.raises(DataFileError, match=r"too long: .* 4704 bytes after the header, but more were found"):
        read_idx(path)


@pytest.mark.parametrize("kept", [2, 9, 30, 200, -9, -1])
def test_a_gzip_file_cut_anywhere_is_an_error(tmp_path, kept):
    packed = gzip.compress(idx_bytes(np.random.default_rng(0).integers(0, 256, (4, 28, 28), dtype=np.uint8)))
    (tmp_path / "cut.gz").write_bytes(packed[:kept])
    with pytest.raises(DataFileError, match=r"cut\.gz"):
        read_idx(tmp_path / "cut.gz")


def test_a_damaged_gzip_file_is_an_error(tmp_path):
    packed = bytearray(gzip.compress(idx_bytes(np.arange(200, dtype=np.uint8)), 0))
    packed[60] ^= 1
    (tmp_path / "bad.gz").write_bytes(packed)
    with pytest.raises(DataFileError, match=r"bad\.gz: its gzip data are truncated or damaged"):
        read_idx(tmp_path / "bad.gz")
    (tmp_path / "bad.gz").write_bytes(b"\x1f\x8b\x08\x00rest that is no deflate stream")
    with pytest.raises(DataFileError, match="damaged"):
        read_idx(tmp_path / "bad.gz")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("rank", [2, 255])
def test_a_header_that_claims_the_impossible_costs_no_memory(tmp_path, pack, rank):
    header = bytes([0, 0, 0x0E, rank]) + b"\xff" * (4 * rank)
    (tmp_path / "huge").write_bytes(pack(header + b"12345678"))
    with pytest.raises(DataFileError, match="only 8 were found"):
        read_idx(tmp_path / "huge")


def test_mnist_is_loaded_as_digits(tmp_path):
    arrays = write_mnist(tmp_path)
    data = load_mnist(str(tmp_path))
    assert isinstance(data, Digits)
    assert data.x_train.shape == (20, 784)
    assert data.x_train.dtype == np.float32
    assert data.y_train.dtype == np.int64
    for part, x, y in (("train", data.x_train, data.y_train), ("t10k", data.x_test, data.y_test)):
        expected = arrays[IMAGES.format(part)].reshape(-1, 784).astype(np.float32) / np.float32(255)
        np.testing.assert_array_equal(x, expected)
        np.testing.assert_array_equal(y, arrays[LABELS.format(part)])
    assert data.images("test").shape == (10, 28, 28)
    assert repr(data) == "Digits(20 training and 10 test images of 28 x 28)"


@pytest.mark.parametrize(("dot", "packed"), [*itertools.product([False, True], repeat=2)])
def test_all_usual_spellings_of_the_names_are_found(tmp_path, dot, packed):
    for name in write_mnist(tmp_path):
        path = tmp_path / name
        content = path.read_bytes()
        path.unlink()
        name = name.replace("-idx", ".idx") if dot else name
        (tmp_path / (name + ".gz" * packed)).write_bytes(gzip.compress(content) if packed else content)
    assert len(load_mnist(tmp_path).y_train) == 20


def test_a_folder_with_the_name_of_a_file_is_passed_over(tmp_path):
    write_mnist(tmp_path)
    path = tmp_path / LABELS.format("train")
    (tmp_path / (path.name + ".gz")).write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    path.mkdir()
    assert len(load_mnist(tmp_path).y_train) == 20


def test_missing_files_are_all_listed_with_what_is_there(tmp_path):
    write_mnist(tmp_path)
    for name in ("train-labels-idx1-ubyte", "t10k-images-idx3-ubyte"):
        (tmp_path / name).unlink()
    with pytest.raises(DataFileMissing, match=r"lacks train-labels-idx1-ubyte, t10k-images-idx3-ubyte \(or") as caught:
        load_mnist(tmp_path)
    assert "it holds 't10k-labels-idx1-ubyte', 'train-images-idx3-ubyte'." in str(caught.value)
    assert "https://" in str(caught.value)


def test_an_empty_and_a_crowded_folder_are_described_briefly(tmp_path):
    with pytest.raises(DataFileMissing, match="it holds nothing"):
        load_mnist(tmp_path)
    for number in range(20):
        (tmp_path / f"holiday{number:02}.jpg").touch()
    with pytest.raises(DataFileMissing, match=r"'holiday07\.jpg' and 12 more\."):
        load_mnist(tmp_path)


def test_a_missing_folder_and_a_file_in_its_place_are_told_apart(tmp_path):
    with pytest.raises(DataFileMissing, match=r"the MNIST folder .*nowhere does not exist"):
        load_mnist(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(DataFileError, match="file is a file, not a folder"):
        load_mnist(tmp_path / "file")


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        (IMAGES, np.zeros((20, 784), np.uint8), r"shape \(20, 784\); MNIST images are uint8 of shape \(n, 28, 28\)"),
        (IMAGES, np.zeros((20, 32, 32), np.uint8), r"shape \(20, 32, 32\)"),
        (IMAGES, np.zeros((0, 28, 28), np.uint8), r"shape \(0, 28, 28\)"),
        (IMAGES, np.zeros((20, 28, 28), np.float32), "holds float32 numbers"),
        (IMAGES, np.zeros(20, np.uint8), r"shape \(20,\)"),  # the label file under the image file's name
        (LABELS, np.zeros((20, 28, 28), np.uint8), r"shape \(20, 28, 28\); MNIST labels are uint8 of shape \(n,\)"),
        (LABELS, np.zeros(20, np.int32), "holds int32 numbers"),
        (LABELS, np.zeros(19, np.uint8), r"holds 20 images and .* holds 19 labels; there must be one label an image"),
        (LABELS, np.array([3] * 7 + [10] * 13, np.uint8), r"label 10 at index 7; labels must be in 0\.\.9"),
    ],
)
@pytest.mark.parametrize("part", ["train", "t10k"])
def test_wrong_content_is_named_with_its_file(tmp_path, part, name, array, message):
    write_mnist(tmp_path, train=20, test=20)
    path = tmp_path / name.format(part)
    path.write_bytes(idx_bytes(array))
    with pytest.raises(DataFileError, match=message) as caught:
        load_mnist(tmp_path)
    assert str(path) in str(caught.value)
    assert "https://" in str(caught.value)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("sizes", "content"),
    [
        ([1] * 65, b"\x07"),  # one number, and more axes than an array can have
        ([1] * 255, b"\x07"),
        ([0] + [1] * 99, b""),
        ([0] + [2**32 - 1] * 3, b""),  # no number, and sizes whose product overflows
    ],
)
def test_a_header_that_no_array_can_have_is_an_error_of_the_file(tmp_path, pack, sizes, content):
    header = bytes([0, 0, 0x08, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes)
    (tmp_path / "odd").write_bytes(pack(header + content))
    with pytest.raises(DataFileError, match=rf"odd: its header says {len(sizes)} axes .*https://"):
        read_idx(tmp_path / "odd")


# --- as unpackers and people leave the files


def as_a_folder(path, inner):
    """Put a file into a folder of its own name, as unpackers on Windows do."""
    content = path.read_bytes()
    path.unlink()
    path.mkdir()
    (path / inner).write_bytes(content)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("inner", ["the same", "with a dot"])
def test_a_folder_named_as_the_file_is_looked_into(tmp_path, inner, packed):
    arrays = write_mnist(tmp_path)
    for name in arrays:
        if packed:
            (tmp_path / name).write_bytes(gzip.compress((tmp_path / name).read_bytes()))
        as_a_folder(tmp_path / name, name if inner == "the same" else name.replace("-idx", ".idx"))
    assert len(load_mnist(tmp_path).y_train) == 20
    for name, array in arrays.items():
        np.testing.assert_array_equal(read_idx(tmp_path / name), array)


def test_a_folder_named_as_the_file_that_holds_another_is_told(tmp_path):
    write_mnist(tmp_path)
    name = LABELS.format("train")
    as_a_folder(tmp_path / name, "labels.bin")
    with pytest.raises(DataFileMissing, match=rf"it holds .*'{name}/'.* {name} is a folder, not a file; it holds 'lab"):
        load_mnist(tmp_path)
    with pytest.raises(DataFileError, match=r"is a folder, not a file; it holds 'labels\.bin'"):
        read_idx(tmp_path / name)


def test_a_tilde_is_the_home(tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "mnist").mkdir()
    arrays = write_mnist(tmp_path / "mnist")
    assert len(load_mnist("~/mnist").y_train) == 20
    np.testing.assert_array_equal(read_idx(f"~/mnist/{LABELS.format('train')}"), arrays[LABELS.format("train")])
    with pytest.raises(DataFileMissing, match=r"~no such user/mnist does not exist"):
        load_mnist("~no such user/mnist")


@pytest.mark.parametrize("path", [None, 7, "", "a\0b", ["folder"]])
def test_what_is_no_path_is_told(path):
    for read in (load_mnist, read_idx):
        with pytest.raises((TypeError, ValueError), match=r"path is .*; it must"):
            read(path)


# --- small files that unpack to gigabytes


def bomb(path, shape, size):
    """A gzip file of `size` zeros whose header announces `shape`."""
    header = bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape)
    path.write_bytes(gzip.compress(header + bytes(size)))
    return path


def test_a_bomb_is_refused_by_its_header(tmp_path, monkeypatch):
    """1.5 MB may unpack to 1.5 GB; pictures pack to a tenth at best."""
    monkeypatch.setattr(files, "_MOST_AT_ALL", 2**20)
    path = bomb(tmp_path / "images", (2**11, 28, 28), 2**22)
    read = files.read_up_to
    monkeypatch.setattr(
        "course_lib.data.idx.read_up_to", lambda f, n, *a: read(f, n, *a) if n < 99 else pytest.fail("read")
    )
    with pytest.raises(
        DataFileError, match=r"images has \d+ bytes and says that it unpacks to 1605632: .* unpack it y"
    ):
        read_idx(path)


@pytest.mark.parametrize("part", [IMAGES, LABELS])
def test_no_number_is_read_before_the_header_fits(tmp_path, monkeypatch, part):
    write_mnist(tmp_path)
    path = tmp_path / part.format("train")
    bomb(path, (2**10, 28, 29) if part == IMAGES else (21,), 2**20)
    read, counts = files.read_up_to, []
    monkeypatch.setattr("course_lib.data.idx.read_up_to", lambda f, n, *a: counts.append(n) or read(f, n, *a))
    with pytest.raises(DataFileError, match=r"shape \(1024, 28, 29\)|holds 21 labels"):
        load_mnist(tmp_path)
    assert counts[-1] <= 12


def test_a_large_file_that_packs_well_is_read_where_it_is_unpacked_and_a_small_one_anyway(tmp_path, monkeypatch):
    assert files._MOST_AT_ALL > 60_000 * 28 * 28  # MNIST itself is never in question
    monkeypatch.setattr(files, "_MOST_AT_ALL", 2**20)
    path = bomb(tmp_path / "zeros", (2**20,), 2**20)
    assert read_idx(path).shape == (2**20,)
    path.write_bytes(gzip.decompress(bomb(tmp_path / "big", (2**22,), 2**22).read_bytes()))
    assert read_idx(path).shape == (2**22,)
    with pytest.raises(DataFileError, match="unpack it yourself"):
        read_idx(tmp_path / "big")
