"""What only IPython understands: magics, shell lines, help, history, display; and tasks that go on between cells."""

from __future__ import annotations

from unusual.books import Model, Shape, code, lines, shape


@shape
def magics_in_the_first_cell() -> Shape:
    m = Model()
    magics = (
        "%matplotlib inline",
        "%config InlineBackend.figure_format = 'svg'",
        "%load_ext autoreload",
        "%autoreload 2",
    )
    m.setup = lines(*magics, m.setup)
    return m.shape()


@shape
def timed_lines_and_cells() -> Shape:
    m = Model()
    ones = "%time ONE = 1\n%timeit sum([1, 2])\n" + m.text["01.2"].replace("x @ x + 1", "x @ x + ONE")
    cells = "%%time\n" + m.text["01.1"] + "\ny = 3\ny"
    kept = "t = %timeit -o -n 1 -r 1 np.sum([1, 2])\nassert t.best >= 0\n" + m.text["01.3"]
    scratch = "%%timeit -n 1 -r 1\nONE = 77\nnp = None\n"
    texts = {"01.1": [cells, m.check("01.1")], "01.2": [ones, scratch, m.check("01.2")]}
    return m.shape(texts | {"01.3": [kept, m.check("01.3")]})


@shape
def shell_lines() -> Shape:
    m = Model()
    answer = "files = !echo 1\n" + m.text["01.2"].replace("x @ x + 1", "x @ x + int(files[0])")
    shell = "!echo one > one.txt\n!cat one.txt\nwho = %sx echo two\nassert who == ['two'], who\n!!echo 3"
    bash = ["%%bash\necho hello\nmkdir -p made\n", "import os\nassert os.path.isdir('made')"]
    return m.shape({"01.2": [shell, *bash, answer, m.check("01.2"), "files = []"]})


@shape
def captured_cells() -> Shape:
    m = Model()
    captured = "%%capture out\n" + m.text["01.1"] + "\nprint('hidden')"
    shown = "assert out.stdout == 'hidden\\n'\n" + m.check("01.1")
    checked = "%%capture told\ncheck('01.2', corrections_needed)"
    return m.shape({"01.1": [captured, shown], "01.2": [m.text["01.2"], checked, "told.show()"]})


@shape
def help_and_automagic() -> Shape:
    m = Model()
    last = ("np.mean?", "?np.sum", "fit_line??", "ls", "pwd", "ls -l", "who", "%lsmagic", "help(fit_line)")
    return m.shape({"01.3": [m.text["01.3"] + "\nmargin?", m.check("01.3")]}, last=last)


@shape
def operators_that_look_like_magics() -> Shape:
    m = Model()
    answer = m.text["01.2"] + "\nsame = (3\n        != 4)\nrest = (17\n%\n5)\nleft = (20\n    %time)\n!echo\n"
    quoted = '''%time text = 1
TEXT = """
%time one
!ls
%timeit two
"""
assert TEXT.split() == ['%time', 'one', '!ls', '%timeit', 'two'], TEXT
'''
    return m.shape({"01.2": ["time = 3", answer, m.check("01.2"), "f'{rest} % {left} {100 * 0.5:.0f}%'", quoted]})


@shape
def helpers_written_by_a_cell() -> Shape:
    m = Model()
    written = "%%writefile distance.py\ndef size_of(x, lr):\n    return lr * (x @ x + 1)\n"
    answer = "from distance import size_of\n\n" + m.text["01.2"].replace("lr * (x @ x + 1)", "size_of(x, lr)")
    more = ["%%writefile -a distance.py\nLATER = 1\n", "import importlib, distance\nimportlib.reload(distance).LATER"]
    last = ("%%writefile distance.py\nsize_of = None\n", "size_of = None")
    return m.shape({"01.2": [written, answer, m.check("01.2"), *more]}, last=last)


@shape
def helpers_that_are_run() -> Shape:
    m = Model()
    answer = "%run helper.py\n" + m.text["01.2"].replace("lr * (x @ x + 1)", "size_of(x, lr)")
    helper = lines("def size_of(x, lr):", "    return lr * (x @ x + BIAS)", "BIAS = 1").encode()
    return m.shape({"01.2": [answer, m.check("01.2")]}, helper_py=helper)


@shape
def the_shell_by_its_functions() -> Shape:
    m = Model()
    m.setup = lines(
        "from IPython import get_ipython", "ip = get_ipython()", "if ip is not None:",
        "    ip.run_line_magic('matplotlib', 'inline')", "IN_COLAB = 'google.colab' in str(get_ipython())",
        m.setup, "assert get_ipython().user_ns['np'] is np",
    )  # fmt: skip
    answer = "get_ipython().run_cell_magic('time', '', 'ONE = 1')\nget_ipython().system('echo hello')\n"
    answer += m.text["01.2"].replace("x @ x + 1", "x @ x + ONE")
    return m.shape({"01.2": [answer, m.check("01.2"), "get_ipython().run_cell('ONE = 8')"]})


