"""Single machine instructions for kernels: wide accesses, asynchronous copies, tensor cores.

    a, b, c, d = ld4(x, i)              one access of 16 bytes: x.flat[i], ..., x.flat[i + 3]
    st4(y, i, a, b, c, d)
    i = nonneg(cuda.threadIdx.x)        a promise to the compiler: i >= 0, so no index counts from the end
    cp_async16(As, i, A, j)             global to shared memory without a register; the thread goes on at once
    cp_async_commit(); cp_async_wait1()
    d = mma_tf32(a, b, c)               a warp multiplies a 16 x 8 by an 8 x 8 matrix
    d = mma_fp16(a, b, c)               a warp multiplies a 16 x 16 by a 16 x 8 matrix; mma_bf16 too

Numba has no words for these, so each is written for the compiler here, and once more in plain Python: for Numba's
simulator in `plain`, for the SIMT executor in `course_lib.simt.intrinsics`.

Indices are flat: they count elements of a C-contiguous array of any number of axes. Wide accesses need an address that
is a multiple of their size: an index that is a multiple of 4 (or 2), in an array that begins at such an address.

Source: NVIDIA, "PTX ISA"; the LLVM language reference. Asynchronous copies and tensor cores need compute capability
8.0, the others 7.5.
"""

from course_lib.cuda.numba_cuda import SIMULATOR, cgutils, intrinsic, types

if SIMULATOR:
    from course_lib.cuda.plain import *  # noqa: F403  the same names, as Python functions
