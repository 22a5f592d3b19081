# SPDX-License-Identifier: MIT
"""Tables for other programs."""
import csv
import json
import os
import tempfile
import unittest
import warnings

import numpy as np
import pandas as pd

import common
from TraceLens import Table, TreePerfAnalyzer
from TraceLens._frame import frame


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.a = TreePerfAnalyzer.from_file(common.BUNDLED)
        cls.table = cls.a._native().launchers(kernel_details=True)

    def test_cells(self):
        table = self.table
        self.assertIsInstance(table, Table)
        self.assertEqual(len(table.columns), len(table.types))
        self.assertEqual(len(table.units), len(table.types))
        self.assertEqual(table.units[table.columns.index("total_direct_kernel_time")], "µs")
        for name, kind in zip(table.columns, table.types):
            cells = table.cells(name)
            self.assertEqual(len(cells), len(table))
            expected = {"int64": int, "double": float, "string": str, "bool": bool}.get(kind, (list, tuple, dict))
            self.assertTrue(all(cell is None or isinstance(cell, expected) for cell in cells), name)
        for wrong, error in (("nothing", KeyError), (99, IndexError), (-1, IndexError), (None, TypeError)):
            with self.assertRaises(error):
                table.cells(wrong)
            with self.assertRaises(error):
                table.column(wrong)

    def test_arrays(self):
        """An array that is filled holds what the list of cells holds."""
        for name, kind in zip(self.table.columns, self.table.types):
            array = np.empty(len(self.table), dtype=object)
            found, empty = self.table.fill(name, array)
            cells = self.table.cells(name)
            self.assertEqual(list(array), cells, name)
            self.assertEqual(empty, cells.count(None), name)
            types = {type(cell) for cell in cells if cell is not None}
            self.assertEqual(found, types.pop() if len(types) == 1 else None, name)
        for wrong in (np.empty(1, dtype=object), np.empty(len(self.table)), np.empty((len(self.table), 1), dtype=object),
                      np.empty(2 * len(self.table), dtype=object)[::2]):
            with self.assertRaises((ValueError, BufferError)):
                self.table.fill("name", wrong)
        for wrong in (None, [], b"abc"):
            with self.assertRaises((TypeError, BufferError)):
                self.table.fill("name", wrong)
        with self.assertRaises(KeyError):
            self.table.fill("nothing", array)

    def test_frames(self):
        """Frames have the dtypes that pandas itself would find."""
        made = frame(self.table)
        self.assertEqual(list(made.columns), self.table.columns)
        for name, kind in zip(self.table.columns, self.table.types):
            if kind in ("string", "list", "record"):
                array = np.empty(len(self.table), dtype=object)
                array[:] = self.table.cells(name)
                pd.testing.assert_series_equal(made[name], pd.Series(array, name=name))

    def test_no_row_shares_what_can_be_changed(self):
        """What a script does to a cell is seen in no other cell, of its row, of another or of another table."""

        def held(value):
            found = [id(value)] if isinstance(value, (list, dict)) else []
            parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
            return found + [at for part in parts for at in held(part)]

        a = TreePerfAnalyzer.from_file(common.BUNDLED, add_python_func=True)
        native = a._native(call_stack=True)
        operations = [event for event in a.tree.events if event["cat"] == "cpu_op"]
        tables = {"launchers": native.launchers(kernel_details=True, overlap=True, call_stack=True),
                  "unified": native.unified(overlap=True),
                  "metrics": native.metrics(operations, arguments=True, kernel_details=True, overlap=True)}
        number = 0
        for what, table in tables.items():
            for name in table.columns:
                for cells in (table.cells(name), list(frame(table)[name])):
                    ids = [at for cell in cells for at in held(cell)]
                    self.assertEqual(len(ids), len(set(ids)), (what, name))
                    number += len(ids)
        self.assertGreater(number, 1000)
        stacks = tables["launchers"].cells("call_stack")
        self.assertLess(len({str(stack) for stack in stacks}), len(stacks))  # some are equal

    def test_missing_parameters(self):
        """A parameter that no model told is missing in the summary, too, and its rows are one group."""
        a = self.a
        events = [event for event in a.tree.events if event["name"] in ("aten::add", "aten::mul")]
        metrics = a.build_df_perf_metrics(events)
        self.assertTrue(metrics["param: stride_output"].isna().all())
        summary = a.summarize_df_perf_metrics(metrics, ["mean"])
        self.assertTrue(summary["param: stride_output"].isna().all())
        self.assertEqual(int(summary["name_count"].sum()), len(metrics))
        known = summary["param: shape_in1"]
        self.assertEqual(set(known), {str(value) for value in metrics["param: shape_in1"]})
        self.assertEqual(known.dtype, summary["param: stride_output"].dtype)

    def test_numbers_that_some_rows_lack(self):
        events = [e for e in self.a.tree.events if e["name"] in ("aten::addmm", "aten::gelu_backward", "aten::add_")]
        made = self.a.build_df_perf_metrics(events)
        column = made["param: M"]
        self.assertEqual({type(cell) for cell in column}, {int, float})
        some = made[column > 0]  # what has no M is in no comparison
        self.assertEqual(set(some["name"]), {"aten::addmm"})
        self.assertEqual(len(some), int(column.notna().sum()))
        texts = self.a.summarize_df_perf_metrics(made, ["mean"])["param: M"].dropna()
        self.assertTrue(len(texts) and texts.str.isdigit().all())

    def test_nothing_summed_up_is_still_a_table_of_texts(self):
        launchers = self.a.get_df_kernel_launchers().iloc[:0]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # older pandas warn of columns without a type
            made = self.a.get_df_kernel_launchers_summary(launchers)
        self.assertEqual(len(made[made["name"].str.contains("mm")]), 0)
        made = self.a.get_df_kernel_launchers_summary_by_category(launchers)
        self.assertEqual(len(made[made["op category"].str.contains("GEMM")]), 0)

    def test_frames_where_texts_are_objects(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer versions say that the option will go
            try:
                before = pd.get_option("future.infer_string")
            except pd.errors.OptionError:
                self.skipTest("pandas has no dtype for texts")
            pd.set_option("future.infer_string", False)
            try:
                made = frame(self.table)
            finally:
                pd.set_option("future.infer_string", before)
        self.assertEqual(made["name"].dtype, object)
        self.assertEqual(list(made["name"]), self.table.cells("name"))

    def test_text(self):
        value = json.loads(self.table.to_json())
        self.assertEqual([c["name"] for c in value["columns"]], self.table.columns)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.csv")
            self.table.to_csv(path)
            with open(path, encoding="utf-8", newline="") as file:
                rows = list(csv.DictReader(file))
        self.assertEqual([row["name"] for row in rows], self.table.cells("name"))
        with self.assertRaises(OSError):
            self.table.to_csv("/no/such/folder/a.csv")

    def test_types_of_parameters(self):
        a = self.a
        metrics = a.build_df_perf_metrics([e for e in a.tree.events if e["name"] == "aten::mm"])
        self.assertEqual({name: str(metrics[f"param: {name}"].dtype) for name in ("M", "N", "K", "bias")},
                         {"M": "int64", "N": "int64", "K": "int64", "bias": "bool"})
        self.assertEqual(int((~metrics["param: bias"]).sum()), len(metrics))  # of objects it would be -1 each
        self.assertEqual(metrics["param: dtype_A_B"].dtype, object)

    def test_without_rows(self):
        a = self.a
        launchers = a.get_df_kernel_launchers(include_kernel_details=True)
        nothing = a.get_df_kernel_launchers_unique_args(launchers, event_name="none such", include_pct=True)
        self.assertEqual(len(nothing), 0)
        for frame in (nothing, a.get_df_kernel_launchers_summary_by_shape(launchers, "none such")):
            for name in ("name", "op category", "thread_name", "Input Dims", "Input type"):
                if name in frame:
                    self.assertEqual(frame[name].dtype, launchers[name].dtype, name)
        self.assertEqual(nothing["ex_UID"].dtype, launchers["UID"].dtype)
        self.assertEqual(nothing["kernel_details_summary"].dtype, object)
        self.assertEqual(len(nothing[nothing["name"].str.contains("mm")]), 0)

    def check_arrow(self, got):
        """A dict of columns as another program read them."""
        self.assertEqual(list(got), self.table.columns)
        for name, kind in zip(self.table.columns, self.table.types):
            cells = self.table.cells(name)
            if kind in ("list", "record"):
                cells = [None if c is None else json.loads(json.dumps(c)) for c in cells]
                self.assertEqual([None if c is None else json.loads(c) for c in got[name]], cells, name)
            else:
                self.assertEqual(got[name], cells, name)

    def test_pyarrow(self):
        try:
            import pyarrow
        except ImportError:
            self.skipTest("skipped: no pyarrow")
        read = pyarrow.RecordBatchReader.from_stream(self.table).read_all()
        read.validate(full=True)
        self.check_arrow(read.to_pydict())
        field = read.schema.field("total_direct_kernel_time")
        self.assertEqual(field.metadata, {b"unit": "µs".encode()})
        again = pyarrow.table(self.a._native().timeline(None))
        self.assertEqual(again.num_rows, 8)

    def test_polars(self):
        try:
            import polars
        except ImportError:
            self.skipTest("skipped: no polars")
        self.check_arrow(polars.DataFrame(self.table).to_dict(as_series=False))

    def test_duckdb(self):
        try:
            import duckdb
            import pyarrow  # noqa: F401
        except ImportError:
            self.skipTest("skipped: no duckdb")
        launchers = self.table  # noqa: F841
        rows = duckdb.sql("select name, sum(total_direct_kernel_time) t from launchers group by name").fetchall()
        expected = {}
        for name, time in zip(self.table.cells("name"), self.table.cells("total_direct_kernel_time")):
            expected[name] = expected.get(name, 0) + time
        self.assertEqual({n: round(t, 6) for n, t in rows}, {n: round(t, 6) for n, t in expected.items()})

    def test_a_stream_nobody_reads(self):
        for _ in range(100):
            self.table.__arrow_c_stream__()
            self.table.__arrow_c_stream__(requested_schema=None)


if __name__ == "__main__":
    unittest.main()
