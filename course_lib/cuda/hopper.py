"""Hopper's words for kernels: copies by a unit of their own, barriers that count bytes, products by four warps at once.

    mbarrier_init(barrier, 1)                       a barrier in shared memory; `barrier` is its address
    mbarrier_expect(barrier, 49152)                 arrive, and say how many bytes are to come
    tma_load(tile, maps, 0, k, row, barrier)        one thread has a whole tile copied; the barrier counts its bytes
    mbarrier_wait(barrier, parity)                  until the barrier's phase of this parity is over

    wgmma_fence()                                   the registers of sums may be handed to the tensor cores
    wgmma_tf32_n256(acc, 0, r, 0, right, keep)      128 threads: 64 x 8 by 8 x 256; `right` describes a tile
    wgmma_commit(); wgmma_wait0()                   what was handed over is a group; wait for all groups
    cluster_rank(), cluster_sync()                  of blocks that work together, this one's number; wait for all
    tma_load_to_all(..., barrier, 3)                as tma_load, to blocks 0 and 1 of the cluster, and their barriers
    mbarrier_arrive_at(barrier, 1)                  arrive at block 1's barrier

    rest_tf32(x)                                    what tensor cores do not see of a float32, as a float32

Addresses within shared memory are whole numbers of 32 bits (`shared_address`): the byte in the block's own memory, and
from bit 24 on the block's number in its cluster. What a *descriptor* of a tile says, and where the *swizzle* of a copy
puts each 16 bytes, is `course_lib.cuda.swizzle`'s to tell.

Only compute capability 9.0 has these instructions; neither the SIMT executor nor Numba's simulator runs them. Source:
NVIDIA, "PTX ISA", "Asynchronous Warpgroup Level Matrix Instructions", "cp.async.bulk.tensor", "mbarrier", "setmaxnreg".
"""

from course_lib.cuda.numba_cuda import SIMULATOR, intrinsic, types

WIDTHS = (64, 128, 192, 256)
"""Columns of the right operand of a product by four warps, of 16 bits."""

TF32_WIDTHS = tuple(range(8, 257, 8))
"""Columns of the right operand of TF32: a convolution has as many as its masks have rows and maps."""

PLAIN = (
    "shared_address", "mbarrier_init", "mbarriers_ready", "mbarrier_expect", "mbarrier_arrive", "mbarrier_wait",
    "tensor_map_fence", "tma_load", "shared_to_async", "wgmma_fence", "wgmma_commit", "wgmma_wait0", "wgmma_wait1",
    "rest_tf32", "cluster_rank", "cluster_sync", "mbarrier_arrive_at", "tma_load_to_all",
)  # fmt: skip
PRODUCTS = (
    *(f"wgmma_tf32_n{n}" for n in TF32_WIDTHS),
    *(f"wgmma_{kind}_n{n}" for kind in ("f16", "bf16") for n in WIDTHS),
)
REGISTERS = tuple(f"registers_{way}" for way in ("down32", "down56", "up160", "up224"))
NAMES = (*PLAIN, *PRODUCTS, *REGISTERS)
"""All of Hopper's intrinsics."""

if SIMULATOR:

    def _absent(name):
        def absent(*arguments):
            raise NotImplementedError(f"{name} is an instruction of Hopper; Numba's simulator does not have it.")

        absent.__name__ = name
        return absent

    globals().update({name: _absent(name) for name in NAMES})