else:
    from llvmlite import ir

    FLOAT, VOID, BYTES4, BYTES8 = ir.FloatType(), ir.VoidType(), ir.IntType(32), ir.IntType(64)
    F4, U4, U2 = (types.UniTuple(t, n) for t, n in ((types.float32, 4), (types.uint32, 4), (types.uint32, 2)))

    def _pointer(context, builder, array_type, array, index_type, index):
        """Return the address of element `index`, counted flat."""
        data = context.make_array(array_type)(context, builder, value=array).data
        if index.type.width < 64:
            index = builder.sext(index, BYTES8) if index_type.signed else builder.zext(index, BYTES8)
        return builder.gep(data, [index], inbounds=True)

    def _shared_address(context, builder, array_type, array, index_type, index):
        """Return the address within shared memory as the 32-bit number that instructions for it take."""
        pointer = _pointer(context, builder, array_type, array, index_type, index)
        return builder.ptrtoint(builder.addrspacecast(pointer, ir.PointerType(pointer.type.pointee, 3)), BYTES4)

    def _asm(builder, result, arguments, text, constraints, volatile=True):
        """Insert one PTX instruction; `volatile` ones stay where they are."""
        kind = ir.FunctionType(result, [a.type for a in arguments])
        return builder.call(ir.InlineAsm(kind, text, constraints, side_effect=volatile), arguments)

    def _are(array, *indices):
        """Whether the argument types are an array of 4-byte numbers and whole numbers; else typing must fail."""
        return isinstance(array, types.Array) and all(isinstance(i, types.Integer) for i in indices)

    def _load(width):
        @intrinsic
        def load(typing, array, index):
            if not _are(array, index) or array.dtype != types.float32:
                return None

            def generate(context, builder, signature, arguments):
                pointer = _pointer(context, builder, array, arguments[0], index, arguments[1])
                vector = ir.VectorType(FLOAT, width)
                value = builder.load(builder.bitcast(pointer, vector.as_pointer()), align=4 * width)
                return cgutils.pack_array(builder, [builder.extract_element(value, BYTES4(k)) for k in range(width)])

            return types.UniTuple(types.float32, width)(array, index), generate

        return load

    def _store(builder, context, array, index, arguments, width):
        pointer = _pointer(context, builder, array, arguments[0], index, arguments[1])
        vector = ir.VectorType(FLOAT, width)
        value = ir.Constant(vector, ir.Undefined)
        for k in range(width):
            value = builder.insert_element(value, arguments[2 + k], BYTES4(k))
        builder.store(value, builder.bitcast(pointer, vector.as_pointer()), align=4 * width)
        return context.get_dummy_value()

    ld4, ld2 = _load(4), _load(2)

    @intrinsic
    def st4(typing, array, index, a, b, c, d):
        if not _are(array, index) or array.dtype != types.float32:
            return None

        def generate(context, builder, signature, arguments):
            return _store(builder, context, array, index, arguments, 4)

        return types.void(array, index, *(types.float32,) * 4), generate

    @intrinsic
    def st2(typing, array, index, a, b):
        if not _are(array, index) or array.dtype != types.float32:
            return None

        def generate(context, builder, signature, arguments):
            return _store(builder, context, array, index, arguments, 2)

        return types.void(array, index, types.float32, types.float32), generate

    @intrinsic
    def nonneg(typing, index):
        if not isinstance(index, types.Integer):
            return None

        def generate(context, builder, signature, arguments):
            kind = ir.FunctionType(VOID, [ir.IntType(1)])
            assume = cgutils.get_or_insert_function(builder.module, kind, "llvm.assume")
            (value,) = arguments
            builder.call(assume, [builder.icmp_signed(">=", value, ir.Constant(value.type, 0))])
            return value

        return index(index), generate

    # ------------------------------------------------------------------------------------- asynchronous copies

    def _copy(size, way):
        """Return the intrinsic that copies `size` bytes; `n` of its floats are read, zeros fill the rest."""

        @intrinsic
        def copy(typing, shared, i, array, j, n):
            if not _are(shared, i) or not _are(array, j, n):
                return None

            def generate(context, builder, signature, arguments):
                to = _shared_address(context, builder, shared, arguments[0], i, arguments[1])
                source = builder.ptrtoint(_pointer(context, builder, array, arguments[2], j, arguments[3]), BYTES8)
                count = arguments[4]
                if count.type.width > 32:
                    count = builder.trunc(count, BYTES4)
                elif count.type.width < 32:
                    count = builder.zext(count, BYTES4)
                valid = builder.shl(count, BYTES4(2))
                text = f"cp.async.{way}.shared.global [$0], [$1], {size}, $2;"
                _asm(builder, VOID, [to, source, valid], text, "r,l,r,~{memory}")
                return context.get_dummy_value()

            return types.void(shared, i, array, j, n), generate

        return copy

    def _whole_copy(size, way):
        @intrinsic
        def copy(typing, shared, i, array, j):
            if not _are(shared, i) or not _are(array, j):
                return None

            def generate(context, builder, signature, arguments):
                to = _shared_address(context, builder, shared, arguments[0], i, arguments[1])
                source = builder.ptrtoint(_pointer(context, builder, array, arguments[2], j, arguments[3]), BYTES8)
                _asm(builder, VOID, [to, source], f"cp.async.{way}.shared.global [$0], [$1], {size};", "r,l,~{memory}")
                return context.get_dummy_value()

            return types.void(shared, i, array, j), generate

        return copy

    cp_async16, cp_async4 = _whole_copy(16, "cg"), _whole_copy(4, "ca")
    cp_async16_part, cp_async4_part = _copy(16, "cg"), _copy(4, "ca")

    def _order(text):
        @intrinsic
        def order(typing):
            def generate(context, builder, signature, arguments):
                _asm(builder, VOID, [], text, "~{memory}")
                return context.get_dummy_value()

            return types.void(), generate

        return order

    cp_async_commit = _order("cp.async.commit_group;")
    cp_async_wait0, cp_async_wait1, cp_async_wait2, cp_async_wait3 = (
        _order(f"cp.async.wait_group {n};") for n in range(4)
    )

    # ------------------------------------------------------------------------------------- tensor cores

    @intrinsic
    def float_bits(typing, x):
        def generate(context, builder, signature, arguments):
            return builder.bitcast(arguments[0], BYTES4)

        return types.uint32(types.float32), generate

    @intrinsic
    def bits_float(typing, u):
        def generate(context, builder, signature, arguments):
            return builder.bitcast(arguments[0], FLOAT)

        return types.float32(types.uint32), generate

    @intrinsic
    def to_tf32(typing, x):
        def generate(context, builder, signature, arguments):
            return _asm(builder, BYTES4, list(arguments), "cvt.rna.tf32.f32 $0, $1;", "=r,f", volatile=False)

        return types.uint32(types.float32), generate

    @intrinsic
    def split_tf32(typing, x):
        def generate(context, builder, signature, arguments):
            parts, rest = [], arguments[0]
            for _ in range(2):
                parts.append(_asm(builder, BYTES4, [rest], "cvt.rna.tf32.f32 $0, $1;", "=r,f", volatile=False))
                rest = builder.fsub(rest, builder.bitcast(parts[-1], FLOAT))
            return cgutils.pack_array(builder, parts)

        return U2(types.float32), generate

    @intrinsic
    def chop_tf32(typing, x):
        def generate(context, builder, signature, arguments):
            bits = builder.bitcast(arguments[0], BYTES4)
            big = builder.and_(bits, ir.Constant(BYTES4, 0xFFFFE000))
            rest = builder.fsub(arguments[0], builder.bitcast(big, FLOAT))
            return cgutils.pack_array(builder, [big, builder.bitcast(rest, BYTES4)])

        return U2(types.float32), generate

    @intrinsic
    def ldmatrix_x4(typing, shared, i):
        if not _are(shared, i):
            return None

        def generate(context, builder, signature, arguments):
            address = _shared_address(context, builder, shared, arguments[0], i, arguments[1])
            text = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {$0,$1,$2,$3}, [$4];"
            four = ir.LiteralStructType([BYTES4] * 4)
            result = _asm(builder, four, [address], text, "=r,=r,=r,=r,r,~{memory}")
            return cgutils.pack_array(builder, [builder.extract_value(result, k) for k in range(4)])

        return U4(shared, i), generate

    def _to_pair(kind):
        """Return the intrinsic that rounds two numbers to a 2-byte format and packs them, the first one low."""

        @intrinsic
        def to_pair(typing, low, high):
            def generate(context, builder, signature, arguments):
                low, high = arguments
                text = f"cvt.rn.{kind}x2.f32 $0, $1, $2;"  # PTX names the upper half first
                return _asm(builder, BYTES4, [high, low], text, "=r,f,f", volatile=False)

            return types.uint32(types.float32, types.float32), generate

        return to_pair

    to_fp16_pair, to_bf16_pair = _to_pair("f16"), _to_pair("bf16")

    def _mma(depth, kind):
        """Return the intrinsic D = A B + C of a warp: A 16 x depth, B depth x 8, C and D float32 16 x 8."""

        @intrinsic
        def mma(typing, a, b, c):
            def generate(context, builder, signature, arguments):
                parts = zip(arguments, (4, 2, 4), strict=True)
                inputs = [x for tuple_, n in parts for x in cgutils.unpack_tuple(builder, tuple_, n)]
                text = (
                    f"mma.sync.aligned.m16n8k{depth}.row.col.f32.{kind}.{kind}.f32 "
                    "{$0,$1,$2,$3}, {$4,$5,$6,$7}, {$8,$9}, {$10,$11,$12,$13};"
                )
                four = ir.LiteralStructType([FLOAT] * 4)
                result = _asm(builder, four, inputs, text, "=f,=f,=f,=f,r,r,r,r,r,r,f,f,f,f", volatile=False)
                return cgutils.pack_array(builder, [builder.extract_value(result, k) for k in range(4)])

            return F4(U4, U2, F4), generate

        return mma

    mma_tf32, mma_fp16, mma_bf16 = _mma(8, "tf32"), _mma(16, "f16"), _mma(16, "bf16")

    # What each does, in one place, for `help(ld4)`; the functions above have the code that the compiler inserts.
    ld4.__doc__ = "a, b, c, d = ld4(array, i): four float32 from flat index i on, a multiple of 4, by one access."
    ld2.__doc__ = "a, b = ld2(array, i): two float32 from flat index i on, a multiple of 2, by one access."
    st4.__doc__ = "st4(array, i, a, b, c, d): write four float32 from flat index i on, a multiple of 4, by one access."
    st2.__doc__ = "st2(array, i, a, b): write two float32 from flat index i on, a multiple of 2, by one access."
    nonneg.__doc__ = "i = nonneg(i): a promise that i >= 0; the compiler leaves out what a negative index would need."
    cp_async16.__doc__ = "cp_async16(shared, i, array, j): copy four float32, asynchronously; both multiples of 4."
    cp_async4.__doc__ = "cp_async4(shared, i, array, j): copy one float32, asynchronously."
    cp_async16_part.__doc__ = "cp_async16_part(shared, i, array, j, n): copy n <= 4 float32 and fill up with zeros."
    cp_async4_part.__doc__ = "cp_async4_part(shared, i, array, j, n): copy n <= 1 float32, or write a zero."
    cp_async_commit.__doc__ = "cp_async_commit(): this thread's copies since the last commit are a group from now on."
    cp_async_wait0.__doc__ = "Wait for all groups of this thread."
    cp_async_wait1.__doc__ = "Wait for all groups of this thread but the newest."
    cp_async_wait2.__doc__ = "Wait for all groups of this thread but the two newest."
    cp_async_wait3.__doc__ = "Wait for all groups of this thread but the three newest."
    float_bits.__doc__ = "u = float_bits(x): the 32 bits of a float32 as uint32."
    bits_float.__doc__ = "x = bits_float(u): the float32 whose 32 bits are those of the uint32 u."
    to_tf32.__doc__ = "u = to_tf32(x): x rounded to TF32 (8 bits of exponent, 10 of fraction), as bits in a uint32."
    split_tf32.__doc__ = "big, small = split_tf32(x): two TF32 numbers whose sum is x to about 21 bits."
    chop_tf32.__doc__ = "big, small = chop_tf32(x): as split_tf32, cut instead of rounded; small is x - big exactly."
    ldmatrix_x4.__doc__ = (
        "r = ldmatrix_x4(shared, i): four 8 x 8 tiles of 2-byte numbers (8 x 4 of float32). Lane l gives the address "
        "of row l % 8 of tile l // 8, four floats; it gets from each tile the float32 (l // 4, l % 4), as uint32."
    )
    mma_tf32.__doc__ = (
        "d = mma_tf32(a, b, c): D = A B + C by a whole warp, A 16 x 8, B 8 x 8, C and D 16 x 8. With g = lane // 4 and "
        "q = lane % 4: a[h] = A[g + 8 (h % 2), q + 4 (h // 2)], b[h] = B[q + 4 h, g], c[0], c[1] = C[g, 2 q], "
        "C[g, 2 q + 1], c[2], c[3] = C[g + 8, 2 q], C[g + 8, 2 q + 1]. a and b are TF32 bits in uint32."
    )
    to_fp16_pair.__doc__ = "u = to_fp16_pair(low, high): two float32 rounded to FP16, halves to even, in one uint32."
    to_bf16_pair.__doc__ = "u = to_bf16_pair(low, high): two float32 rounded to BF16, halves to even, in one uint32."
    mma_fp16.__doc__ = (
        "d = mma_fp16(a, b, c): D = A B + C by a whole warp, A 16 x 16, B 16 x 8, C and D 16 x 8. With g = lane // 4 "
        "and q = lane % 4, and two numbers in each uint32, low half first: a[h] = A[r, k], A[r, k + 1] with "
        "r = g + 8 (h % 2), k = 2 q + 8 (h // 2); b[h] = B[k, g], B[k + 1, g] with k = 2 q + 8 h; c and d as in "
        "mma_tf32. a and b are pairs of FP16; sums are float32."
    )
    mma_bf16.__doc__ = "d = mma_bf16(a, b, c): as mma_fp16, with pairs of BF16."

NAMES = (
    "ld4", "ld2", "st4", "st2", "nonneg", "cp_async16", "cp_async4", "cp_async16_part", "cp_async4_part",
    "cp_async_commit", "cp_async_wait0", "cp_async_wait1", "cp_async_wait2", "cp_async_wait3", "float_bits",
    "bits_float", "to_tf32", "split_tf32", "chop_tf32", "to_fp16_pair", "to_bf16_pair", "ldmatrix_x4", "mma_tf32",
    "mma_fp16", "mma_bf16",
)  # fmt: skip
"""All intrinsics."""

__all__ = list(NAMES)
