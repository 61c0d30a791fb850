"""The CIFAR-10 reader: reads what Python 2 wrote, names what is wrong, and never runs what a hostile file asks for."""

import gzip
import io
import os
import pickle
import struct
import tarfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_lib.data import CIFAR10_NAMES, DataFileError, DataFileMissing, Images, batch_pickle, cifar10, load_cifar10

BATCHES = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]


# --- a writer of pickles as Python 2 made them; today's pickle module cannot write byte strings that way ---


def string(value):
    return b"U" + bytes([len(value)]) + value if len(value) < 256 else b"T" + struct.pack("<i", len(value)) + value


def number(value):
    if 0 <= value < 256:
        return b"K" + bytes([value])
    return b"J" + struct.pack("<i", value)


def sequence(items):
    return b"](" + b"".join(items) + b"e"


def byte_array(content, shape, code=b"u1", fortran=b"\x89"):
    made = b"cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\0\x85U\x01b\x87R"
    dtype = b"cnumpy\ndtype\n" + string(code) + b"K\0K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb"
    sizes = b"(" + b"".join(number(size) for size in shape) + b"t"
    return made + b"(K\x01" + sizes + dtype + fortran + string(content) + b"tb"


def dictionary(**items):
    return b"}(" + b"".join(string(key.encode()) + value for key, value in items.items()) + b"u"


def program(value):
    return b"\x80\x02" + value + b"."


def batch(count=4, seed=0, **changes):
    """The bytes of one batch with `count` images."""
    rng = np.random.default_rng(seed)
    images = rng.integers(0, 256, size=(count, 3072), dtype=np.uint8)
    items = {
        "batch_label": string(b"training batch"),
        "labels": sequence([number(index % 10) for index in range(count)]),
        "data": byte_array(images.tobytes(), images.shape),
        "filenames": sequence([string(b"frog_%d.png" % index) for index in range(count)]),
    }
    items.update(changes)
    return program(dictionary(**{key: value for key, value in items.items() if value is not None}))


def write_folder(folder, **replaced):
    folder.mkdir(parents=True, exist_ok=True)
    for seed, name in enumerate(BATCHES):
        content = replaced.get(name, batch(seed=seed))
        if content is not None:
            (folder / name).write_bytes(content)
    return folder


def write_archive(path, mode="w:gz", **replaced):
    with tarfile.open(path, mode) as archive:
        for seed, name in enumerate(BATCHES):
            content = replaced.get(name, batch(seed=seed))
            if content is not None:
                member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
    return path


def expected_images(seed, count=4):
    pixels = np.random.default_rng(seed).integers(0, 256, size=(count, 3, 32, 32), dtype=np.uint8)
    return pixels.astype(np.float32) / np.float32(255)


def test_the_test_writer_agrees_with_pickle_on_what_it_wrote():
    found = pickle.loads(batch(count=300), encoding="bytes")
    assert found[b"data"].shape == (300, 3072)
    np.testing.assert_array_equal(found[b"labels"], np.arange(300) % 10)
    data, labels = batch_pickle.read_batch(batch(count=300))
    np.testing.assert_array_equal(data, found[b"data"])
    assert labels == found[b"labels"]


# --- good files ---


@pytest.mark.parametrize("kind", ["tar.gz", "tar", "folder", "outer folder"])
def test_archive_and_folder_give_the_same_images(tmp_path, kind):
    if kind.startswith("tar"):
        path = write_archive(tmp_path / "any-name", "w:gz" if kind == "tar.gz" else "w")
    else:
        path = write_folder(tmp_path / "cifar-10-batches-py")
        path = path.parent if kind == "outer folder" else path
    data = load_cifar10(str(path))
    assert isinstance(data, Images)
    assert data.x_train.dtype == np.float32
    assert data.y_train.dtype == np.int64
    np.testing.assert_array_equal(data.x_train, np.concatenate([expected_images(seed) for seed in range(5)]))
    np.testing.assert_array_equal(data.x_test, expected_images(5))
    np.testing.assert_array_equal(data.y_train, [0, 1, 2, 3] * 5)
    np.testing.assert_array_equal(data.y_test, [0, 1, 2, 3])
    assert repr(data) == "Images(20 training and 4 test images of 3 x 32 x 32)"


def test_there_are_ten_names():
    assert len(CIFAR10_NAMES) == 10
    assert CIFAR10_NAMES[0] == "airplane"
    assert CIFAR10_NAMES[9] == "truck"


