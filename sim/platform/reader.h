/*
 * Reading a platform file: what the files of the reader share. Private to
 * read.c, props.c and cluster.c.
 */
#ifndef SHARDSIM_SIM_PLATFORM_READER_H
#define SHARDSIM_SIM_PLATFORM_READER_H

#include "platform/xml.h"

#include "base/list.h"

#include <libxml/tree.h>
#include <libxml/xmlreader.h>

enum { ZONES_DEPTH_MAX = 100 };

/* The file is read as a stream: only the element at hand, with all in it, is a tree. */
struct reader {
	struct platform_xml *xml;
	bool brief;          /* the text is a brief one (family/xml.h) */
	const char *element; /* the arena's name of the element that was last placed */
	struct error *error;
	xmlTextReader *stream;
	int depth; /* how many zones are open; the platform is one */
	/* The number of each open zone where it has routing Full, else -1. */
	int32_t zone[ZONES_DEPTH_MAX + 1];
	int32_t nzones;
	bool routers; /* there are some, so a name need not be a host's */
	/*
	 * A file of another program, none of whose hosts have properties of ours: `plain` are
	 * those of all hosts, else NULL. `stated` says that some hosts have ours.
	 */
	struct xml_props *plain;
	bool stated;
	int32_t nplain; /* how many hosts and clusters there are */
	/* FATPIPE links, which are for routes from a host to itself. */
	LIST(const char *) fatpipe;
};

struct xml_place reader_place(struct reader *r, const xmlNode *node);

/* Records an error at the element and returns its code. */
#define reader_fail(r, code, node, ...)                                                \
	error_set((r)->error, code,                                                    \
	          platform_xml_where((r)->xml, reader_place(r, node)), __VA_ARGS__)

/* Returns the attribute, copied to the arena; NULL if it is not there. */
const char *reader_attribute(struct reader *r, const xmlNode *node, const char *name);

/* Does the same, with an error if it is not there. */
const char *reader_required(struct reader *r, const xmlNode *node, const char *name);

/*
 * Returns the attribute's own text, which is good until the next element is read; it is
 * copied only if it is in pieces. This is for elements of which there are very many.
 */
const char *reader_peek(struct reader *r, const xmlNode *node, const char *name);

/*
 * Checks that nothing changes with time. It is an error if an attribute names a file of
 * such changes: speed_file, state_file, bandwidth_file, latency_file or
 * availability_file.
 */
enum status reader_steady(struct reader *r, const xmlNode *node);

/* Reads a bandwidth (above 0) or a latency (0 or more); the attribute must be there. */
enum status reader_quantity(struct reader *r, const xmlNode *node, const char *name,
                            bool rate, double *out);

/*
 * Returns the properties among the children. If one is missing that shardsim needs, it
 * returns NULL with an error.
 */
const struct xml_props *reader_props(struct reader *r, const xmlNode *node);

/*
 * For a file that states no properties (plain.c): the first says of what geometry a cluster
 * is, the second settles it when all is read: a single cluster has its own, all else is a
 * graph whose routes SimGrid is asked for.
 */
void reader_plain_cluster(struct reader *r, const xmlNode *node);
void reader_plain_end(struct reader *r);

/*
 * Refuses a route of any kind that leads from one end to another over a FATPIPE link: nobody
 * shares that, which is not how links are here.
 */
enum status reader_no_fatpipe(struct reader *r, const xmlNode *route);

/* Adds a host, whose device its name tells, or in a plain file its place. */
enum status reader_add_host(struct reader *r, const xmlNode *node,
                            struct xml_host *host);

/* Adds one link, or the two of a split-duplex one. */
enum status reader_add_link(struct reader *r, const xmlNode *node, const char *name,
                            const char *policy, struct link link);

enum status reader_cluster(struct reader *r, const xmlNode *node);

/* Reads <cabinet>: hosts of a zone with routing Cluster, each with a link of its own. */
enum status reader_cabinet(struct reader *r, const xmlNode *node);

#endif
