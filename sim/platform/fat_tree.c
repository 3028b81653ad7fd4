#include "platform/topology_kinds.h"

enum { LEVELS_MAX = 16 };

struct fat_tree {
	int levels;
	int32_t children[LEVELS_MAX], parents[LEVELS_MAX], cables[LEVELS_MAX];
	int32_t nodes[LEVELS_MAX + 1]; /* of a level */
	/*
	 * Of node k of level l to its parent p by cable j: [(k * parents + p) * cables
	 * + j].
	 */
	struct duplex *up[LEVELS_MAX];
	int32_t position; /* of the first host */
};

/*
 * Returns the radix of digit i of a node, which counts parents below its level, else
 * children.
 */
static int32_t radix(const struct fat_tree *t, int level, int i)
{
	return i < level ? t->parents[i] : t->children[i];
}

static void digits_of(int32_t *digit, const struct fat_tree *t, int level, int32_t node)
{
	for (int i = 0; i < t->levels; i++) {
		digit[i] = node % radix(t, level, i);
		node /= radix(t, level, i);
	}
}

static int32_t node_of_digits(const struct fat_tree *t, int level, const int32_t *digit)
{
	int32_t node = 0;

	for (int i = t->levels - 1; i >= 0; i--)
		node = node * radix(t, level, i) + digit[i];
	return node;
}

/* Returns SimGrid's number of a node, which is in the names: switches count down. */
static int32_t node_number(const struct fat_tree *t, int level, int32_t node)
{
	int32_t number = 2 * t->nodes[0] - 1 - node;

	for (int l = 1; l < level; l++)
		number -= t->nodes[l];
	return level ? number : node;
}

/* Returns false if it has more links than we can have. */
static bool tree_size(struct fat_tree *t)
{
	int64_t links = 0;

	for (int l = 0; l <= t->levels; l++) {
		int64_t n = 1;

		for (int i = 0; i < t->levels; i++)
			if ((n *= radix(t, l, i)) > TOPOLOGY_LINKS_MAX)
				return false;
		t->nodes[l] = (int32_t)n;
		if (l < t->levels)
			links += n * t->parents[l] * t->cables[l];
		if (l < t->levels &&
		    ((int64_t)t->parents[l] * t->cables[l] > TOPOLOGY_LINKS_MAX ||
		     links > TOPOLOGY_LINKS_MAX))
			return false;
	}
	return true;
}

static void tree_wire(const struct topology_maker *k, struct fat_tree *t, int level)
{
	int32_t parents = t->parents[level], cables = t->cables[level];
	int32_t digit[LEVELS_MAX];

	t->up[level] = arena_alloc(k->xml->arena,
	                           (size_t)t->nodes[level] * (size_t)(parents * cables),
	                           sizeof(*t->up[level]));
	for (int32_t node = 0; node < t->nodes[level]; node++) {
		digits_of(digit, t, level, node);
		for (int32_t i = 0; i < parents * cables; i++) {
			const char *name;

			digit[level] = i / cables;
			name = arena_printf(
				k->xml->arena, "link_from_%d_%d_%d",
				(int)node_number(t, level, node),
				(int)node_number(t, level + 1,
			                         node_of_digits(t, level + 1, digit)),
				(int)k->xml->fat_tree_links++);
			t->up[level][(int64_t)node * parents * cables + i] =
				topology_cable(k, name, 1);
		}
	}
}

