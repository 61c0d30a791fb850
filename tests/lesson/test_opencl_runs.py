"""What lesson 19 reads of a device's file, and what is said where there is none."""

import pytest

from course_lib.lesson import measured, opencl_run


def test_a_run_has_queues_jobs_and_devices():
    run = opencl_run("amd-epyc")
    assert run.device in run.devices
    assert set(run.queues) == {"in order", "out of order", "two queues", "nothing said"}
    for job in run.jobs.values():
        assert job.pair.names[0] == "OpenCL"
        assert dict(job.pair.curve)[0.0] == pytest.approx(job.pair.seconds[1])
        assert dict(job.pair.curve)[1.0] == pytest.approx(job.pair.seconds[0])
        assert sum(images for *_, images in job.spans) == run.batch
        assert 0 < job.ran < 1
        assert job.kept < 1
    assert set(run.transposes) == {2048, 2080}
    assert run.steps in run.forgotten


def test_a_device_that_was_not_measured_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no results/opencl\.z80\.json; tools/measure_opencl\.py writes it"):
        opencl_run("z80", folder=tmp_path)


def test_kernels_of_a_device_are_cases_like_others():
    found = measured("OpenCL product", card="amd-epyc")
    assert found.size == "512 x 512"
    assert found.flops == 2 * 512**3
    with pytest.raises(LookupError, match="OpenCL ReLU, OpenCL convolution, OpenCL product"):
        measured("transpose", card="amd-epyc")
