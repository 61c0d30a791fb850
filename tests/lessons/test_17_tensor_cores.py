"""Lesson 17: formats, fragments and trainings are what the page says, and its numbers follow from results/."""

import numpy as np
import pytest

from course_lib import data, nn, simt
from course_lib.cuda import swizzle
from course_lib.cuda.fragments import fragment
from course_lib.cuda.tensor_bounds import rounding_bound
from course_lib.figures.loss_scales import by_exponent, shares
from course_lib.figures.swizzles import wavefronts
from course_lib.lesson import (
    falling_rate,
    float32_in_order,
    measured,
    measured_rows,
    microbench,
    precision_runs,
    returning_gradients,
    split_products,
    tensor_core_products,
)
from course_lib.lesson.precision_runs import deep_sigmoid
from course_lib.reference.formats import FORMATS, round_to

LARGE = measured("gemm 4096", card="h200")


@pytest.fixture(scope="module")
def gradients():
    return returning_gradients(data.load_digits(seed=0))


def matrices(draw):
    return [draw(shape).astype(np.float32) for shape in ((16, 16), (16, 8), (16, 8))]


def test_the_pages_kernel_is_exact_on_whole_numbers_and_within_its_bound_on_others(lesson):
    rng = np.random.default_rng(1)
    A, B, C = matrices(lambda s: rng.integers(-9, 10, s))
    np.testing.assert_array_equal(lesson["warp_product"](A, B, C), A @ B + C)
    A, B, C = matrices(rng.standard_normal)
    D = lesson["warp_product"](A, B, C)
    a, b = round_to(A, "bf16"), round_to(B, "bf16")
    assert np.all(np.abs(D - (a.astype(float) @ b + C)) <= rounding_bound(a, b, C))


def test_the_page_says_that_whole_numbers_are_exact(shown):
    assert "\nTrue\n" in f"\n{shown}\n"


def test_the_pages_kernel_reads_the_elements_of_the_table(lesson):
    """With a matrix of places in A and ones elsewhere, what each lane loads is what the table gives it."""
    A = np.arange(256, dtype=np.float32).reshape(16, 16)
    held = fragment("a", "bf16").gather(A)
    lane = 5
    g, k = lane // 4, 2 * (lane % 4)
    assert held[lane].tolist() == [[A[r, c], A[r, c + 1]] for c in (k, k + 8) for r in (g, g + 8)]


def test_an_operation_is_2048_multiply_adds_and_64_for_each_lane(lesson):
    A, B, C = matrices(np.ones)
    report = simt.run(lesson["one_product"], 1, 32, [A, B, C, np.zeros_like(C)])
    assert report.total.flops == 2 * 2048 == 2 * 64 * 32
    assert not report.hazards


def test_rounding_by_bits_is_the_librarys(lesson):
    x = np.random.default_rng(2).standard_normal(10_000).astype(np.float32)
    np.testing.assert_array_equal(lesson["to_bf16"](x), round_to(x, "bf16"))


def test_a_v100_multiprocessor_does_eight_times_and_with_64_operations_it_would_be_four(lesson):
    assert lesson["volta"] / lesson["p100"] == 8
    assert 8 * 64 / lesson["p100"] == 4
    assert round(lesson["whole_card"] / 1e12) == 125


def test_the_long_product_adds_and_cuts_as_the_tables_do(lesson):
    """The page's loop over k on the executor, and the library's cut sums, bit by bit."""
    rng = np.random.default_rng(3)
    A, B = (rng.standard_normal(s).astype(np.float32) for s in ((16, 96), (96, 8)))
    D = np.full((16, 8), np.nan, np.float32)
    simt.run(lesson["long_product"], 1, 32, [A, B, D])
    np.testing.assert_array_equal(D, tensor_core_products(A, B, "bf16", 1))
    assert np.any(split_products(A, B, "bf16", 1)[0] != D)


def test_cut_sums_are_let_out_and_refuse_a_length_that_no_instruction_has():
    A, B = np.full((3, 32), 3, np.float32), np.full((32, 2), 5, np.float32)
    for flush in (None, 16, 32):
        np.testing.assert_array_equal(tensor_core_products(A, B, "fp16", 2, flush=flush), A @ B)
    with pytest.raises(ValueError, match="multiple of 16"):
        tensor_core_products(A[:, :24], B[:24], "bf16", 1)
    np.testing.assert_array_equal(float32_in_order(A, B), A @ B)


