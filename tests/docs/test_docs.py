#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documents against what they are about: links, tables, folders and modules, columns of the report, options.

usage: test_docs.py TRACELENS_BINARY SOURCE_ROOT [unittest options]
"""
import fnmatch
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

BINARY = ROOT = ""
STATISTICS = ("mean", "median", "std", "min", "max")


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as f:
        return f.read()


def documents():
    found = ["README.md", "CONTRIBUTING.md"] + sorted("docs/" + name for name in os.listdir(os.path.join(ROOT, "docs")))
    return [name for name in found if name.endswith(".md")]


def anchors(text):
    """Anchors of headings as GitHub makes them; the second heading of a name has -1 at its end."""
    seen, result = {}, set()
    for heading in re.findall(r"^#+ (.*)$", text, re.M):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        result.add(slug + (f"-{seen[slug]}" if slug in seen else ""))
        seen[slug] = seen.get(slug, 0) + 1
    return result


class Documents(unittest.TestCase):
    def test_links_lead_somewhere(self):
        count = 0
        for name in documents():
            for target in re.findall(r"\]\(([^)]+)\)", read(name)):
                if target.startswith("http"):
                    continue
                path, _, anchor = target.partition("#")
                path = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
                self.assertTrue(os.path.exists(os.path.join(ROOT, path)), f"{name}: {target}")
                if anchor:
                    self.assertIn(anchor, anchors(read(path)), f"{name}: {target}")
                count += 1
        self.assertGreater(count, 40)

    def test_tables_have_as_many_cells_as_heads(self):
        for name in documents():
            code, cells = False, None
            for number, line in enumerate(read(name).split("\n"), 1):
                code ^= line.startswith("```")
                if code or not line.startswith("|"):
                    cells = None
                    continue
                n = len(re.split(r"(?<!\\)\|", line.strip())) - 2
                cells = cells or n
                self.assertEqual(n, cells, f"{name}:{number}: a bar inside of code is written \\|")

    def test_architecture_names_every_folder_and_module(self):
        text = read("docs", "architecture.md")
        for folder in ("include", "python", "examples", "tests", "fuzz", "bench", "scripts", "data", "man"):
            self.assertIn(f"`{folder}/", text)
        folders = sorted(name for name in os.listdir(os.path.join(ROOT, "src")) if os.path.isdir(os.path.join(ROOT, "src", name)))
        modules = dict(re.findall(r"^\* \*\*(\w+)\*\*: ((?:.|\n  )*)", text.partition("## Modules")[2].partition("\n## ")[0], re.M))
        self.assertEqual(sorted(modules), folders)
        for folder in folders:
            self.assertIn(f"| `src/{folder}/` |", text)
            named = re.findall(r"`([\w.*]+)`", modules[folder])
            files = [os.path.basename(path) for path in glob.glob(os.path.join(ROOT, "src", folder, "*"))]
            sources = {name[:-2] for name in files if name.endswith(".c") and not name.endswith("_test.c")}
            for pattern in named:
                self.assertTrue(fnmatch.filter(sources | set(files), pattern), f"{folder} has no {pattern}")
            if folder == "cli":  # a file per command is said in words
                sources -= set(re.findall(r"^  (\w+) ", subprocess.run([BINARY, "help"], capture_output=True, text=True,
                                                                        check=True).stdout, re.M))
            lacking = {s for s in sources if not any(fnmatch.fnmatch(s, pattern) for pattern in named)}
            self.assertFalse(lacking, f"docs/architecture.md: {folder} lacks {sorted(lacking)}")

    def test_options_that_documents_name_exist(self):
        env = {**os.environ, "COLUMNS": "200"}
        helps = [subprocess.run([BINARY, *args], capture_output=True, text=True, check=True, env=env).stdout
                 for args in [["model", "--list"]] + [[c, "--help"] for c in
                 ("report", "timeline", "ops", "roofline", "tree", "modules", "compare", "diff", "health", "model")]]
        families = re.findall(r"^  (\w+)  +\w", helps[-1].partition("families:")[2], re.M)
        helps += [subprocess.run([BINARY, "model", f, "--help"], capture_output=True, text=True, check=True, env=env).stdout
                  for f in families]
        known = {option.replace("-", "_") for option in re.findall(r"--([\w-]+)", "\n".join(helps))}
        known |= {"cflags", "libs", "slower", "no_build_isolation", "no_deps", "all"}  # of pkg-config, make_trace.py, pip, install-deps
        known.add("no")  # --no-... is said in words
        for name in documents():
            for option in re.findall(r"--([a-zA-Z][\w-]*\w)", read(name)):
                self.assertIn(option.replace("-", "_"), known, f"{name}: --{option}")


class Readme(unittest.TestCase):
    def test_the_demo_prints_what_is_shown(self):
        trace = os.path.join(ROOT, "examples", "traces", "transformer_rank0.json.gz")
        with tempfile.TemporaryDirectory() as folder:
            shown = subprocess.run([BINARY, "report", trace, "--output_csvs_dir", folder], capture_output=True, check=True,
                                   env={**os.environ, "COLUMNS": "80"}, encoding="utf-8").stdout
        block = read("README.md").split("```\n")[1]
        self.assertTrue(block.endswith("\n...\n"), block)
        self.assertIn("\n" + block[:-4], shown)

    def test_number_of_models(self):
        models = len(re.findall(r"^MODEL\(", read("src", "perf", "models.def"), re.M))
        self.assertIn(f"\n| {models} operation models: ", read("README.md"))


class Columns(unittest.TestCase):
    """Every column of every sheet is in docs/columns.md, and those of the file formats of a comparison in comparing.md."""

    @staticmethod
    def described():
        text = read("docs", "columns.md") + read("docs", "comparing.md")
        names, previous = set(), ""
        for row in re.findall(r"^\|(.*)$", text, re.M):
            for name in re.findall(r"`([^`]+)`", row.split("|")[0]):
                if name.startswith("_"):  # `X_sum`, `_mean`: X_mean
                    name = re.sub(r"_(%s|sum)$" % "|".join(STATISTICS), "", previous) + name
                else:
                    previous = name
                names.update(name.replace("{stat}", s) for s in STATISTICS)
        return names, text

    def sheets(self, *options):
        trace = os.path.join(ROOT, "examples", "traces", "transformer_rank0.json.gz")
        run = subprocess.run([BINARY, "report", trace, "-q", "--output_json_path", "-", *options], capture_output=True, check=True,
                             env={**os.environ, "TRACELENS_DEBUG": "1"}, encoding="utf-8")
        return {table["name"]: [c["name"] for c in table["columns"]] for table in json.loads(run.stdout)["tables"]}

    def test_every_column_is_described(self):
        names, text = self.described()
        trace = os.path.join(ROOT, "examples", "traces", "transformer_rank0.json.gz")
        checked = set()
        for options in ((), ("--enable_kernel_summary", "--short_kernel_study", "--gpu_arch_platform", "MI300X", "--topk_ops", "3"),
                        ("--include_call_stack", "--detect_recompute", "--include_first_occurrence_time"),
                        ("--include_overlap_info", "--group_by_num_kernels"), ("--comparison_json_path", trace)):
            for sheet, columns in self.sheets(*options).items():
                for column in columns:
                    checked.add(column)
                    if not column.startswith("param: "):
                        self.assertTrue(column in names, f"docs/columns.md does not describe {column} of the sheet {sheet}")
        self.assertGreater(len(checked), 150)
        self.assertIn("## gpu_timeline", text)

    def test_every_kind_of_finding_is_described(self):
        table = read("src", "trace", "health.c").partition("kinds[TL_HEALTH_KINDS]")[2].partition("\n};")[0]
        kinds = re.findall(r'\{\s*"(\w+)",\s*(true|false)', table)
        self.assertEqual(len(kinds), len(re.findall(r"\[TL_HEALTH_\w+\]\s*=\s*\{\s*\"", table)))
        self.assertGreater(len(kinds), 40)
        text = read("docs", "columns.md").partition("### Kinds")[2]
        repairs, _, notes = text.partition("Notes about the content")
        for kind, repair in kinds:
            self.assertIn(f"| `{kind}` |", repairs if repair == "true" else notes, "docs/columns.md")

    def test_every_sheet_has_a_section(self):
        headings = " ".join(re.findall(r"^## (.*)$", read("docs", "columns.md"), re.M)) + "comparison_health"
        sheets = self.sheets("--enable_kernel_summary", "--short_kernel_study", "--gpu_arch_platform", "MI300X")
        families = {"Reduce_bwd"}  # of "Reduce_fwd, ..."
        for sheet in set(sheets) - families:
            self.assertRegex(headings, rf"\b{sheet}\b")


if __name__ == "__main__":
    BINARY, ROOT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
