#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tracelens compare as users meet it: inputs of all kinds, files, messages, exit status.

usage: test_compare.py TRACELENS_BINARY [unittest options]
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

BINARY = ""


def trace(path, scale, extra=False):
    """Three operations, each with a kernel; `extra` has a fourth."""
    events, at = [], 0
    names = [("aten::mm", 30), ("aten::add", 10), ("aten::mul", 5)] + ([("aten::relu", 2)] if extra else [])
    for number, (name, dur) in enumerate(names):
        args = {"Input Dims": [[8, 8], [8, 8]], "Input type": ["float", "float"], "Input Strides": [[8, 1], [8, 1]],
                "Concrete Inputs": ["", ""]}
        host = {"ph": "X", "pid": 1, "tid": 1}
        events.append({**host, "cat": "cpu_op", "name": name, "ts": at, "dur": 8, "args": args})
        events.append({**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 1, "dur": 2,
                       "args": {"correlation": number + 1}})
        events.append({"ph": "X", "pid": 0, "tid": 7, "cat": "kernel", "name": "k_" + name[6:], "ts": at + 20,
                       "dur": dur * scale, "args": {"correlation": number + 1, "stream": 7}})
        at += 200
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"traceEvents": events}, f)


class Compare(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="tl-compare-")
        self.addCleanup(shutil.rmtree, self.dir)
        trace(self.path("a.json"), 1)
        trace(self.path("b.json"), 2, extra=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def run_command(self, *args, status=0, command=(), env=None):
        run = subprocess.run([*(command or (BINARY, "compare")), *args], cwd=self.dir, capture_output=True, encoding="utf-8",
                             env={**os.environ, "COLUMNS": "100", **(env or {})})
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def fails(self, line, *args, status):
        run = self.run_command(*args, status=status)
        self.assertEqual(run.stdout, "")
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertIn(line, run.stderr)

    def report(self, name, *more):
        out = self.path(name)
        subprocess.run([BINARY, "report", self.path(name + ".json"), "--output_xlsx_path", out + ".xlsx", "--output_csvs_dir",
                        out + "_csv", "-q", *more], check=True)

    def sheet(self, folder, name):
        with open(os.path.join(self.path(folder), name + ".csv"), newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def folder(self, name):
        out = {}
        for file in sorted(os.listdir(self.path(name))):
            with open(os.path.join(self.path(name), file), encoding="utf-8") as f:
                out[file] = f.read()
        return out

    def test_all_kinds_of_input_agree(self):
        self.report("a", "--enable_kernel_summary")
        self.report("b", "--enable_kernel_summary")
        pairs = {"traces": ("a.json", "b.json"), "books": ("a.xlsx", "b.xlsx"), "folders": ("a_csv", "b_csv"),
                 "mixed": ("a.xlsx", "b.json"), "slash": ("a_csv/", "b.xlsx")}
        got = {}
        for kind, reports in pairs.items():
            self.run_command(*reports, "--names", "a", "b", "-o", kind + ".xlsx", "--output_csvs_dir", kind, "-q")
            got[kind] = {n: list(csv.reader(t.splitlines())) for n, t in self.folder(kind).items()}
            self.assertEqual(sorted(got[kind]), sorted(got["traces"]))
        for kind in pairs:
            for name, rows in got["traces"].items():
                other = got[kind][name]
                self.assertEqual(rows[0] if rows else [], other[0] if other else [], (kind, name))
                for x, y in zip(rows[1:], other[1:]):
                    for p, q in zip(x, y):
                        try:
                            self.assertAlmostEqual(float(p), float(q), 9, (kind, name))
                        except ValueError:
                            self.assertEqual(p, q, (kind, name))

    def test_the_figures(self):
        out = self.run_command("a.json", "b.json", "-o", "c.xlsx", "--output_csvs_dir", "c").stdout
        self.assertRegex(out, r"aten::mm +b +0\.030 +0\.060 +0\.030 +100\.0")
        self.assertRegex(out, r"aten::relu +b +0\.000 +0\.004 +0\.004 +-")
        self.assertIn("Workbook: c.xlsx", out)
        ops = {r["name"]: r for r in self.sheet("c", "ops_summary")}
        self.assertEqual(list(ops), ["aten::mm", "aten::add", "aten::mul", "aten::relu"])
        self.assertAlmostEqual(float(ops["aten::mm"]["total_direct_kernel_time_ms__b_diff"]), 0.03)
        self.assertEqual(ops["aten::relu"]["total_direct_kernel_time_ms__b_diff"], "")
        self.assertEqual([r["Kernel name"] for r in self.sheet("c", "kernel_summary")],
                         ["k_mm", "k_add", "k_mul", "k_relu"])
        self.assertEqual([r["name"] for r in self.sheet("c", "ops_unique_args_only_variant_b")], ["aten::relu"])
        with open(self.path("c/ops_unique_args_only_baseline_b.csv"), encoding="utf-8") as f:
            self.assertEqual(f.read(), "\n")

    def test_three_reports_and_their_tabs(self):
        shutil.copy(self.path("b.json"), self.path("c.json"))
        self.run_command("a.json", "b.json", "c.json", "-o", "x.xlsx")
        with zipfile.ZipFile(self.path("x.xlsx")) as book:
            text = book.read("xl/workbook.xml").decode()
        names = [part.split('"')[0] for part in text.split('<sheet name="')[1:]]
        self.assertEqual(names[0], "overview")
        self.assertEqual(len(names), len({n.lower() for n in names}))
        self.assertTrue(all(len(n) <= 31 for n in names))
        self.assertIn("unified_perf_summary_intersect_", names)
        self.assertIn("unified_perf_summary_intersec~2", names)

    def test_the_workbook_keeps_headers_and_hides_statistics(self):
        try:
            import openpyxl
        except ImportError:
            self.skipTest("no openpyxl")
        self.run_command("a.json", "b.json", "-o", "x.xlsx", "-q")
        book = openpyxl.load_workbook(self.path("x.xlsx"))
        empty = book["ops_unique_args_only_baseline_b"]
        self.assertEqual(empty.max_row, 1)
        self.assertEqual([c.value for c in empty[1]][:5],
                         ["name", "Input type", "Input Dims", "Input Strides", "Concrete Inputs"])
        sheet = book["ops_unique_args_intersect_b"]
        hidden = {c.value for c in sheet[1] if sheet.column_dimensions[c.column_letter].hidden}
        self.assertIn("a::total_direct_kernel_time_median", hidden)
        self.assertIn("b::ex_UID", hidden)
        self.assertNotIn("a::total_direct_kernel_time_sum", hidden)
        self.assertNotIn("name", hidden)
        self.assertTrue(sheet.conditional_formatting)
        texts = [[c.value for c in row] for row in book["overview"].iter_rows()]
        self.assertIn(["Baseline", "a: a.json", None], texts)
        self.assertTrue(any(row[0] == "aten::mm" and abs(row[1] - 0.03) < 1e-9 for row in texts))

    def test_what_reports_lack(self):
        self.report("a")
        self.report("b")
        run = self.run_command("a_csv", "b.xlsx", "-o", "x.xlsx", "--names", "p", "q")
        self.assertIn("note: kernel_summary is left out: a_csv has none (make the report with --enable_kernel_summary)",
                      run.stderr)
        self.fails("a_csv: there is no sheet 'kernel_summary' (make the report with --enable_kernel_summary)", "a_csv", "b.xlsx",
                   "--names", "p", "q", "--sheets", "kernel_summary", "-o", "y.xlsx", status=2)
        self.assertFalse(os.path.exists(self.path("y.xlsx")))

    def test_traces_without_gpu_work(self):
        """Against nothing all would be new or gone."""
        with open(self.path("host.json"), "w", encoding="utf-8") as f:
            json.dump({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 8}]}, f)
        with open(self.path("empty.json"), "w", encoding="utf-8") as f:
            json.dump({"traceEvents": []}, f)
        for name in ("host.json", "empty.json"):
            for pair in (("a.json", name), (name, "a.json")):
                self.fails(f"{name}: no GPU event with a usable time, nothing to compare", *pair, "-o", "x.xlsx", status=5)
        self.assertFalse(os.path.exists(self.path("x.xlsx")))

    def test_a_trace_that_is_cut_off(self):
        with open(self.path("b.json"), encoding="utf-8") as f:
            text = f.read()
        with open(self.path("cut.json"), "w", encoding="utf-8") as f:
            f.write(text[:len(text) * 3 // 4])
        run = self.run_command("a.json", "cut.json", "-o", "x.xlsx", status=4)
        self.assertIn("note: cut.json is cut off; what is there is compared\n", run.stderr)
        self.assertTrue(zipfile.is_zipfile(self.path("x.xlsx")))

    def test_reports_without_kernel_times(self):
        """No list of differences is not the same as no difference, and what lacks is told once."""
        self.report("a")
        os.mkdir(self.path("short"))
        shutil.copy(self.path("a_csv/gpu_timeline.csv"), self.path("short"))
        run = self.run_command("a_csv", "short", "-o", "x.xlsx")
        self.assertIn("No sheet that all reports have tells kernel times.\n", run.stdout)
        self.assertNotIn("No difference", run.stdout)
        self.assertEqual(run.stderr.count("ops_unique_args is left out"), 1, run.stderr)
        run = self.run_command("a_csv", "a.json", "-o", "x.xlsx")
        self.assertIn("No difference of kernel time.\n", run.stdout)

    def test_a_folder_of_something_else(self):
        """Everything would be new or gone."""
        self.report("a")
        os.mkdir(self.path("other"))
        with open(self.path("other/gpus.csv"), "w", encoding="utf-8") as f:
            f.write("name,time ms\nMI300X,5\n")
        for pair in (("a_csv", "other"), ("other", "a_csv"), ("a.json", "other")):
            self.fails("other: this is no report: it has no gpu_timeline, no ops_summary, and no other sheet that could "
                       "be compared", *pair, "-o", "x.xlsx", status=3)
        self.assertFalse(os.path.exists(self.path("x.xlsx")))

    def test_rounding_is_no_difference(self):
        for name, time in (("r", 0.1 + 0.2), ("s", 0.3), ("t", 0.300000001)):
            os.mkdir(self.path(name))
            with open(self.path(name + "/ops_summary.csv"), "w", encoding="utf-8") as f:
                f.write(f"name,total_direct_kernel_time_ms,Count\naten::mm,{time!r},1\n")
        self.assertIn("No difference of kernel time.\n", self.run_command("r", "s", "-o", "x.xlsx").stdout)
        self.assertRegex(self.run_command("s", "t", "-o", "x.xlsx").stdout, r"aten::mm +t +0\.300 +0\.300 +0\.000 +0\.0\n")

    def test_names_do_not_move_the_cursor(self):
        run = self.run_command("a.json", "b.json", "-o", "\x1b[2Jx.xlsx", "--names", "\x1b[31mp\nq", "\x1b[32mr")
        self.assertNotIn("\x1b", run.stdout + run.stderr)
        self.assertIn("the baseline is ?[31mp?q:\n", run.stdout)
        self.assertIn("Workbook: ?[2Jx.xlsx (", run.stdout)
        run = self.run_command("a.json", "--output_xlsx_path", "\x1b[2Jy.xlsx", command=(BINARY, "report"))
        self.assertIn("Workbook: ?[2Jy.xlsx (", run.stdout)

    def test_a_report_where_a_trace_belongs(self):
        self.report("a")
        line = "tracelens: 'a.xlsx' is a workbook, not a trace ('tracelens compare' puts finished reports side by side)\n"
        for command in (("diff", "a.xlsx", "b.json"), ("diff", "b.json", "a.xlsx"), ("report", "a.xlsx"),
                        ("report", "b.json", "--comparison_json_path", "a.xlsx")):
            run = self.run_command(*command[1:], status=3, command=(BINARY, command[0]))
            self.assertEqual((run.stdout, run.stderr), ("", line))

    def test_a_file_that_may_not_grow(self):
        self.report("a")
        self.report("b")
        before = os.listdir(self.dir)
        for output, line in (("x.xlsx", "tracelens: x.xlsx: cannot write the workbook: File too large\n"),
                             ("y.xlsx", ".csv': File too large\n")):
            folder = ("--output_csvs_dir", "y") if output == "y.xlsx" else ()
            run = self.run_command("-c", 'ulimit -f 8; exec "$@"', "sh", BINARY, "compare", "a.xlsx", "b.xlsx", "-o", output,
                                   *folder, "-q", status=1, command=("sh",))
            self.assertIn(line, run.stderr)
            self.assertEqual(sorted(os.listdir(self.dir)), sorted(before))

    def rocprof(self, name, times):
        os.mkdir(self.path(name))
        with open(self.path(name + "/kernel_summary.csv"), "w", encoding="utf-8") as f:
            f.write("name,Count,Mean Kernel Time (µs),Median Kernel Time (µs),Total Kernel Time (ms),Category\n")
            for kernel, time in times.items():
                f.write(f"{kernel},2,{500 * time},{500 * time},{time},GEMM\n")

    def test_rocprof_reports_by_their_own_columns(self):
        self.rocprof("r", {"k1": 4.0, "k2": 1.0})
        self.rocprof("s", {"k2": 3.0, "k1": 2.0})
        run = self.run_command("r", "s", "--sheets", "ops_summary", "-o", "x.xlsx", "--output_csvs_dir", "x")
        self.assertIn("note: kernel_summary stands in for ops_summary: r has none", run.stderr)
        self.assertEqual(list(self.folder("x")), ["kernel_summary.csv"])
        self.assertEqual(self.folder("x")["kernel_summary.csv"].splitlines(), [
            "name,Total Kernel Time (ms)__s_diff,Total Kernel Time (ms)__s_pct,Mean Kernel Time (µs)__s_diff,"
            "Mean Kernel Time (µs)__s_pct,Count__s_diff,Count__s_pct,r::Count,r::Mean Kernel Time (µs),"
            "r::Total Kernel Time (ms),s::Count,s::Mean Kernel Time (µs),s::Total Kernel Time (ms)",
            "k1,-2.0,-50.0,-1000.0,-50.0,0,0.0,2,2000.0,4.0,2,1000.0,2.0",
            "k2,2.0,200.0,1000.0,200.0,0,0.0,2,500.0,1.0,2,1500.0,3.0"])

    def test_wrong_usage(self):
        self.fails("at least two reports are needed", "a.json", status=2)
        self.fails("as many names as there are reports", "a.json", "b.json", "--names", "x", status=2)
        self.fails("two reports are called 'a'", "a.json", "./a.json", status=2)
        self.fails("only one of the reports can be standard input", "-", "-", "--names", "x", "y", status=2)
        self.fails("unknown sheets 'everything'", "a.json", "b.json", "--sheets", "everything", status=2)
        self.fails("this is one of the reports", "a.json", "b.json", "-o", "a.json", status=2)
        self.assertEqual(self.run_command("--help").stderr, "")

    def test_names_without_a_name(self):
        """As in the Python tool: scripts whose list of names is empty get the names of the files."""
        run = self.run_command("a.json", "b.json", "-o", "x.xlsx", "--names", "--sheets", "gpu_timeline")
        self.assertIn("the baseline is a:\n", run.stdout)
        self.fails("--sheets needs a value", "a.json", "b.json", "--sheets", "-o", "x.xlsx", status=2)

    def test_broken_reports_give_one_line(self):
        self.report("a")
        with open(self.path("text.xlsx"), "w", encoding="utf-8") as f:
            f.write("name,time\n")
        with open(self.path("a.xlsx"), "rb") as f:
            whole = f.read()
        with open(self.path("cut.xlsx"), "wb") as f:
            f.write(whole[:-200])
        with zipfile.ZipFile(self.path("empty.xlsx"), "w") as z:
            z.writestr("[Content_Types].xml", "<Types/>")
        with open(self.path("old.xlsx"), "wb") as f:
            f.write(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
        os.mkdir(self.path("nothing"))
        os.mkdir(self.path("words"))
        with open(self.path("words/gpu_timeline.csv"), "w", encoding="utf-8") as f:
            f.write("type,time ms\nbusy_time,soon\n")
        for name, line in (("text.xlsx", "text.xlsx: is no workbook, or a damaged one"),
                           ("cut.xlsx", "cut.xlsx: is no workbook, or a damaged one"),
                           ("empty.xlsx", "empty.xlsx: part _rels/.rels is missing"),
                           ("old.xlsx", "old.xlsx: is an old .xls file or one with a password"),
                           ("nothing", "nothing: the directory has no .csv file"),
                           ("words", "words: sheet 'gpu_timeline', column 'time ms': 'soon' is not a number"),
                           ("absent.xlsx", "absent.xlsx: cannot open")):
            self.fails(line, "a_csv", name, "-o", "x.xlsx", "--output_csvs_dir", "x", status=3)
            self.assertFalse(os.path.exists(self.path("x.xlsx")) or os.path.exists(self.path("x")))

    def test_names_of_columns(self):
        """Names that repeat get a number as in pandas, also when there are many; those that are no text are refused."""
        os.mkdir(self.path("many"))
        with open(self.path("many/gpu_timeline.csv"), "w", encoding="utf-8") as f:
            f.write("type,time ms,x,x.1,x,x" + ",y" * 8000 + "\nbusy_time,1,2,3,4,5" + ",6" * 8000 + "\n")
        shutil.copytree(self.path("many"), self.path("more"))
        subprocess.run([BINARY, "compare", "many", "more", "-o", "x.xlsx", "--output_csvs_dir", "x", "-q"], cwd=self.dir,
                       check=True, timeout=60)
        row = self.sheet("x", "gpu_timeline")[0]
        self.assertEqual([row[f"many::{name}"] for name in ("x", "x.1", "x.2", "x.3", "y", "y.7999")],
                         ["2", "3", "4", "5", "6", "6"])
        os.mkdir(self.path("wide"))
        with open(self.path("wide/gpu_timeline.csv"), "w", encoding="utf-16") as f:
            f.write("type,time ms\nbusy_time,1\n")
        self.fails("wide/gpu_timeline.csv: sheet 'gpu_timeline': the name of column 1 is no text (is this UTF-16?)", "many", "wide",
                   status=3)

    def test_a_pipe_is_not_waited_for(self):
        self.report("a")
        os.mkdir(self.path("pipe"))
        os.mkfifo(self.path("pipe/ops_summary.csv"))
        self.fails("cannot open 'pipe/ops_summary.csv': it is a named pipe", "a_csv", "pipe", status=3)

    def book(self, name, sheet, **parts):
        """A workbook with one sheet 'gpu_timeline'; `parts` replaces parts or leaves them out (None)."""
        head = '<?xml version="1.0"?>'
        relations = "http://schemas.openxmlformats.org/package/2006/relationships"
        office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        content = {
            "[Content_Types].xml": f"{head}<Types/>",
            "_rels/.rels": f'{head}<Relationships xmlns="{relations}"><Relationship Id="rId1" Type="{office}/officeDocument" '
                           'Target="xl/workbook.xml"/></Relationships>',
            "xl/workbook.xml": f'{head}<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="gpu_timeline" '
                               'sheetId="1" r:id="rId1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": f'{head}<Relationships xmlns="{relations}"><Relationship Id="rId1" '
                                          f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": f'{head}<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>',
        }
        with zipfile.ZipFile(self.path(name), "w", zipfile.ZIP_DEFLATED) as z:
            for part, text in {**content, **parts}.items():
                if text is not None:
                    z.writestr(part, text)

    @staticmethod
    def row(*cells):
        """Texts, numbers, and ready XML of a cell's inside."""
        def cell(value):
            if isinstance(value, str) and value.startswith("<"):
                return f"<c>{value}</c>"
            return f'<c t="inlineStr"><is><t>{value}</t></is></c>' if isinstance(value, str) else f"<c><v>{value}</v></c>"
        return "<row>" + "".join(cell(c) for c in cells) + "</row>"

    def test_broken_workbooks_give_one_line(self):
        self.report("a")
        names = self.row("type", "time ms", "percent")
        good = names + self.row("busy_time", 1.5, 100)
        self.book("good.xlsx", good)
        self.run_command("good.xlsx", "a_csv", "--sheets", "gpu_timeline", "-o", "fine.xlsx", "--output_csvs_dir", "fine")
        self.assertEqual(self.sheet("fine", "gpu_timeline")[0]["good::time ms"], "1.5")

        self.book("sheetless.xlsx", good, **{"xl/worksheets/sheet1.xml": None})
        self.book("bookless.xlsx", good, **{"xl/workbook.xml": None})
        self.book("unclosed.xlsx", good, **{"xl/worksheets/sheet1.xml": "<worksheet><sheetData><row>"})
        self.book("words.xlsx", names + self.row("busy_time", "soon", 100))
        self.book("formula.xlsx", names + self.row("busy_time", "<f>1+1</f>", 100))
        self.book("keyless.xlsx", self.row("kind", "time ms", "percent") + self.row("busy_time", 1.5, 100))
        self.book("wide.xlsx", names + self.row("busy_time", 1.5, 100, 7))
        self.book("backwards.xlsx", names + '<row r="3"><c><v>1</v></c></row><row r="2"><c><v>1</v></c></row>')
        # 200 MB of blanks in 200 kB
        self.book("bomb.xlsx", names + " " * 200_000_000)
        self.assertLess(os.path.getsize(self.path("bomb.xlsx")), 1_000_000)
        for name, line in (
                ("sheetless.xlsx", "sheetless.xlsx: part xl/worksheets/sheet1.xml is missing"),
                ("bookless.xlsx", "bookless.xlsx: part xl/workbook.xml is missing"),
                ("unclosed.xlsx", "unclosed.xlsx: part xl/worksheets/sheet1.xml: line 1 is no XML"),
                ("words.xlsx", "words.xlsx: sheet 'gpu_timeline', column 'time ms': 'soon' is not a number"),
                ("formula.xlsx", "formula.xlsx: sheet 'gpu_timeline', cell B2: a formula whose value is not stored (save the"),
                ("keyless.xlsx", "keyless.xlsx: sheet 'gpu_timeline' has no column 'type'"),
                ("wide.xlsx", "wide.xlsx: row 2 of sheet 'gpu_timeline' has more cells than there are columns"),
                ("backwards.xlsx", "backwards.xlsx: sheet 'gpu_timeline': row 2 comes after row 3"),
                ("bomb.xlsx", "which no report does (a zip bomb?)")):
            with self.subTest(name=name):
                self.fails(line, "a_csv", name, "--sheets", "gpu_timeline", "-o", "x.xlsx", "--output_csvs_dir", "x", status=3)
                self.assertFalse(os.path.exists(self.path("x.xlsx")) or os.path.exists(self.path("x")))

    def test_a_formula_counts_with_its_value(self):
        self.book("value.xlsx", self.row("type", "time ms", "percent") + self.row("busy_time", "<f>1+1</f><v>2</v>", 100))
        self.book("number.xlsx", self.row("type", "time ms", "percent") + self.row("busy_time", 3, 100))
        self.run_command("value.xlsx", "number.xlsx", "-o", "x.xlsx", "--output_csvs_dir", "x", "--sheets", "gpu_timeline")
        self.assertEqual(self.sheet("x", "gpu_timeline")[0]["time ms__number_diff"], "1")

    def test_a_hundred_thousand_rows(self):
        rows = 100_000
        for number, name in enumerate(("many.xlsx", "more.xlsx")):
            self.book(name, self.row("type", "time ms", "percent") + "".join(
                self.row(f"kind {i}", i + number, 0) for i in range(number, rows + number)))
        self.run_command("many.xlsx", "more.xlsx", "-o", "x.xlsx", "--output_csvs_dir", "x", "--sheets", "gpu_timeline", "-q")
        table = self.sheet("x", "gpu_timeline")
        self.assertEqual(len(table), rows + 1)
        self.assertEqual({r["time ms__more_diff"] for r in table[1:-1]}, {"1"})
        self.assertEqual([table[0]["time ms__more_diff"], table[-1]["time ms__more_diff"]], ["", ""])

    def test_the_published_page(self):
        """The commands of the Python tool's page on comparing, word by word, and what it says of their results."""
        for tool in ("generate_perf_report", "compare_perf_reports"):
            os.symlink(BINARY, self.path(f"TraceLens_{tool}_pytorch"))
        os.mkdir(self.path("traces"))
        os.rename(self.path("a.json"), self.path("traces/baseline.json"))
        os.rename(self.path("b.json"), self.path("traces/candidate.json"))
        for name in ("baseline", "candidate"):
            self.run_command("--profile_json_path", f"traces/{name}.json", "--output_xlsx_path", f"{name}.xlsx",
                             command=(self.path("TraceLens_generate_perf_report_pytorch"),))
        compare = (self.path("TraceLens_compare_perf_reports_pytorch"),)
        self.run_command("baseline.xlsx", "candidate.xlsx", "--names", "baseline", "candidate", "--sheets", "all",
                         "-o", "comparison.xlsx", command=compare)
        self.assertTrue(zipfile.is_zipfile(self.path("comparison.xlsx")))
        self.run_command("baseline.xlsx", "candidate.xlsx", "--names", "baseline", "candidate", "--output_csvs_dir", "c",
                         "-o", "comparison.xlsx", command=compare)
        timeline = {r["type"]: r for r in self.sheet("c", "gpu_timeline")}["busy_time"]
        base, other = float(timeline["baseline::time ms"]), float(timeline["candidate::time ms"])
        self.assertAlmostEqual(float(timeline["time ms__candidate_diff"]), other - base)
        self.assertAlmostEqual(float(timeline["time ms__candidate_pct"]), 100 * (other - base) / base)
        summary = self.sheet("c", "ops_summary")
        times = [float(r["baseline::total_direct_kernel_time_ms"] or 0) for r in summary]
        self.assertEqual(times, sorted(times, reverse=True))
        self.assertIn("aten::relu", [r["name"] for r in summary])  # an outer merge
        for sheet in ("ops_unique_args", "unified_perf_summary"):
            self.assertEqual([r["name"] for r in self.sheet("c", f"{sheet}_only_variant_candidate")], ["aten::relu"])
            self.assertEqual(self.sheet("c", f"{sheet}_only_baseline_candidate"), [])
            self.assertEqual(sorted(r["name"] for r in self.sheet("c", f"{sheet}_intersect_candidate")),
                             ["aten::add", "aten::mm", "aten::mul"])
        # the first report is the baseline
        self.run_command("candidate.xlsx", "baseline.xlsx", "--output_csvs_dir", "d", "-o", "comparison.xlsx", command=compare)
        turned = {r["type"]: r for r in self.sheet("d", "gpu_timeline")}["busy_time"]
        self.assertAlmostEqual(float(turned["time ms__baseline_diff"]), base - other)
        # what differs between the groups
        for group, files in (("gpu_timeline", {"gpu_timeline.csv"}), ("ops_summary", {"ops_summary.csv"})):
            self.run_command("baseline.xlsx", "candidate.xlsx", "--sheets", group, "--output_csvs_dir", group, "-o", "x.xlsx",
                             command=compare)
            self.assertEqual(set(self.folder(group)), files)

    def test_the_name_of_the_python_tool(self):
        alias = self.path("TraceLens_compare_perf_reports_pytorch")
        os.symlink(BINARY, alias)
        self.run_command("a.json", "b.json", "--sheets", "gpu_timeline", "ops_all", command=(alias,))
        self.assertTrue(os.path.exists(self.path("comparison.xlsx")))


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
