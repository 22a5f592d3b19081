#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Workbook, CSV and JSON of one report hold the same tables, cell by cell.

usage: test_same_tables.py TRACELENS_BINARY [unittest options]
"""
import ast
import csv
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import traces

try:
    import openpyxl
except ImportError:
    openpyxl = None

BINARY = ""
CELL = 32767  # the longest text of a cell, in UTF-16 units


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def in_workbook(text):
    """What a cell of a workbook shows of a text."""
    text = "".join("\ufffd" if c in "\ufffe\uffff" else c if c >= " " or c in "\n\t" else chr(0x2400 + ord(c))
                   for c in text.replace("\x7f", "\u2421"))
    if units(text) <= CELL:
        return text
    mark = f"…(cut, {len(text)} characters)"
    kept = text
    while units(kept) > CELL - len(mark):
        kept = kept[:-max(1, (units(kept) - CELL + len(mark)) // 2)]
    while units(kept) + units(text[len(kept)]) <= CELL - len(mark):
        kept += text[len(kept)]
    return kept + mark


def tuples_to_lists(value):
    if isinstance(value, (list, tuple)):
        return [tuples_to_lists(v) for v in value]
    if isinstance(value, dict):
        return {k: tuples_to_lists(v) for k, v in value.items()}
    return value


class SameTables(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tl-same-")
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def check_number(self, where, text, value, cell):
        if text == "":
            self.assertIsNone(value, where)
            self.assertIsNone(cell, where)
            return
        number = float(text)
        if math.isinf(number):
            self.assertIsNone(value, where)
            self.assertEqual(cell, text, where)
            return
        self.assertEqual(number, value, where)
        self.assertIsInstance(cell, (int, float), where)
        # a workbook stores 16 significant digits
        self.assertTrue(math.isclose(cell, number, rel_tol=1e-15, abs_tol=0), (where, text, cell))

    def check_cell(self, where, kind, text, value, cell):
        if kind in ("int64", "double"):
            self.check_number(where, text, value, cell)
        elif kind == "bool":
            self.assertEqual(text, {True: "True", False: "False", None: ""}[value], where)
            self.assertEqual(cell, value, where)
        else:
            self.assertEqual(cell or "", in_workbook(text), where)
            if kind == "string":
                self.assertEqual(text, value or "", where)
            elif text == "":
                self.assertIsNone(value, where)
            else:
                # NaN and infinities have no literal and no JSON
                literal = tuples_to_lists(ast.literal_eval(text.replace(": nan", ": None")))
                self.assertEqual(literal, value, where)

    def check_trace(self, trace, *options):
        subprocess.run([BINARY, "report", trace, "--output_csvs_dir", self.path("csv"), "--output_json_path",
                        self.path("r.json"), "--output_xlsx_path", self.path("r.xlsx"), "--enable_kernel_summary",
                        "--short_kernel_study", "--quiet", *options], check=True, timeout=120)
        with open(self.path("r.json"), encoding="utf-8") as f:
            report = json.load(f)
        book = openpyxl.load_workbook(self.path("r.xlsx"))
        names = [t["name"] for t in report["tables"]]
        self.assertEqual(book.sheetnames, ["overview", *names])
        self.assertEqual(sorted(os.listdir(self.path("csv"))), sorted(n + ".csv" for n in names))
        csv.field_size_limit(1 << 30)
        cells = 0
        for table in report["tables"]:
            with open(self.path("csv", table["name"] + ".csv"), encoding="utf-8", newline="") as f:
                head, *rows = list(csv.reader(f)) or [[]]
            sheet = book[table["name"]]
            columns = table["columns"]
            self.assertEqual(head, [c["name"] for c in columns])
            self.assertEqual(len(rows), len(table["rows"]))
            self.assertEqual([sheet.cell(1, c + 1).value for c in range(len(head))], head)
            self.assertEqual(sheet.max_row, len(rows) + 1)
            for r, row in enumerate(rows):
                for c, text in enumerate(row):
                    cell = sheet.cell(r + 2, c + 1)
                    self.assertNotEqual(cell.data_type, "f", "no formulas")
                    self.check_cell((table["name"], r, head[c]), columns[c]["type"], text, table["rows"][r][c],
                                    cell.value)
                    cells += 1
        return book, cells

    def test_small_trace(self):
        book, cells = self.check_trace(traces.simple().write(self.path("t.json")))
        self.assertGreater(cells, 100)
        sheet = book["ops_summary"]
        self.assertEqual(sheet.freeze_panes, "A2")
        self.assertEqual(sheet.auto_filter.ref, f"A1:{sheet.cell(sheet.max_row, sheet.max_column).coordinate}")
        self.assertTrue(sheet["A1"].font.bold)
        self.assertNotEqual(sheet["C2"].number_format, "General")
        for s in book.worksheets:
            for letter, dimension in s.column_dimensions.items():
                self.assertLessEqual(dimension.width, 101, (s.title, letter))

    def test_overview(self):
        book, _ = self.check_trace(traces.simple().write(self.path("t.json")), "--micro_idle_thresh_us=3")
        rows = [[c.value for c in row] for row in book["overview"].iter_rows()]
        text = {row[0]: row[1:] for row in rows}
        self.assertEqual(text["Trace"][0], self.path("t.json"))
        self.assertEqual(text["Options"][0],
                         "--enable_kernel_summary --short_kernel_study --micro_idle_thresh_us 3")
        for sheet in book.sheetnames[1:]:
            self.assertEqual(text[sheet][0], book[sheet].max_row - 1)
            self.assertGreater(len(text[sheet][1]), 20)

    def test_overview_tells_of_every_sheet(self):
        model = os.path.join(os.path.dirname(traces.EXAMPLE), "..", "custom_op.lua")  # with a sheet "Copies" of its own
        book, _ = self.check_trace(traces.EXAMPLE, "--gpu_arch_platform=H100", "--include_overlap_info",
                                   "--comparison_json_path", traces.EXAMPLE, "--extension_file", model)
        text = {row[0].value: row[2].value for row in book["overview"].iter_rows()}
        self.assertIn("Copies", book.sheetnames)
        for sheet in book.sheetnames[1:]:
            self.assertGreater(len(text[sheet] or ""), 20, sheet)

    def test_names_that_nobody_likes(self):
        book, _ = self.check_trace(traces.nasty().write(self.path("t.json")))
        values = {row[0].value for row in book["ops_summary"].iter_rows(min_row=2)}
        self.assertIn("op =HYPERLINK(\"x\")", values)
        self.assertTrue(any(v.endswith("…(cut, 40003 characters)") for v in values))

    def test_traces_without_host_or_gpu(self):
        self.check_trace(traces.gpu_only().write(self.path("t.json")))
        self.check_trace(traces.with_unlinked().write(self.path("u.json")), "--include_unlinked_kernels")

    def test_example(self):
        _, cells = self.check_trace(traces.EXAMPLE)
        self.assertGreater(cells, 1000)

    def test_corpus(self):
        for name in ("mi300_bert_small", "normalization_layers", "mi210_gpu_only", "mi300_resnet_checkpointing"):
            trace = traces.corpus(f"pytorch/{name}.json.gz")
            if not trace:
                self.skipTest("no corpus")
            with self.subTest(name):
                shutil.rmtree(self.path("csv"), ignore_errors=True)
                self.check_trace(trace)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if not openpyxl:
        print("skipped: this Python has no openpyxl")
        sys.exit(77 if "TL_SOURCE_ROOT" in os.environ else 0)
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