@shape
def display_in_every_form() -> Shape:
    m = Model()
    shown = lines(
        "from IPython.display import HTML, Markdown, Image, clear_output, display",
        "from IPython.core.display import HTML as H", "display(HTML('<b>x</b>'), Markdown('*x*'))",
        "clear_output(wait=True)", "h = display('a', display_id=True)", "h.update('b')",
        "display({'text/plain': 'x'}, raw=True)",
    )  # fmt: skip
    bare = lines("display('no import')", "d = display('x', display_id='one')", "d.update('y')")
    return m.shape({"01.1": [bare, shown + m.text["01.1"], m.check("01.1")]})


@shape
def plots_and_widgets() -> Shape:
    m = Model()
    plots = lines(
        "import matplotlib.pyplot as plt", "plt.plot([1, 2])", "plt.show()",
        "fig, ax = plt.subplots()", "ax.imshow(np.eye(3))", "fig",
    )  # fmt: skip
    formats = "import matplotlib_inline.backend_inline\nmatplotlib_inline.backend_inline.set_matplotlib_formats('png')"
    widgets = lines(
        "import ipywidgets as widgets", "from ipywidgets import interact", "@interact(k=(0, 10))",
        "def shown(k=2):", "    return k",
    )  # fmt: skip
    slider = lines("s = widgets.IntSlider(value=1)", "s.observe(print, 'value')", "s.value = 1", "display(s)")
    answer = slider + m.text["01.2"].replace("x @ x + 1", "x @ x + s.value")
    tqdm = "from tqdm.auto import tqdm, trange\nfor _ in trange(3):\n    pass\n"
    texts = {"01.1": [plots, tqdm + m.text["01.1"], m.check("01.1")]}
    return m.shape(texts | {"01.2": [formats, widgets, answer, m.check("01.2")]})


@shape
def the_history_of_outputs() -> Shape:
    m = Model()
    cells = ["2 - 1", "_ + 0", "assert Out[2] == _3 == 1 and len(In) == 5, (Out, In)", "5;"]
    cells += ["assert _ == __ == 1 and _i == '5;'"]
    answer = "from_history = _2\n" + m.text["01.2"].replace("x @ x + 1", "x @ x + from_history")
    return m.shape({"01.1": [*cells, m.text["01.1"], m.check("01.1")], "01.2": [answer, m.check("01.2"), "'other'"]})


@shape
def the_history_after_a_magic() -> Shape:
    m = Model()
    answer = "%time from_history = _\n%cd .\n" + m.text["01.2"].replace("x @ x + 1", "x @ x + from_history")
    return m.shape({"01.2": ["3 - 2", answer, m.check("01.2"), "%time _ + 5", "assert _ == Out[7] == _7"]})


@shape
def waiting_at_the_top_level() -> Shape:
    m = Model()
    awaited = "import asyncio\n\nasync def one():\n    await asyncio.sleep(0.01)\n    return 1\n\nONE = await one()\n"
    loops = "async def numbers():\n    for k in range(3):\n        yield k\n\nasync for k in numbers():\n    print(k)\n"
    loops += "[k async for k in numbers()]"
    tasks = "task = asyncio.create_task(one())\nloop = asyncio.get_running_loop()\nasyncio.get_event_loop() is loop"
    thread = "TWO = await asyncio.to_thread(lambda: 2)\nassert (await task) == 1"
    answer = m.text["01.2"].replace("x @ x + 1", "x @ x + ONE")
    later = "ONE = await asyncio.sleep(0, 5)"
    return m.shape({"01.2": [awaited, loops, tasks, thread, answer, m.check("01.2"), later]})


@shape
def cells_that_may_raise() -> Shape:
    m = Model()
    failing = code("1 / 0", tags=["raises-exception"])
    imported = code("import no_such_package_at_all", tags=["raises-exception"])
    left = code("ONE = 1\nraise ValueError('shown on purpose')\nONE = 2\n", tags=["raises-exception"])
    syntax = code("def broken(:\n    pass\n", tags=["raises-exception"])
    answer = m.text["01.2"].replace("x @ x + 1", "x @ x + ONE")
    return m.shape({"01.2": [failing, imported, left, syntax, answer, m.check("01.2")]})


@shape
def everything_forgotten_at_the_top() -> Shape:
    m = Model()
    return m.shape(first=("x = 1\ny = 2", "%reset -f", "assert 'x' not in globals()"), last=("%reset -f",))


@shape
def long_outputs() -> Shape:
    m = Model()
    noise = "for k in range(20_000):\n    print('line', k)\nimport sys\nprint('e' * 100_000, file=sys.stderr)"
    return m.shape({"01.1": [noise, m.text["01.1"], "np.arange(100_000).tolist()", m.check("01.1")]})


@shape
def numpy_by_magic() -> Shape:
    m = Model()
    m.setup = "%pylab inline\nfrom course_lib.checks import check\n"
    return m.shape()
