#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The manual page and --help tell of the same options.

usage: test_manual.py TRACELENS_BINARY MANUAL_PAGE [unittest options]
"""
import os
import re
import subprocess
import sys
import unittest

BINARY = MANUAL = ""
NO_OPTIONS = {"help", "version", "model"}  # model: its options are those of a family, which the program itself lists


def run(*args):
    env = {**os.environ, "COLUMNS": "200"}
    return subprocess.run([BINARY, *args], capture_output=True, check=True, env=env, encoding="utf-8").stdout


def commands():
    text = run("help").split("commands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  (\S+)", text, re.M)


def options_of(command):
    return set(re.findall(r"^  (?:-\w, )?--([\w-]+)", run(command, "--help"), re.M))


def sections():
    """Of the manual page: text below each heading `.Ss tracelens COMMAND`, and what several commands share."""
    with open(MANUAL, encoding="utf-8") as f:
        page = f.read()
    parts = {}
    for part in re.split(r"^\.S[sh] ", page, flags=re.M)[1:]:
        title, _, body = part.partition("\n")
        parts[title.strip().strip('"')] = body
    own, shared, rest = parts["tracelens modules"].partition("commands also take:")
    assert shared, "where are the options that commands share?"
    parts["tracelens modules"] = own
    return page, parts, rest


def listed(text):
    """Options that stand in .It lines."""
    items = "\n".join(re.findall(r"^\.It .*$", text, re.M))
    return set(re.findall(r"Fl Fl ([\w-]+)", items))


class Manual(unittest.TestCase):
    def setUp(self):
        self.page, self.parts, self.shared = sections()

    def test_there_is_something_to_compare(self):
        self.assertGreater(len(commands()), 6)
        self.assertGreater(len(options_of("report")), 30)

    def test_every_command_has_a_section(self):
        for command in commands():
            self.assertRegex(self.page, r"(?m)^\.(Cm|Fl Fl) %s\b" % command)
            if command not in ("help", "version"):
                self.assertIn("tracelens " + command, self.parts)

    def test_every_option_is_in_the_manual(self):
        for command in set(commands()) - NO_OPTIONS:
            told = listed(self.parts["tracelens " + command])
            if "format" in options_of(command):
                told |= listed(self.shared)
            missing = options_of(command) - told
            self.assertFalse(missing, "%s: the manual page lacks %s" % (command, ", ".join(sorted(missing))))

    def test_the_manual_names_no_other_option(self):
        for command in set(commands()) - NO_OPTIONS:
            invented = listed(self.parts["tracelens " + command]) - options_of(command)
            self.assertFalse(invented, "%s has no %s" % (command, ", ".join(sorted(invented))))
        for command in ("timeline", "ops", "roofline", "tree", "modules"):
            self.assertFalse(listed(self.shared) - options_of(command))

    def test_what_all_families_of_models_share(self):
        text = run("model", "gemm", "--help").partition("platform and output:")[2].partition("formulas")[0]
        options = set(re.findall(r"^  (?:-\w, )?--([\w-]+)", text, re.M)) | {"list"}
        self.assertEqual(listed(self.parts["tracelens model"]), options)

    def test_every_environment_variable_of_an_option_is_listed(self):
        for name in set(re.findall(r"^\.Ev (\w+)", self.page, re.M)):
            self.assertRegex(self.parts["ENVIRONMENT"], r"(?m)^\.It .*\bEv %s\b" % name)

    def test_every_exit_status_is_explained(self):
        for status in re.findall(r"(\d) [a-z]", run("report", "--help").partition("exit status:")[2]):
            self.assertRegex(self.parts["EXIT STATUS"], r"(?m)^\.It %s$" % status)


if __name__ == "__main__":
    BINARY, MANUAL = os.path.abspath(sys.argv[1]), sys.argv[2]
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
