"""What Numba's device arrays do on the host: views, elements, copies, and what they refuse."""

import numpy as np
from numba import cuda
from numba.cuda.cudadrv import devicearray

RESULTS = {}


def failing(function, *arguments, **options):
    """Return the class and the text of what goes wrong, or what comes out."""
    try:
        return str(function(*arguments, **options))
    except Exception as error:
        return type(error).__name__, str(error)


host = np.arange(24, dtype=np.float32).reshape(4, 6)
d = cuda.to_device(host)
RESULTS["class"] = isinstance(d, devicearray.DeviceNDArray), cuda.is_cuda_array(d), devicearray.is_cuda_ndarray(d)
RESULTS["attributes"] = d.shape, d.strides, str(d.dtype), d.size, d.ndim, d.nbytes, len(d), d.alloc_size
RESULTS["flags"] = d.is_c_contiguous(), d.is_f_contiguous(), d.flags
RESULTS["element"] = d[1, 2], type(d[1, 2]).__name__, d[-1, -1]
RESULTS["row"] = d[2].copy_to_host()
RESULTS["part"] = d[1:3].copy_to_host(), d[1:3].shape, d[1:3].strides
RESULTS["columns"] = d[:, 2:4].copy_to_host(), d[:, 2:4].strides
RESULTS["steps"] = d[::2, ::3].copy_to_host()
RESULTS["reshape"] = d.reshape(6, 4).copy_to_host(), d.reshape((2, 12)).shape, d.reshape(-1).shape
turned = cuda.to_device(np.asfortranarray(host))
RESULTS["reshape as it lies"] = [
    array.reshape(6, 4, order=order).copy_to_host() for array in (d, turned) for order in ("C", "F", "A")
]
RESULTS["ravel"] = d.ravel().copy_to_host()
RESULTS["T"] = d.T.copy_to_host(), d.T.strides, d.transpose((1, 0)).shape, d.transpose((0, 1)) is d
RESULTS["view"] = d.view(np.int32).copy_to_host(), d.view(np.uint8).shape, d.view(np.float64).shape
RESULTS["squeeze"] = d.reshape(4, 1, 6).squeeze().shape, d.reshape(4, 1, 6).squeeze(axis=1).shape
RESULTS["split"] = [part.copy_to_host().tolist() for part in cuda.to_device(np.arange(7)).split(3)]
RESULTS["numpy"] = np.asarray(d), float(np.sum(d)), np.array(d).dtype.name
RESULTS["bind"] = d.bind(cuda.stream()).copy_to_host()
RESULTS["getitem"] = d.getitem((1, 1)), d.getitem(0, stream=cuda.stream()).copy_to_host()

d[0] = 5
d[1, 1] = 7.9
d[2:, :3] = np.ones((2, 3), np.float32)
d[3] = np.arange(6)
d.setitem((0, 0), 1)
RESULTS["set"] = d.copy_to_host()
whole = cuda.to_device(np.zeros(4, np.int32))
whole[:] = 2.7
whole[1] = -3
RESULTS["set whole"] = whole.copy_to_host()

fortran = cuda.to_device(np.asfortranarray(host))
RESULTS["fortran"] = fortran.strides, fortran.copy_to_host(), fortran.is_f_contiguous(), fortran.ravel(order="F").shape
RESULTS["device_array"] = [
    cuda.device_array(shape, dtype, order=order).strides
    for shape, dtype, order in ((5, np.int8, "C"), ((2, 3), np.float64, "F"), ((2, 3, 4), np.float32, "C"))
]
RESULTS["default dtype"] = str(cuda.device_array(3).dtype), str(cuda.pinned_array(3).dtype)
RESULTS["like"] = [
    make(like).strides
    for make in (cuda.device_array_like, cuda.pinned_array_like, cuda.mapped_array_like)
    for like in (host, np.asfortranarray(host), host[:, ::2], host.T)
]
RESULTS["list"] = cuda.to_device([1, 2, 3]).copy_to_host(), cuda.to_device(3.5).copy_to_host()
to = cuda.device_array(3)
RESULTS["to"] = cuda.to_device(np.arange(3.0), to=to) is to, to.copy_to_host(), cuda.to_device(to) is to
RESULTS["copy=False"] = cuda.to_device(host, copy=False).shape
RESULTS["empty"] = cuda.to_device(np.zeros((0, 3))).copy_to_host().shape, cuda.device_array(0).size
broadcast = cuda.to_device(np.broadcast_to(np.arange(3.0), (2, 3)))
RESULTS["broadcast"] = broadcast.strides, broadcast.copy_to_host()
into = np.zeros((4, 6), np.float32)
RESULTS["copy_to_host returns"] = d.copy_to_host(into) is into, into.copy()
other = cuda.to_device(np.zeros((4, 6), np.float32))
other.copy_to_device(d)
RESULTS["device to device"] = other.copy_to_host()
other.copy_to_device(host)
RESULTS["host to device"] = other.copy_to_host()
RESULTS["as_cuda_array"] = cuda.as_cuda_array(other).copy_to_host()
record = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", np.int32), ("b", np.float64)])
d_record = cuda.to_device(record)
RESULTS["records"] = d_record.copy_to_host().tolist(), d_record[1]["b"]
cube = cuda.to_device(np.arange(24).reshape(2, 3, 4))
RESULTS["cube"] = cube[1].copy_to_host(), cube[:, 1].copy_to_host(), cube[1, 2, 3], cube[0, :, 1].copy_to_host()

RESULTS["gaps"] = failing(cuda.to_device, host[:, ::2])
RESULTS["copy to another dtype"] = failing(d.copy_to_host, np.zeros((4, 6)))
RESULTS["copy to another shape"] = failing(d.copy_to_host, np.zeros((6, 4), np.float32))
RESULTS["copy from another shape"] = failing(d.copy_to_device, np.zeros(3, np.float32))
RESULTS["reshape with gaps"] = failing(d[:, ::2].reshape, 12)
RESULTS["reshape of a column"] = failing(d[:, 0].reshape, 2, 2)
RESULTS["ravel with gaps"] = failing(d[:, ::2].ravel), failing(turned.ravel), turned.ravel(order="A").shape
RESULTS["reshape to another size"] = failing(d.reshape, 5, 5)[0]
RESULTS["outside"] = failing(d.__getitem__, (4, 0))[0], failing(d.__getitem__, 9)[0]
RESULTS["other indices"] = [failing(d.__getitem__, i)[0] for i in ([0, 1], None, Ellipsis)]
RESULTS["reversed"] = failing(cuda.to_device(np.arange(4))[::-1].copy_to_host)
RESULTS["number"] = cuda.to_device(np.float32(3)).shape, cuda.to_device(np.float32(3))[()]
RESULTS["too many indices"] = failing(d.__getitem__, (1, 2, 3))[0]
RESULTS["set of another size"] = failing(d.__setitem__, 0, np.ones(4, np.float32))
RESULTS["set of more axes"] = failing(d.__setitem__, 0, np.ones((1, 6), np.float32))
RESULTS["transpose of three axes"] = failing(cube.transpose)
RESULTS["not an array"] = failing(cuda.as_cuda_array, 3)
RESULTS["split of two axes"] = failing(lambda: list(d.split(2)))
RESULTS["no arithmetic"] = failing(lambda: d + 1)[0]
RESULTS["no device"] = failing(cuda.select_device, 1)[0]
