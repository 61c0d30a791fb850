"""IPython's shell with the names of a notebook, without a terminal, a history file or windows.

It is loaded only for cells that need it. Source: IPython's documentation.
"""

import subprocess
import types


def shell_of(module):
    """Return IPython's shell, which is one in a process, with a module's names as the notebook's.

    Source: IPython's documentation.
    """
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class ZMQInteractiveShell(InteractiveShell):
        """Called as Jupyter's shell is: by this name, and a part of its settings, notebooks know that they are one."""

    config = Config()
    config.HistoryManager.enabled = False
    config.IPKernelApp.log_level = 30
    names = vars(module)
    if InteractiveShell.initialized():  # a library made it
        shell = InteractiveShell.instance()
        shell.user_module, shell.user_ns = module, names
        names["get_ipython"] = shell.get_ipython
    else:
        shell = ZMQInteractiveShell.instance(config=config, user_module=module)
    shell.system = types.MethodType(_system, shell)
    shell.enable_gui = lambda gui=None: None  # no window: figures are for a page
    return shell


def _system(shell, command):
    """Run a line of the system's shell and print what it prints, as a notebook does; nobody is there to type."""
    done = subprocess.run(
        shell.var_expand(command, depth=1), shell=True, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    print(done.stdout.decode("utf-8", "replace"), end="")
    shell.user_ns["_exit_code"] = done.returncode
