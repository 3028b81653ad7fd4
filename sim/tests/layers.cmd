# The script that checks includes and calls, on small trees with one fault each.
layers=$PWD/.ci/layers
cd "$TMPDIR" || exit 9

# A tree without a fault, which has one of the recursions that there are.
file() {
	mkdir -p "$(dirname "$1")"
	cat >"$1"
}
lines() {
	path=$1
	shift
	printf '%s\n' "$@" | file "$path"
}
tree() {
	rm -rf models sim objects
	lines models/base/list.h 'void list(void);'
	lines models/base/list.c '#include "base/list.h"' 'void list(void) {}'
	lines models/plan/plan_read.c 'void view(void);' 'void plan(void) { view(); }'
	lines models/plan/view_read.c 'void plan(void);' 'void view(void) { plan(); }'
	lines models/planner/planner.h 'void planner(void);'
	lines models/planner/send/send.h 'void send(void);'
	lines models/planner/synth/synth.h '#include "planner/planner.h"'
	lines models/planner/synth/rest.h 'void rest(void);'
	lines models/planner/synth/rest.c '#include "planner/synth/rest.h"' \
		'#include "planner/send/send.h"' 'void rest(void) {}'
	lines models/planner/xla/xla.h '#include "planner/planner.h"'
	lines models/planner/registry.c '#include "planner/xla/xla.h"' \
		'#include "planner/send/send.h"' 'void planner(void) {}'
	lines sim/text/words.h 'void words(void);'
	lines sim/text/words.c '#include "text/words.h"' '#include "base/list.h"' \
		'void words(void) { list(); }'
	lines sim/platform/engine.c '#include <simgrid/host.h>' 'int engine;'
	lines sim/cli/run.c '#include "text/words.h"' 'void run(void) { words(); }'
	lines sim/main.c 'void run(void);' 'int main(void) { run(); }'
	lines simgrid/host.h ''
	lines sim/tests/check.c '#include "text/words.h"' 'int check;'
}
judge() {
	for source in $(find models sim -name '*.c'); do
		mkdir -p "objects/$(dirname "$source")"
		cc -c -Imodels -Isim -I. -o "objects/${source%.c}.o" "$source" || exit 9
	done
	"$layers" objects 2>&1
	echo "exit $?"
}
fault() {
	echo; echo "== $1"
	tree
}

fault "none"
judge

fault "an include that points up in models/"
lines models/base/list.c '#include "planner/planner.h"' 'void list(void) {}'
judge

fault "an include that points up in sim/, and one from models/ into sim/"
lines sim/text/words.c '#include "text/words.h"' '#include "cli/run.h"' 'int words_n;'
lines sim/cli/run.h '#include "base/list.h"'
lines models/plan/plan.c '#include "text/words.h"' 'int plan_n;'
judge

fault "a call that points up, of what is declared by hand"
lines sim/text/words.c 'void run(void);' 'void words(void) { run(); }'
lines sim/cli/run.c 'void run(void) {}'
judge

fault "a family that includes what is above it, and a header of another family"
lines models/planner/synth/rest.c '#include "planner/xla/xla.h"' 'int rest_n;'
lines models/planner/send/send.c '#include "planner/synth/synth.h"' 'int send_n;'
lines models/planner/gather.c '#include "planner/synth/rest.h"' 'int gather_n;'
lines models/planner/synth/synth.c 'void rest(void) {}' 'int planner_synth;'
lines models/planner/best/best.c 'void rest(void);' 'extern int planner_synth;' \
	'int best(void) { rest(); return planner_synth; }'
judge

fault "two folders that include each other"
lines models/planner/send/send.h '#include "planner/digit/digit.h"'
lines models/planner/digit/digit.h ''
lines models/planner/digit/digit.c '#include "planner/send/all.h"' 'int digit;'
lines models/planner/send/all.h ''
judge

fault "a circle of two files, one of three, and one that leaves the known recursion"
lines models/base/list.c 'void heap(void);' 'void list(void) { heap(); }'
lines models/base/heap.c 'void list(void);' 'void heap(void) { list(); }'
lines sim/cli/a.c 'void b(void);' 'void a(void) { b(); }'
lines sim/cli/b.c 'void c(void);' 'void b(void) { c(); }'
lines sim/cli/c.c 'void a(void);' 'void c(void) { a(); }'
lines models/plan/view_read.c 'void third(void);' 'void view(void) { third(); }'
lines models/plan/third.c 'void plan(void);' 'void third(void) { plan(); }'
judge

fault "a circle of headers"
lines sim/cli/a.h '#include "cli/b.h"'
lines sim/cli/b.h '#include "cli/a.h"'
judge

fault "SimGrid outside its rooms"
lines sim/cli/run.c '#include <simgrid/host.h>' 'void run(void) {}'
lines sim/tests/check.c '#include <simgrid/host.h>' 'int check;'
judge

fault "a folder without a place, one inside a room too"
lines sim/extra/a.c 'int extra;'
lines sim/cli/more/a.c 'int more;'
lines models/planner/other/a.c 'int other;'
judge

fault "a folder of 41 files; one of 40, and of tests any number"
for i in $(seq 41); do
	lines "models/emit/$i.in" 'a text'
	lines "sim/tests/$i.out" 'a line'
	test "$i" -gt 40 || lines "models/stat/$i.h" ''
done
judge

fault "a source without an object"
judge >/dev/null
rm objects/sim/main.o
"$layers" objects 2>&1
echo "exit $?"
