#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Python package as a user would and runs all its tests: in a fresh environment with the newest pandas, and
# with the system's pandas where there is one. PYTHON names the interpreter of the first.
# usage: run_in_venv.sh FOLDER     FOLDER is made anew; exit status 77 where there is no package index to install from
set -eu

folder=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
export TL_SOURCE_ROOT="$root" PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

check() { # check NAME: runs what the environment NAME must be able to run, away from the sources
	name=$1
	interpreter="$folder/$name/bin/python"
	cd "$folder"
	"$interpreter" - "$name" <<-'END'
		import sys
		import pandas
		import TraceLens
		print(f"{sys.argv[1]}: Python {sys.version.split()[0]}, pandas {pandas.__version__}, TraceLens {TraceLens.__version__}")
	END
	timeout 600 "$interpreter" "$root/tests/python/run.py"
	for example in walkthrough trace_diff; do
		timeout 120 "$interpreter" "$root/examples/$example.py" >"$folder/$name-$example.txt"
	done
	"$folder/$name/bin/TraceLens_generate_perf_report_pytorch" --output_csvs_dir "$folder/$name-report" \
		--profile_json_path "$root/examples/traces/transformer_rank0.json.gz" >"$folder/$name-report.txt"
	test -s "$folder/$name-report/gpu_timeline.csv"
	"$folder/$name/bin/TraceLens_compare_perf_reports_pytorch" --names a b -o "$folder/$name-comparison.xlsx" \
		"$folder/$name-report" "$root/examples/traces/transformer_rank0.json.gz" >>"$folder/$name-report.txt"
	test -s "$folder/$name-comparison.xlsx"
	cd "$root"
}

"$python" -m venv "$folder/newest"
if ! timeout 120 "$folder/newest/bin/pip" download --quiet --no-deps --dest "$folder/probe" meson-python >/dev/null 2>&1; then
	echo "skipped, nothing was tested: no package index to install from" >&2
	exit 77
fi
timeout 900 "$folder/newest/bin/pip" wheel --quiet --no-deps --wheel-dir "$folder/wheel" "$root"
wheel=$(ls "$folder"/wheel/*.whl)
timeout 600 "$folder/newest/bin/pip" install --quiet "$wheel[test]"
check newest

if /usr/bin/python3 -c 'import pandas' 2>/dev/null; then
	/usr/bin/python3 -m venv --system-site-packages "$folder/system"
	# the same wheel where the versions of Python agree
	"$folder/system/bin/pip" install --quiet --no-deps "$wheel" 2>/dev/null ||
		timeout 900 "$folder/system/bin/pip" install --quiet --no-deps "$root"
	check system
else
	echo "skipped: the system's Python has no pandas (python3-pandas)"
fi