def test_a_batch_as_large_as_the_real_ones_is_read(tmp_path):
    images = np.arange(10_000 * 3072, dtype=np.uint32).astype(np.uint8).reshape(10_000, 3072)
    labels = sequence([number(index % 10) for index in range(10_000)])
    data, found = batch_pickle.read_batch(
        program(dictionary(labels=labels, data=byte_array(images.tobytes(), images.shape)))
    )
    np.testing.assert_array_equal(data, images)
    assert len(found) == 10_000


# --- missing and damaged files ---


def test_a_missing_path_is_named_with_where_to_get_it(tmp_path):
    with pytest.raises(
        DataFileMissing, match=r"nowhere does not exist\. Get cifar-10-python\.tar\.gz .*https://www\.cs"
    ):
        load_cifar10(tmp_path / "nowhere")


@pytest.mark.parametrize("kind", ["archive", "folder"])
def test_missing_batches_are_listed_with_what_is_there(tmp_path, kind):
    write = write_archive if kind == "archive" else write_folder
    path = write(tmp_path / "cifar", data_batch_3=None, test_batch=None)
    with pytest.raises(DataFileMissing, match=r"cifar lacks data_batch_3, test_batch; it holds .*data_batch_1'") as e:
        load_cifar10(path)
    assert "https://" in str(e.value)


def test_an_empty_folder_holds_nothing(tmp_path):
    with pytest.raises(DataFileMissing, match="it holds nothing"):
        load_cifar10(tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"", b"<html>not found</html>", b"\0" * 100, gzip.compress(b"no archive" * 99)],
    ids=["nothing", "a page", "zeros", "another thing"],  # gzip writes the time of day, and a name must not change
)
def test_what_is_no_archive_is_an_error(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(DataFileError, match=r"file (is no sound tar archive|lacks data_batch_1)"):
        load_cifar10(tmp_path / "file")


@pytest.mark.parametrize("part", [0.001, 0.2, 0.6, 0.97])
def test_a_truncated_archive_is_an_error(tmp_path, part):
    content = write_archive(tmp_path / "whole.tar.gz").read_bytes()
    (tmp_path / "cut.tar.gz").write_bytes(content[: int(part * len(content))])
    with pytest.raises(DataFileError, match=r"cut\.tar\.gz"):
        load_cifar10(tmp_path / "cut.tar.gz")
    content = gzip.decompress(content)
    (tmp_path / "cut.tar").write_bytes(content[: int(part * 60_000)])
    with pytest.raises(DataFileError, match=r"cut\.tar"):
        load_cifar10(tmp_path / "cut.tar")


@pytest.mark.parametrize("kept", [0, 1, 2, 3, 50, 1000, -1, -10])
def test_a_truncated_batch_is_named(tmp_path, kept):
    path = write_folder(tmp_path / "cifar", data_batch_2=batch()[:kept])
    with pytest.raises(DataFileError, match=r"cifar, data_batch_2: the pickle is truncated or damaged") as caught:
        load_cifar10(path)
    assert "https://" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": byte_array(bytes(4 * 100), (4, 100))}, r"data are \(4, 100\); they must be \(n, 3072\)"),
        ({"data": byte_array(b"", (0, 3072)), "labels": sequence([])}, r"data are \(0, 3072\)"),
        ({"data": byte_array(bytes(3072), (1, 3, 32, 32))}, "sizes and content do not fit"),
        ({"data": byte_array(bytes(100), (4, 3072))}, "sizes and content do not fit"),
        ({"data": byte_array(bytes(3072), (-1, -3072))}, "sizes and content do not fit"),
        ({"data": byte_array(bytes(3072), (1, 3072), fortran=b"\x88")}, "sizes and content do not fit"),
        ({"data": byte_array(bytes(8 * 3072), (1, 3072), code=b"f8")}, "something else than unsigned bytes"),
        ({"data": byte_array(bytes(8 * 3072), (1, 3072), code=b"O8")}, "something else than unsigned bytes"),
        ({"data": string(b"text")}, 'no array of bytes under "data"'),
        ({"data": None}, 'no array of bytes under "data"'),
        ({"data": b"cnumpy.core.multiarray\n_reconstruct\n)R"}, 'no array of bytes under "data"'),
        ({"labels": None}, 'no list of whole numbers under "labels"'),
        ({"labels": string(b"\0\1\2\3")}, 'no list of whole numbers under "labels"'),
        ({"labels": sequence([number(1), string(b"2"), number(3), number(4)])}, "no list of whole numbers"),
        ({"labels": sequence([b"\x88", number(2), number(3), number(4)])}, "no list of whole numbers"),
        ({"labels": sequence([number(1)] * 3)}, "4 images but 3 labels"),
        ({"labels": sequence([number(1), number(2), number(10), number(4)])}, r"label 10 at index 2; .* in 0\.\.9"),
        ({"labels": sequence([number(-1)] * 4)}, "label -1 at index 0"),
        ({"labels": sequence([b"\x8a\xff" + b"\x7f" * 255] * 4)}, r"label \d+ at index 0"),
    ],
)
@pytest.mark.parametrize("name", ["data_batch_5", "test_batch"])
def test_wrong_content_is_named_with_its_batch(tmp_path, name, changes, message):
    path = write_archive(tmp_path / "cifar.tar.gz", **{name: batch(**changes)})
    with pytest.raises(DataFileError, match=message) as caught:
        load_cifar10(path)
    assert f"cifar.tar.gz, {name}: " in str(caught.value)
    assert "https://" in str(caught.value)


