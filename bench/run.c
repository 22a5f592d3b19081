/* SPDX-License-Identifier: MIT */
/*
 * Runs a command and writes its wall time, processor time (seconds) and peak memory (KiB) to descriptor 3. A program of
 * its own because Linux counts the memory of whoever starts a process to that process: bench.py would add its own 15
 * MB.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double in_seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double start = seconds();
	int status;
	pid_t child;

	if (argc < 2)
		return 2;
	child = fork();
	if (child == 0) {
		close(3);
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
		perror("bench_run");
		return 126;
	}
	dprintf(3, "%.6f %.6f %ld\n", seconds() - start, in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime),
		usage.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
