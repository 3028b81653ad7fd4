#include "facts/host.h"

#include "facts/kind.h"

#include <string.h>

enum status host_costs_find(struct host_costs *out, struct arena *a, const char *spec,
                            struct where at, struct error *e)
{
	const char *colon = strchr(spec, ':');
	struct family f = {0};

	if (!colon || strchr(spec, '/'))
		return error_set(e, E_TYPE, at,
		                 "costs of hosts are in families.yaml, expected "
		                 "family:shape");
	if (family_find(&f, a, NULL, spec, (size_t)(colon - spec), at, e) != OK)
		return e->code;
	if (!f.source[HOST_CALL_S] || !f.source[HOST_PACK_BPS])
		return error_set(e, E_TYPE, at,
		                 "family %s has no host.call_s and host.pack_Bps",
		                 f.name);
	*out = (struct host_costs){f.figure[HOST_CALL_S], f.figure[HOST_PACK_BPS],
	                           f.source[HOST_CALL_S], f.source[HOST_PACK_BPS]};
	return OK;
}
