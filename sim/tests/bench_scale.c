/*
 * What large machines cost: processor time and memory of whole processes of shardsim, one
 * per line, with the goal of each. A benchmark, not a test: nothing is asserted. Machines
 * of 65,536 GPUs and more are families of ours; figures include loading them. `direct` sends
 * messages, so many as stand there, on 16x16x16 and 8x8x8 chips: some are alike wherever the
 * mesh is turned to, of others no two need be, and the clock `fluid` refuses a million of these
 * (cost/fluid.h).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY "--array", "bf16[65536,65536]"
#define CUBE "--mesh", "x=16,y=16,z=16", "--platform", "tpu-v4:16x16x16"
#define TURN "--from", "P('x','y')", "--to", "P('y','x')", "--clock", "model"
#define APART "--from", "P(('x','y'),'z')", "--to", "P('z',('y','x'))"
#define GPUS65536 "--mesh", "x=256,y=256", "--platform", "dgx-h100:8192"
#define GPUS131072 "--mesh", "x=256,y=512", "--platform", "dgx-h100:16384"
#define SIZE "-b", "1GiB", "-e", "1GiB"

static const struct {
	const char *what, *goal, *arg[20];
} lines[] = {
	{"ring all-gather 1,024",
         "0.1 s",
         {"perf", "all-gather", "--platform", "torus:1024", "--clock", "fluid", SIZE}},
	{"ring all-gather 4,096",
         "0.3 s",
         {"perf", "all-gather", "--platform", "torus:4096", "--clock", "fluid", SIZE}},
	{"ring all-reduce 1,024",
         "0.1 s",
         {"perf", "all-reduce", "--platform", "torus:1024", "--clock", "fluid", SIZE}},
	{"all-reduce 16x16x16",
         "0.1 s",
         {"perf", "all-reduce", "--platform", "torus:16x16x16", "--clock", "fluid",
          SIZE}},
	{"switch all-to-all 1,024",
         "0.06 s",
         {"perf", "all-to-all", "--platform", "cluster:nodes=1024,gpus=1", "--clock",
          "fluid", SIZE}},
	{"switch all-to-all 4,096",
         "",
         {"perf", "all-to-all", "--platform", "cluster:nodes=4096,gpus=1", "--clock",
          "fluid", SIZE}},
	{"library all-to-all 4,095",
         "",
         {"perf", "all-to-all", "--platform", "dgx-h100:512", "--devices", "0-4094",
          "--clock", "fluid", SIZE}},
	{"65,536 H100: synth",
         "1 s, 0.5 GB",
         {"simulate", ARRAY, GPUS65536, TURN, "--planner", "synth"}},
	{"65,536 H100: direct",
         "2 s, 0.5 GB",
         {"simulate", ARRAY, GPUS65536, TURN, "--planner", "direct"}},
	{"65,536 H100: best",
         "3 s, 0.5 GB",
         {"simulate", ARRAY, GPUS65536, TURN, "--planner", "best"}},
	{"131,072 H100: synth",
         "2 s, 1 GB",
         {"simulate", ARRAY, GPUS131072, TURN, "--planner", "synth"}},
	{"131,072 H100: direct",
         "4 s, 1 GB",
         {"simulate", ARRAY, GPUS131072, TURN, "--planner", "direct"}},
	{"direct, 3,840, all alike",
         "1 s, 0.3 GB",
         {"simulate", ARRAY, CUBE, "--from", "P('x','y')", "--to", "P('y','x')",
          "--clock", "fluid", "--planner", "direct"}},
	{"direct, 1,044,480, fluid",
         "1 s, 0.3 GB",
         {"simulate", ARRAY, CUBE, "--from", "P(('x','y'),None)", "--to",
          "P(None,('y','z'))", "--clock", "fluid", "--planner", "direct"}},
	{"refused: 1,048,320, fluid",
         "",
         {"simulate", ARRAY, CUBE, "--from", "P(('x','y'),'z')", "--to",
          "P(None,('y','z'))", "--clock", "fluid", "--planner", "direct"}},
	{"direct, 65,520, fluid",
         "",
         {"simulate", ARRAY, CUBE, APART, "--clock", "fluid", "--planner", "direct"}},
	{"flow: direct, 65,520",
         "",
         {"simulate", ARRAY, CUBE, APART, "--clock", "flow", "--planner", "direct"}},
	{"flow: direct, 261,632",
         "",
         {"simulate", ARRAY, "--mesh", "x=8,y=8,z=8", "--platform", "tpu-v4:8x8x8",
          "--from", "P(('x','y','z'),None)", "--to", "P(None,('z','y','x'))", "--clock",
          "flow", "--planner", "direct"}},
	{"flow: ring all-reduce 1,024",
         "3 s",
         {"perf", "all-reduce", "--platform", "torus:1024", "--clock", "flow", SIZE}},
	{"flow: all-reduce 16x16x16",
         "5 s",
         {"perf", "all-reduce", "--platform", "torus:16x16x16", "--clock", "flow", SIZE}},
	{"flow: 512 GPUs, 3 steps",
         "2 s",
         {"simulate", ARRAY, "--mesh", "x=8,y=8,z=8", "--platform", "dgx-h100:64",
          "--from", "P(('x','y'),None)", "--to", "P(None,('y','z'))", "--clock", "flow",
          "--planner", "synth"}},
};

static void run(const char *program, int line)
{
	const char *argv[22] = {program};
	int null = open("/dev/null", O_WRONLY);

	memcpy(argv + 1, lines[line].arg, sizeof(lines[line].arg));
	if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
		_exit(127);
	execvp(program, (char *const *)argv);
	_exit(127);
}

int main(void)
{
	const char *program = getenv("SHARDSIM") ? getenv("SHARDSIM") : "build/shardsim";
	int failed = 0;

	printf("%-27s %9s %7s   %s\n", "work", "user s", "MiB", "goal");
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct rusage used = {0};
		int status = -1;
		pid_t child;

		fflush(stdout);
		child = fork();
		if (child == 0)
			run(program, (int)i);
		wait4(child, &status, 0, &used);
		printf("%-27s %9.2f %7.0f   %s%s\n", lines[i].what,
		       (double)used.ru_utime.tv_sec +
		               1e-6 * (double)used.ru_utime.tv_usec,
		       (double)used.ru_maxrss / 1024, lines[i].goal,
		       status ? "   failed" : "");
		failed += status != 0;
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