const struct fat_tree *fat_tree_make(const struct topology_maker *k)
{
	struct fat_tree *t = arena_alloc(k->xml->arena, 1, sizeof(*t));
	const char *p = k->parameters;
	int32_t levels;

	if (!topology_numbers(&p, &levels, 1) || levels > LEVELS_MAX ||
	    !topology_numbers(&p, t->children, levels) ||
	    !topology_numbers(&p, t->parents, levels) ||
	    !topology_numbers(&p, t->cables, levels) || *p)
		goto fault;
	t->levels = levels;
	if (!tree_size(t)) {
		topology_refuse(k, "is too large");
		return NULL;
	}
	if (t->nodes[0] != k->nhosts) {
		error_set(k->error, E_RANGE, k->at,
		          "topo_parameters=\"%s\" is a fat tree of %d hosts, not of %d",
		          k->parameters, (int)t->nodes[0], (int)k->nhosts);
		return NULL;
	}
	t->position = k->xml->fat_tree_hosts;
	k->xml->fat_tree_hosts += k->nhosts;
	for (int l = 0; l < levels; l++)
		tree_wire(k, t, l);
	return t;
fault:
	topology_refuse(k, "is no fat tree, expected such as 2;4,3;1,2;1,1");
	return NULL;
}

/*
 * Returns whether all hosts with the destination's digits from `level` on are below the
 * node.
 */
static bool is_below(const struct fat_tree *t, int level, const int32_t *node,
                     const int32_t *dst)
{
	for (int i = level; i < t->levels; i++)
		if (node[i] != dst[i])
			return false;
	return level > 0;
}

/*
 * Goes a step down from the node to its child along the cable, and returns the link.
 * The node, which is given by its digits, gets the child's digit below its level.
 */
static int32_t tree_down(const struct fat_tree *t, int level, int32_t *node,
                         const int32_t *dst, int32_t cable)
{
	int l = level - 1;
	int32_t parent = node[l];

	node[l] = dst[l];
	return t->up[l][((int64_t)node_of_digits(t, l, node) * t->parents[l] + parent) *
	                        t->cables[l] +
	                cable]
	        .down;
}

/*
 * Goes down as SimGrid does. It looks through the node's ports, of which port i leads
 * to child i mod children by cable i / children, from the first port of cable number
 * (source's position mod cables) on. When it has found one, it goes on with the next i
 * in that child.
 */
static int tree_route_down(const struct fat_tree *t, int level, int32_t *node,
                           int64_t position, const int32_t *dst, int32_t *links,
                           int capacity)
{
	int n = 0;

	while (level > 0) {
		int64_t i = position % t->cables[level - 1] * t->children[level - 1];

		for (; level > 0 &&
		       i < (int64_t)t->children[level - 1] * t->cables[level - 1];
		     i++) {
			int32_t children = t->children[level - 1];

			if (i % children != dst[level - 1])
				continue;
			if (n == capacity)
				return -1;
			links[n++] =
				tree_down(t, level, node, dst, (int32_t)(i / children));
			level--;
		}
	}
	return n;
}

int fat_tree_route(const struct fat_tree *t, int32_t src, int32_t dst, int32_t *links,
                   int capacity)
{
	int32_t node[LEVELS_MAX], to[LEVELS_MAX], at = src;
	int64_t turn = t->position + dst;
	int n = 0, level = 0, down;

	digits_of(node, t, 0, src);
	digits_of(to, t, 0, dst);
	while (!is_below(t, level, node, to)) {
		int32_t ports = t->parents[level] * t->cables[level];
		int32_t port = (int32_t)(turn % ports);

		if (n == capacity)
			return -1;
		/* SimGrid's port counts parents faster than cables */
		node[level] = port % t->parents[level];
		port = node[level] * t->cables[level] + port / t->parents[level];
		links[n++] = t->up[level][(int64_t)at * ports + port].up;
		turn /= t->parents[level];
		level++;
		at = node_of_digits(t, level, node);
	}
	down = tree_route_down(t, level, node, (int64_t)t->position + src, to,
	                       links + n, capacity - n);
	return down < 0 ? -1 : n + down;
}

const struct duplex *fat_tree_ends(int32_t *n, const struct fat_tree *t, int32_t rank)
{
	*n = t->parents[0] * t->cables[0];
	return t->up[0] + (int64_t)rank * *n;
}