def test_the_two_matrices_of_the_error_tables_differ(lesson):
    assert lesson["A"].shape == (128, 4096)
    assert not np.array_equal(lesson["A"], lesson["B"].T)


def test_splitting_and_letting_out_are_both_needed(lesson):
    rounded, cut, out, apart = lesson["cut_errors"][4096, "tf32", 2]
    assert cut > 50 * rounded
    assert out < cut / 10
    assert apart < out
    assert lesson["cut_errors"][4096, "tf32", 1][2] > 100 * out


def test_small_products_in_a_sum_of_their_own_are_cut_less_but_do_not_save_the_large_one():
    draw = np.random.default_rng(2)
    A, B = draw.standard_normal((32, 2048), np.float32), draw.standard_normal((2048, 32), np.float32)

    def error(**kept):
        return np.abs(tensor_core_products(A, B, "bf16", 3, **kept) - A.astype(float) @ B).max()

    plain, apart, out, both = error(), error(apart=True), error(flush=256), error(flush=256, apart=True)
    assert both < out / 3 < plain / 3
    assert both < apart / 3 < plain / 3
    np.testing.assert_array_equal(
        tensor_core_products(A, B, "bf16", 1, apart=True), tensor_core_products(A, B, "bf16", 1)
    )


def test_a_tile_by_chunks_makes_a_row_wait(lesson):
    row, chunk = np.arange(8)[:, None], np.arange(8)
    np.testing.assert_array_equal(lesson["by_chunks"], (128 * chunk + 16 * row) // 4 % 32)
    assert [lesson["wavefronts"](b) for b in (lesson["by_chunks"][3], lesson["by_chunks"][:, 2])] == [8, 1]


def test_rung_9_is_at_the_limit_of_its_instruction_and_half_of_the_card():
    assert LARGE.seconds["v09_3xtf32"] < 3 * LARGE.seconds["v10_tf32"] < LARGE.seconds["v08_pipelined"]
    bare = microbench("tensor", card="h200")["TF32 products of 16 x 8 x 8, all warps"]
    speed = bare.rate * 2 * 16 * 8 * 8
    assert 235e12 < speed < 245e12
    assert 0.97 < 3 * LARGE.flops / LARGE.seconds["v09_3xtf32"] / speed < 1


def test_a_quarter_of_the_result_is_what_half_of_the_lanes_hold_operands_of():
    a, b = fragment("a", "bf16"), fragment("b", "bf16")
    held_a = np.zeros(a.shape, bool)
    held_a[a.rows[:16], a.columns[:16]] = True
    held_b = np.zeros(b.shape, bool)
    held_b[b.rows[:16], b.columns[:16]] = True
    assert held_a.all(axis=1).sum() * held_b.all(axis=0).sum() == 16 * 8 / 4
    assert a.owner(12, 7)[:2] == (19, 1)


def test_the_page_counts_wavefronts_as_the_picture_does(lesson, shown):
    for plain in (True, False):
        for banks in (swizzle.banks(8, plain=plain), swizzle.banks(8, plain=plain).T):
            assert [lesson["wavefronts"](b) for b in banks] == [wavefronts(b) for b in banks]
    assert "by rows: row 3 takes 1, chunk 2 of all rows 8\nby chunks: row 3 takes 8, chunk 2 of all rows 1" in shown
    assert "any row: 1, any chunk of all rows: 1" in shown


def test_a_descriptor_of_the_page_reads_what_was_meant_in_each_step(lesson, shown):
    for step in range(4):
        assert f"{0x4000004000010000 + 2 * step:#_x} True" in shown
    assert lesson["number"] == swizzle.descriptor(96)


def test_a_step_of_k_by_wgmma_is_32_instructions_and_registers_less(lesson):
    """The table of counts, from what an instruction of each kind takes."""
    a, b, c = (fragment(operand, "tf32") for operand in "abc")
    products = (64 // 16) * (64 // 8)
    assert products == 32 == 64 * 256 * 8 // (4 * 16 * 8 * 8)
    registers = 64 // 16 * a.rows.shape[1] + 64 // 8 * b.rows.shape[1]
    assert registers == 32 == lesson["loaded"] // 32
    assert products * c.rows.shape[1] == 128 == 64 * 256 // 128  # sums stay
    assert 4 * 32 * registers * 4 == 16_384
    assert 4 * 8 * (64 + 256) == 10_240


def test_cublas_is_faster_than_mma_can_be():
    bare = microbench("tensor", card="h200")["TF32 products of 16 x 8 x 8, all warps"]
    assert LARGE.flops / LARGE.seconds["cuBLAS TF32"] > 1.5 * bare.rate * 2 * 16 * 8 * 8


def test_chunk_5_of_row_11_lies_in_banks_24_to_27():
    assert swizzle.places(12)[11, 5] == 6
    assert swizzle.banks(12)[11, 5] == 24
    assert swizzle.places(4)[3, 5] == 6


def test_weights_kept_in_a_small_format_stay_in_it():
    digits = data.load_digits(seed=0)
    run = precision_runs(digits, {"it": {"precision": "bf16", "kept": "bf16"}}, epochs=2)["it"]
    assert run.history.epochs == 2
    assert 0 < run.late <= 1


def test_every_gradient_of_the_first_layer_is_zero_in_fp16_and_none_in_bf16(gradients):
    first = gradients["sums z"]["layer 1"]
    assert np.count_nonzero(first) == first.size
    assert not np.any(round_to(first, "fp16"))
    assert np.all(round_to(first, "bf16"))
    assert np.abs(first).max() < FORMATS["fp16"].smallest / 2


def test_the_scales_that_the_page_names_do_what_it_says(gradients):
    first = by_exponent(gradients["sums z"]["layer 1"])
    assert shares(first, 9, "fp16")["becomes zero"] < 0.01 < shares(first, 8, "fp16")["becomes zero"]
    assert shares(first, 14, "fp16")["loses digits"] < 0.5 < shares(first, 13, "fp16")["loses digits"]
    assert shares(first, 16, "fp16")["all digits"] > 0.85
    assert np.abs(gradients["sums z"]["layer 1"]).max() < 2**-25
    for of, layers in gradients.items():
        for name, values in layers.items():
            assert shares(by_exponent(values), 16, "fp16")["overflows"] == 0, (of, name)


def test_one_scale_is_limited_by_the_weights_of_the_last_layer(gradients):
    over = {
        (of, name): shares(by_exponent(g), 19, "fp16")["overflows"]
        for of, layers in gradients.items()
        for name, g in layers.items()
    }
    assert [where for where, share in over.items() if share] == [("weights", "layer 7")]
    assert shares(by_exponent(gradients["weights"]["layer 7"]), 18, "fp16")["overflows"] == 0
    for of, limit in (("sums z", 27), ("weights", 18)):  # "those of the sums z would bear more"
        assert all(shares(by_exponent(g), limit, "fp16")["overflows"] == 0 for g in gradients[of].values())
    several = [np.abs(gradients["weights"][n]).max() / np.abs(g).max() for n, g in gradients["sums z"].items()]
    assert min(several) > 200
    assert max(several) < 1000


def test_the_last_layers_gradients_are_largest_at_first_and_the_first_layers_grow():
    largest = []

    class Watched(nn.Adam):
        def step(self, *args):
            dense = [layer for layer in self.net.layers if isinstance(layer, nn.Dense)]
            largest.append([float(np.abs(layer.grads["w"]).max()) for layer in (dense[0], dense[-1])])
            return super().step(*args)

    digits = data.load_digits(seed=0)
    net = deep_sigmoid(np.random.default_rng(1))
    nn.train(
        net, digits, epochs=60, batch_size=len(digits.x_train), lr=falling_rate, optimiser=Watched(net),
        rng=np.random.default_rng(1), progress=False,
    )  # fmt: skip
    first, last = np.array(largest).T
    assert last[1:].max() < last[0] / 2
    assert first[-1] > 100 * first[0]


def test_a_sum_of_ones_stands_still_where_the_step_is_two():
    for name, end in (("bf16", 256), ("fp16", 2048)):
        assert round_to(np.float32(end + 1), name) == end
        assert end == 2 / FORMATS[name].step_at_one


def test_the_answers_of_check_yourself():
    g = np.float32(1e-8)
    assert round_to(g, "fp16") == 0
    assert round_to(g, "bf16") == pytest.approx(1e-8, rel=2**-8)
    scaled = round_to(g * np.float32(1024), "fp16")
    steps = scaled / FORMATS["fp16"].smallest
    assert 0 < scaled < FORMATS["fp16"].smallest_normal
    assert 128 <= steps < 256


def test_pi_times_powers_of_two_is_zero_in_e4m3_and_not_in_fp16_where_the_page_says():
    pi = np.float32(np.pi)
    lost = [k for k in range(-40, 5) if round_to(pi * np.float32(2.0**k), "e4m3") == 0]
    there = [k for k in range(-40, 5) if round_to(pi * np.float32(2.0**k), "fp16") != 0]
    assert sorted(set(lost) & set(there)) == list(range(-26, -11))


def test_a_step_moves_a_bf16_weight_of_1_from_half_of_a_256th_on():
    half = np.float32(1 / 256)
    assert round_to(np.float32(1) + half, "bf16") == 1
    assert round_to(np.float32(1) + np.nextafter(half, np.float32(1)) + np.float32(2**-20), "bf16") > 1


def test_one_scale_is_ended_by_the_last_layers_weights(lesson):
    assert lesson["scales"][:8].astype(int).tolist() == [24, 23, 22, 21, 20, 19, 18, 18]


def test_what_a_systolic_array_is_busy(lesson):
    assert {M: round(100 * share) for M, share in lesson["busy"].items()} == {16: 3, 256: 33, 4096: 89}
    assert round(lesson["tpu"] / 1e12) == 92


def test_a_running_mean_in_bf16_stands_still():
    ends = []
    for v, square in ((np.float32(0), 1), (np.float32(1), 0)):
        for _ in range(5000):
            v = round_to(np.float32(0.999 * v + 0.001 * square), "bf16")
        ends.append(float(v))
    assert ends == [0.25, 1]


def test_zeros_spread_upward_in_fp16_without_a_scale():
    run = precision_runs(data.load_digits(seed=0), {"w": {"precision": "fp16", "loss_scale": 1}}, epochs=20)["w"]
    assert run.reached.shape == (20, 7)
    assert np.all(run.reached[:, 0] == 0)
    assert run.reached[0, 1] > 0.9 > 0.1 > run.reached[19, 1]
    assert np.all(run.reached[:, 6] > 0.9)


def test_runs_differ_by_what_the_page_says():
    ladder = {n: measured(f"gemm {n}", card="h200") for n in (4096, 8192)}
    tera = {n: {who: one.flops / t / 1e12 for who, t in one.seconds.items()} for n, one in ladder.items()}
    in_turns, large = (measured_rows("hopper", f"TF32 {n}", card="h200") for n in (4096, 8192))
    assert in_turns.one(choice="v10")["tflops"] / tera[4096]["v10_tf32"] == pytest.approx(0.9, abs=0.02)  # "a tenth"
    assert 1 < in_turns.one(choice="cuBLAS TF32")["tflops"] / tera[4096]["cuBLAS TF32"] < 1.05  # "a little faster"
    library = measured_rows("tensor_cores", "library", card="h200")
    seventh = large.one(choice="cuBLAS TF32")["tflops"] / library.one(n=8192, format="TF32")["tflops"]
    assert 1.12 < seventh < 1 + 1 / 6  # "by up to a seventh on this page"
    fp8 = {n: library.one(n=n, format="FP8")["tflops"] / library.one(n=n, format="BF16")["tflops"] for n in ladder}
    assert {n: round(ratio, 1) for n, ratio in fp8.items()} == {4096: 1.7, 8192: 2.0}
    three = measured_rows("hopper", "3xTF32 4096", card="h200")
    slower = three.one(choice="v13 flush 32")["tflops"] / three.one(choice="v13")["tflops"]
    assert slower == pytest.approx(7 / 8, abs=0.015)  # "an eighth slower"