else:
    from llvmlite import ir

    from course_lib.cuda.intrinsics import BYTES4, BYTES8, FLOAT, VOID, _are, _asm, _pointer, _shared_address

    def _whole(builder, value, kind):
        """Return a whole number as one of the width that an instruction takes."""
        if value.type.width > kind.width:
            return builder.trunc(value, kind)
        return builder.zext(value, kind) if value.type.width < kind.width else value

    def _instruction(text, *kinds):
        """Return the intrinsic of one instruction that takes whole numbers of these widths and gives nothing."""
        letters = ",".join("l" if kind is BYTES8 else "r" for kind in kinds)
        constraints = ",".join(filter(None, (letters, "~{memory}")))

        def generate(context, builder, signature, arguments):
            values = [_whole(builder, a, kind) for a, kind in zip(arguments, kinds, strict=True)]
            _asm(builder, VOID, values, text, constraints)
            return context.get_dummy_value()

        if not kinds:
            return intrinsic(lambda typing: (types.void(), generate))
        if len(kinds) == 1:
            return intrinsic(lambda typing, a: (types.void(a), generate))
        return intrinsic(lambda typing, a, b: (types.void(a, b), generate))

    @intrinsic
    def cluster_rank(typing):
        def generate(context, builder, signature, arguments):
            return _asm(builder, BYTES4, [], "mov.u32 $0, %cluster_ctarank;", "=r", volatile=False)

        return types.uint32(), generate

    @intrinsic
    def rest_tf32(typing, x):
        def generate(context, builder, signature, arguments):
            big = builder.and_(builder.bitcast(arguments[0], BYTES4), ir.Constant(BYTES4, 0xFFFFE000))
            return builder.fsub(arguments[0], builder.bitcast(big, FLOAT))

        return types.float32(types.float32), generate

    @intrinsic
    def shared_address(typing, shared, i):
        if not _are(shared, i):
            return None

        def generate(context, builder, signature, arguments):
            return _shared_address(context, builder, shared, arguments[0], i, arguments[1])

        return types.uint32(shared, i), generate

    # ------------------------------------------------------------------------------------- barriers that count

    mbarrier_init = _instruction("mbarrier.init.shared::cta.b64 [$0], $1;", BYTES4, BYTES4)
    mbarriers_ready = _instruction("fence.mbarrier_init.release.cluster;")
    mbarrier_expect = _instruction("mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", BYTES4, BYTES4)
    mbarrier_arrive = _instruction("mbarrier.arrive.shared::cta.b64 _, [$0];", BYTES4)
    mbarrier_arrive_at = _instruction(
        "{ .reg .b32 there; mapa.shared::cluster.u32 there, $0, $1; mbarrier.arrive.shared::cluster.b64 _, [there]; }",
        BYTES4, BYTES4,
    )  # fmt: skip  # released to the cluster, it would wait for all of the warp's writes to reach the card's memory
    cluster_sync = _instruction("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;")
    mbarrier_wait = _instruction(
        "{ .reg .pred over; again: mbarrier.try_wait.parity.shared::cta.b64 over, [$0], $1; "
        "@over bra through; bra again; through: }",
        BYTES4, BYTES4,
    )  # fmt: skip

    # ------------------------------------------------------------------------------------- copies of whole tiles

    @intrinsic
    def tensor_map_fence(typing, maps, i):
        if not _are(maps, i):
            return None

        def generate(context, builder, signature, arguments):
            address = builder.ptrtoint(_pointer(context, builder, maps, arguments[0], i, arguments[1]), BYTES8)
            _asm(builder, VOID, [address], "fence.proxy.tensormap::generic.acquire.gpu [$0], 128;", "l,~{memory}")
            return context.get_dummy_value()

        return types.void(maps, i), generate

    @intrinsic
    def tma_load(typing, to, maps, i, x, y, barrier):
        if not _are(maps, i, to, x, y, barrier):
            return None

        def generate(context, builder, signature, arguments):
            address = builder.ptrtoint(_pointer(context, builder, maps, arguments[1], i, arguments[2]), BYTES8)
            to, x, y, barrier = (_whole(builder, arguments[k], BYTES4) for k in (0, 3, 4, 5))
            text = (
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                "[$0], [$1, {$2, $3}], [$4];"
            )
            _asm(builder, VOID, [to, address, x, y, barrier], text, "r,l,r,r,r,~{memory}")
            return context.get_dummy_value()

        return types.void(to, maps, i, x, y, barrier), generate

    @intrinsic
    def tma_load_to_all(typing, to, maps, i, x, y, barrier, blocks):
        if not _are(maps, i, to, x, y, barrier, blocks):
            return None

        def generate(context, builder, signature, arguments):
            address = builder.ptrtoint(_pointer(context, builder, maps, arguments[1], i, arguments[2]), BYTES8)
            to, x, y, barrier = (_whole(builder, arguments[k], BYTES4) for k in (0, 3, 4, 5))
            mask = _whole(builder, arguments[6], ir.IntType(16))
            text = (
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                "[$0], [$1, {$2, $3}], [$4], $5;"
            )
            _asm(builder, VOID, [to, address, x, y, barrier, mask], text, "r,l,r,r,r,h,~{memory}")
            return context.get_dummy_value()

        return types.void(to, maps, i, x, y, barrier, blocks), generate

    shared_to_async = _instruction("fence.proxy.async.shared::cta;")

    # ------------------------------------------------------------------------------------- products by four warps

    wgmma_fence = _instruction("wgmma.fence.sync.aligned;")
    wgmma_commit = _instruction("wgmma.commit_group.sync.aligned;")
    wgmma_wait0, wgmma_wait1 = (_instruction(f"wgmma.wait_group.sync.aligned {n};") for n in (0, 1))

    def _multiply(context, builder, kind, places, left, letters, right, keep, tail, n):
        """Insert a product: sums at `places`, `left` operand, a descriptor `right`; keep = 0 forgets old sums."""
        values = [builder.load(p) for p in places]
        count = len(places)
        sums = ", ".join(f"${k}" for k in range(count))
        names = [f"${2 * count + k}" for k in range(len(left))]
        first = names[0] if letters == "l" else "{" + ", ".join(names) + "}"
        second, keeps = f"${2 * count + len(left)}", f"${2 * count + len(left) + 1}"
        text = (
            f"{{ .reg .pred keep; setp.ne.b32 keep, {keeps}, 0; wgmma.mma_async.sync.aligned.m64n{n}{kind} "
            f"{{{sums}}}, {first}, {second}, keep, {tail}; }}"
        )
        constraints = ["=f"] * count + [str(k) for k in range(count)] + [letters] * len(left) + ["l", "r"]
        result = ir.LiteralStructType([FLOAT] * count)
        arguments = [*values, *left, _whole(builder, right, BYTES8), _whole(builder, keep, BYTES4)]
        given = _asm(builder, result, arguments, text, ",".join(constraints))
        for k, place in enumerate(places):
            builder.store(builder.extract_value(given, k), place)
        return context.get_dummy_value()

    def _places(context, builder, kind, array, index_type, index, count):
        """Return pointers to `count` elements of a local array from `index` on."""
        first = _pointer(context, builder, kind, array, index_type, index)
        return [builder.gep(first, [BYTES8(k)], inbounds=True) for k in range(count)]

    def _wgmma_tf32(n):
        @intrinsic
        def wgmma(typing, acc, o, r, i, right, keep):
            if not _are(acc, o, i, right, keep) or not _are(r):
                return None

            def generate(context, builder, signature, arguments):
                places = _places(context, builder, acc, arguments[0], o, arguments[1], n // 2)
                left = [builder.load(p) for p in _places(context, builder, r, arguments[2], i, arguments[3], 4)]
                kind = "k8.f32.tf32.tf32"
                return _multiply(context, builder, kind, places, left, "r", *arguments[4:], "1, 1", n)

            return types.void(acc, o, r, i, right, keep), generate

        return wgmma

    def _wgmma_16(kind, n):
        @intrinsic
        def wgmma(typing, acc, o, left, right, keep):
            if not _are(acc, o, left, right, keep):
                return None

            def generate(context, builder, signature, arguments):
                places = _places(context, builder, acc, arguments[0], o, arguments[1], n // 2)
                first = [_whole(builder, arguments[2], BYTES8)]
                name = f"k16.f32.{kind}.{kind}"
                return _multiply(context, builder, name, places, first, "l", *arguments[3:], "1, 1, 0, 1", n)

            return types.void(acc, o, left, right, keep), generate

        return wgmma

    for _n in TF32_WIDTHS:
        globals()[f"wgmma_tf32_n{_n}"] = _wgmma_tf32(_n)
    for _n in WIDTHS:
        for _kind in ("f16", "bf16"):
            globals()[f"wgmma_{_kind}_n{_n}"] = _wgmma_16(_kind, _n)
    for _name in REGISTERS:
        _way, _count = ("dec", _name[14:]) if "down" in _name else ("inc", _name[12:])
        globals()[_name] = _instruction(f"setmaxnreg.{_way}.sync.aligned.u32 {_count};")
    for _name in NAMES:  # what tells kernels apart that are kept on disk
        globals()[_name].__name__, globals()[_name].__module__ = _name, __name__

__all__ = list(NAMES)
