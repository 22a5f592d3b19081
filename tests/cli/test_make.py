#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What somebody meets who builds without root, without network or elsewhere than on Debian: scripts/install-deps and
`make install`, on machines that are made of a PATH with a few commands. Nothing is installed.

usage: test_make.py SOURCE_ROOT [unittest options]
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = ""
TOOLS = ("cc", "c++", "meson", "ninja", "pkg-config", "python3", "clang", "clang-format", "clang-tidy")


class Machine(unittest.TestCase):
    def setUp(self):
        self.path = tempfile.mkdtemp(prefix="tl-machine-")
        self.addCleanup(shutil.rmtree, self.path)
        for name in ("grep", "env", "sh"):
            os.symlink(shutil.which(name), os.path.join(self.path, name))
        for name in TOOLS:
            self.command(name)
        self.command("meson", "echo 1.0.0")
        self.command("id", "echo 1000")

    def command(self, name, script="exit 0"):
        path = os.path.join(self.path, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n" + script + "\n")
        os.chmod(path, 0o755)

    def remove(self, name):
        os.remove(os.path.join(self.path, name))

    def debian(self, apt_get="exit 0"):
        self.command("dpkg-query", "echo 'install ok installed'")
        self.command("apt-cache")
        self.command("apt-get", apt_get)

    def run_script(self, *args):
        run = subprocess.run([shutil.which("sh"), os.path.join(ROOT, "scripts", "install-deps"), *args],
                             env={"PATH": self.path}, capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr

    def test_nothing_is_missing(self):
        self.assertEqual(self.run_script(), (0, ""))
        self.debian("echo called")
        self.assertEqual(self.run_script(), (0, ""))
        self.assertEqual(self.run_script("--check"), (0, ""))

    def test_without_root_the_message_is_the_command(self):
        self.debian()
        self.remove("ninja")
        status, text = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("apt-get install ninja-build\n", text)

    def test_tools_of_tests_alone_stop_nobody(self):
        self.debian("exit 100")
        self.remove("clang-tidy")
        status, text = self.run_script()
        self.assertEqual(status, 0, text)
        self.assertIn("tests and lint lack: clang-tidy\n", text)
        self.assertEqual(self.run_script("--check")[0], 1)

    def test_without_network(self):
        self.debian("echo 'no network' >&2; exit 100")
        self.command("id", "echo 0")
        self.command("pkg-config", 'case "$*" in *expat*) exit 1; esac')
        status, text = self.run_script()
        self.assertEqual(status, 1)
        for part in ("no network\n", "the build needs: libexpat1-dev; apt-get could not install"):
            self.assertIn(part, text)

    def test_a_fresh_container_knows_no_package_before_the_update(self):
        updated = os.path.join(self.path, "updated")
        self.command("id", "echo 0")
        self.command("dpkg-query", 'case "$*" in *libclang-rt-dev*) exit 1; esac; echo "install ok installed"')
        self.command("apt-cache", f"test -e '{updated}'")
        self.command("apt-get", f'case "$1" in update) : >"{updated}";; install) echo "$*" >&3;; esac')
        self.remove("ninja")
        with open(os.path.join(self.path, "installed"), "w+", encoding="utf-8") as asked:
            run = subprocess.run([shutil.which("sh"), "-c", 'exec 3>&1; exec sh "$0"',
                                  os.path.join(ROOT, "scripts", "install-deps")],
                                 env={"PATH": self.path}, stdout=asked, stderr=subprocess.PIPE, text=True, check=False)
            asked.seek(0)
            words = asked.read().split()
        self.assertEqual(run.returncode, 1, "nothing was installed: the build still lacks ninja")
        for package in ("ninja-build", "libclang-rt-dev"):
            self.assertIn(package, words)

    def test_elsewhere_libraries_have_their_own_names(self):
        self.command("pkg-config", 'case "$*" in *zstd*|*lua*|*libisal*) exit 1; esac')
        status, text = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("the build needs: libzstd lua5.4; this is not Debian or Ubuntu", text)
        self.assertIn("without ISA-L (libisal)", text)

    def test_old_meson(self):
        self.command("meson", "echo 0.61.2")
        status, text = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("meson 0.61.2 is too old, 1.0 or later is needed", text)

    def test_unknown_option(self):
        self.assertEqual(self.run_script("--nope")[0], 2)


class Install(unittest.TestCase):
    """What `make install` would run."""

    def plan(self, *variables):
        if not shutil.which("make"):
            self.skipTest("no make")
        env = {k: v for k, v in os.environ.items() if k not in ("PREFIX", "DESTDIR", "ALIAS", "MAKEFLAGS", "MAKELEVEL")}
        return subprocess.run(["make", "-n", "-C", ROOT, "install", "BUILD=/nowhere", *variables], env=env,
                              capture_output=True, text=True, check=True).stdout.replace("\\\n", "").replace("\t", "")

    def test_prefix_goes_before_that_of_the_folder(self):
        self.assertIn("meson configure /nowhere --prefix=/opt/x -Dreference_command=false", self.plan("PREFIX=/opt/x"))
        configure = [line for line in self.plan().splitlines() if line.startswith("meson configure")]
        self.assertEqual(len(configure), 1)
        self.assertNotIn("--prefix", configure[0])

    def test_alias_is_an_option_of_the_build_so_that_uninstall_knows_it(self):
        self.assertIn("-Dreference_command=true", self.plan("ALIAS=1"))

    def test_the_python_package_is_left_to_pip(self):
        self.assertIn("--tags runtime,devel,man", self.plan())


if __name__ == "__main__":
    ROOT = os.path.abspath(sys.argv[1])
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