@pytest.mark.parametrize("value", [sequence([]), string(b"x"), b"N", number(3)])
def test_a_pickle_of_something_else_is_named(value):
    with pytest.raises(batch_pickle.BatchError, match=r"holds a \w+; it must hold a dict"):
        batch_pickle.read_batch(program(value))


# --- sizes ---


def test_more_bytes_than_cifar_10_has_are_not_read(tmp_path, monkeypatch):
    path = write_archive(tmp_path / "cifar.tar.gz")
    folder = write_folder(tmp_path / "folder")
    monkeypatch.setattr(cifar10, "_BATCH_LIMIT", 12_000)
    for source in (path, folder):
        with pytest.raises(DataFileError, match="data_batch_1 holds more than 12000 bytes"):
            load_cifar10(source)
    monkeypatch.setattr(cifar10, "_ARCHIVE_LIMIT", 50_000)
    with pytest.raises(DataFileError, match=r"cifar\.tar\.gz holds more than 50000 bytes"):
        load_cifar10(path)


def test_an_archive_that_unpacks_to_gigabytes_is_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(cifar10, "_ARCHIVE_LIMIT", 2**22)
    (tmp_path / "bomb.tar.gz").write_bytes(gzip.compress(bytes(2**26)))
    with pytest.raises(DataFileError, match="holds more than 4194304 bytes"):
        load_cifar10(tmp_path / "bomb.tar.gz")


