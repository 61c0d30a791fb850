"""Sphinx's configuration of the site; `build_site` adds where the course folder lies."""

from __future__ import annotations

project = "From one perceptron to GPU kernels"
author = "The course authors"
copyright = "The course authors; text and figures CC BY 4.0"
language = "en"
extensions = ["myst_nb", "course_lib.book.extension"]
suppress_warnings = ["config.cache"]
show_warning_types = False
# Notebooks are the only text, and they must read here as they do in JupyterLab.
smartquotes = False
myst_enable_extensions = ["amsmath", "dollarmath", "html_image"]
myst_disable_syntax = ["myst_block_break", "myst_line_comment", "myst_role", "myst_target"]
myst_dmath_allow_digits = False
myst_dmath_allow_space = False
myst_dmath_double_inline = True
myst_heading_anchors = 4
html_math_renderer = "course_mathml"

nb_execution_mode = "off"
nb_merge_streams = True
nb_ipywidgets_js: dict[str, dict[str, str]] = {}  # a widget is no use without a kernel; its static figure is shown
nb_code_prompt_show = "Show the {type}"
nb_code_prompt_hide = "Hide the {type}"

html_theme = "sphinx_book_theme"
html_title = project
html_static_path = ["static"]
html_css_files = ["course.css"]
html_js_files = [("course.js", {"defer": "defer"})]
html_context = {"default_mode": "auto"}
html_copy_source = False
html_show_search_summary = False  # it would be fetched, which a browser refuses to a page opened as a file
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "home_page_in_toc": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "search_bar_text": "Search the course",
    "show_toc_level": 2,
    "toc_title": "On this page",
    "use_download_button": False,
    "use_fullscreen_button": False,
}