def test_links_sparse_files_and_paths_in_an_archive_are_never_followed(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(batch())
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as archive:
        for name, kind in zip(
            BATCHES, [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.GNUTYPE_SPARSE, *[tarfile.DIRTYPE] * 3], strict=True
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, str(secret)
            archive.addfile(member)
    with pytest.raises(DataFileMissing, match="lacks data_batch_1, data_batch_2"):
        load_cifar10(path)
    with tarfile.open(path, "w") as archive:  # names that point outside: read in memory, written nowhere
        for seed, name in enumerate(BATCHES):
            member = tarfile.TarInfo(f"../../../{name}")
            member.size = len(batch(seed=seed))
            archive.addfile(member, io.BytesIO(batch(seed=seed)))
    before = sorted(tmp_path.rglob("*"))
    assert len(load_cifar10(path).y_train) == 20
    assert sorted(tmp_path.rglob("*")) == before


# --- hostile pickles ---


class Calls:
    """Pickles to a call of a function, as an attacker writes it."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


def marker_command(tmp_path):
    return f"touch {tmp_path / 'executed'}"


def hostile_pickles(tmp_path):
    command, marker = marker_command(tmp_path), os.fsencode(tmp_path / "executed")
    text = command.encode()
    yield from (pickle.dumps(Calls(os.system, command), protocol) for protocol in range(6))
    yield from (pickle.dumps({b"data": Calls(eval, f"open({marker!r}, 'w')")}, protocol) for protocol in range(6))
    yield from (pickle.dumps(np.array([Calls(os.system, command)], dtype=object), protocol) for protocol in range(6))
    raw = [
        b"cposix\nsystem\n" + string(text) + b"\x85R",
        b"cos\nsystem\n" + string(text) + b"\x85R",
        b"c__builtin__\neval\n" + string(b"1") + b"\x85R",
        b"cbuiltins\ngetattr\n" + b"cos\nU\x06system\x86R",
        b"(ios\nsystem\n" + string(text) + b"o",  # INST
        b"(S'" + text + b"'\nios\nsystem\n",  # INST, protocol 0
        b"(cos\nsystem\n" + string(text) + b"o",  # OBJ
        b"cos\nsystem\n" + string(text) + b"\x85\x81",  # NEWOBJ
        b"cos\nsystem\n)}\x92",  # NEWOBJ_EX
        b"\x8c\x02os\x8c\x06system\x93\x8c\x01x\x85R",  # STACK_GLOBAL
        b"\x82\x01",  # EXT1
        b"Psome-id\n",  # PERSID
        b"K\x01Q",  # BINPERSID
        # NumPy's own names, misused: other names of its modules, dotted names, calls in unusual ways
        b"cnumpy.core.multiarray\n_reconstruct.__globals__\n",
        b"cnumpy\nload\n" + string(marker) + b"\x85R",
        b"cnumpy.testing._private.utils\nrunstring\n" + string(b"1") + b"}\x86R",
        b"cnumpy\nf2py.os.system\n" + string(text) + b"\x85R",
        b"cnumpy\nndarray\n)R",
        b"cnumpy\nndarray\nN}U\x05shapeK\x01s\x86b",  # BUILD on a name
        b"cnumpy\ndtype\n)R",
        b"cnumpy\ndtype\ncnumpy\nndarray\n\x85R",
        b"}N}X\x05\0\0\0classK\x01s\x86b",  # BUILD on a dict
        b"](K\x01eK\x05b",
        # an array whose state is forged
        byte_array(bytes(100), (2**31 - 1, 2**31 - 1)),
        byte_array(bytes(8), (1, 1), code=b"O"),
        byte_array(bytes(16), (1, 1), code=b"V16"),
        b"cnumpy.core.multiarray\n_reconstruct\n)R" + b"(K\x01K\x02tb",
        b"cnumpy.core.multiarray\n_reconstruct\n)RNb",
        # reserving memory by a number in the file
        b"]r\xff\xff\xff\xff",  # LONG_BINPUT
        b"\x96\xff\xff\xff\xff\xff\xff\xff\x7f",  # BYTEARRAY8
        b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f",  # BINBYTES8
        b"T\xff\xff\xff\x7f",  # BINSTRING
        b"T\xff\xff\xff\xff",
        b"\x8b\xff\xff\xff\x7f",  # LONG4
        b"\x95\xff\xff\xff\xff\xff\xff\xff\x7f",  # FRAME
        # stack tricks
        b"b", b"R", b"0", b"e", b"u", b"t", b"h\x01", b"(" * 1000, b"]" * 1000 + b"a" * 999,
    ]  # fmt: skip
    yield from (program(value) for value in raw)


def test_no_hostile_pickle_is_obeyed(tmp_path):
    count = 0
    for content in hostile_pickles(tmp_path):
        with pytest.raises(batch_pickle.BatchError):
            batch_pickle.read_batch(content)
        count += 1
        assert not (tmp_path / "executed").exists(), content
    assert count > 50


def test_the_hostile_pickles_are_real_ones(tmp_path):
    # The plain unpickler does obey: otherwise the test above would prove nothing.
    pickle.loads(pickle.dumps(Calls(os.system, marker_command(tmp_path)), 2))
    assert (tmp_path / "executed").exists()


@pytest.mark.parametrize("key", ["batch_label", "labels", "data", "filenames", "extra"])
def test_a_call_hidden_anywhere_in_a_batch_is_refused_and_named(tmp_path, key):
    call = b"cposix\nsystem\n" + string(marker_command(tmp_path).encode()) + b"\x85R"
    path = write_folder(tmp_path / "cifar", test_batch=batch(**{key: call}))
    with pytest.raises(DataFileError, match=r"cifar, test_batch: the pickle asks for posix\.system.*do not trust it"):
        load_cifar10(path)
    assert not (tmp_path / "executed").exists()


def test_a_module_that_a_pickle_names_is_not_even_imported(tmp_path, monkeypatch):
    (tmp_path / "spying_module.py").write_text("open(__file__ + '.imported', 'w')\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(batch_pickle.BatchError, match=r"asks for spying_module\.anything"):
        batch_pickle.read_batch(program(b"cspying_module\nanything\n"))
    assert not (tmp_path / "spying_module.py.imported").exists()


def test_an_instruction_that_is_not_known_is_named():
    with pytest.raises(batch_pickle.BatchError, match="uses instruction 129, which no image file needs"):
        batch_pickle.read_batch(program(b"cnumpy\nndarray\n)\x81"))


def test_one_file_cannot_change_how_the_next_is_read():
    for content in (
        program(b"cnumpy.core.multiarray\n_reconstruct\nN}X\x05\0\0\0_nameX\x05\0\0\0dtypes\x86b"),
        program(b"cnumpy\ndtype\n)R}X\x04\0\0\0codeU\x01Osb"),
    ):
        with pytest.raises(batch_pickle.BatchError):
            batch_pickle.read_batch(content)
    assert batch_pickle.read_batch(batch())[0].shape == (4, 3072)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=200)
@given(content=st.binary(max_size=60))
def test_random_bytes_are_never_more_than_an_error(content):
    for value in (content, program(content)):
        with pytest.raises(batch_pickle.BatchError):
            batch_pickle.read_batch(value)


@settings(deadline=None, max_examples=200)
@given(position=st.integers(0, 400), byte=st.integers(0, 255), from_end=st.booleans())
def test_one_changed_byte_gives_a_batch_or_an_error(position, byte, from_end):
    content = bytearray(batch(count=2))
    content[-1 - position if from_end else position] = byte
    try:
        data, labels = batch_pickle.read_batch(bytes(content))
    except batch_pickle.BatchError:
        return
    assert data.dtype == np.uint8
    assert all(type(label) is int for label in labels)


# --- as unpackers and people leave the files


def test_a_folder_named_as_the_batch_is_looked_into(tmp_path):
    folder = write_folder(tmp_path / "cifar")
    content = (folder / "data_batch_3").read_bytes()
    (folder / "data_batch_3").unlink()
    (folder / "data_batch_3").mkdir()
    with pytest.raises(DataFileMissing, match=r"lacks data_batch_3; it holds .*'data_batch_3/'"):
        load_cifar10(folder)
    (folder / "data_batch_3" / "data_batch_3").write_bytes(content)
    assert len(load_cifar10(folder).y_train) == 20


@pytest.mark.parametrize("around", ["cifar-10-batches-py", "cifar-10-python.tar.gz", "cifar-10-python"])
def test_a_folder_around_what_is_wanted_is_looked_into(tmp_path, around):
    outer = tmp_path / around
    (outer / "cifar-10-batches-py").mkdir(parents=True)
    write_folder(outer / "cifar-10-batches-py")
    assert len(load_cifar10(outer).y_train) == 20
    assert len(load_cifar10(tmp_path if around == "cifar-10-batches-py" else outer).y_train) == 20


@pytest.mark.parametrize("name", ["cifar-10-python.tar.gz", "cifar-10-python.tar"])
def test_a_folder_that_holds_the_archive_will_do(tmp_path, name):
    write_archive(tmp_path / name, "w:gz" if name.endswith("gz") else "w")
    assert len(load_cifar10(tmp_path).y_train) == 20


def test_a_tilde_is_the_home(tmp_path, monkeypatch):
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    write_archive(tmp_path / "cifar.tar.gz")
    assert len(load_cifar10("~/cifar.tar.gz").y_train) == 20
    with pytest.raises(TypeError, match=r"path is None; it must be a string or a pathlib\.Path"):
        load_cifar10(None)


# --- small files that unpack to gigabytes


def test_a_batch_that_is_too_large_is_refused_by_its_header(tmp_path, monkeypatch):
    path = tmp_path / "bomb.tar"
    member = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
    member.size = 2**30
    path.write_bytes(gzip.compress(member.tobuf() + bytes(2**26)))
    monkeypatch.setattr(tarfile.ExFileObject, "read", lambda self, n=-1: pytest.fail("the batch was read"))
    with pytest.raises(DataFileError, match=r"bomb\.tar, data_batch_1 holds more than 50331648 bytes"):
        load_cifar10(path)


def test_an_archive_that_says_it_is_too_large_is_not_unpacked(tmp_path, monkeypatch):
    packed = bytearray(gzip.compress(bytes(1000)))
    packed[-4:] = (2**31).to_bytes(4, "little")  # the size of what is packed stands at the end
    (tmp_path / "bomb.tar.gz").write_bytes(packed)
    monkeypatch.setattr(gzip.GzipFile, "read", lambda self, n=-1: pytest.fail("it was unpacked"))
    with pytest.raises(DataFileError, match="holds more than 335544320 bytes"):
        load_cifar10(tmp_path / "bomb.tar.gz")


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_that_goes_on_for_ever_is_stopped(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(cifar10, "_ARCHIVE_LIMIT", 2**22)
    member = tarfile.TarInfo("x")
    member.size, member.type = 2**30, kind
    (tmp_path / "bomb.tar").write_bytes(member.tobuf() + bytes(2**23))
    with pytest.raises(DataFileError, match="holds more than 4194304 bytes"):
        load_cifar10(tmp_path / "bomb.tar")


def test_an_archive_of_countless_files_is_stopped(tmp_path):
    member = tarfile.TarInfo("x").tobuf()
    (tmp_path / "many.tar").write_bytes(gzip.compress(1200 * member))
    with pytest.raises(DataFileError, match="holds more than 1000 files"):
        load_cifar10(tmp_path / "many.tar")
